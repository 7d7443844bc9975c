// What the model says that a sample's measurement gives: the one function that fits, checks and residuals share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/scenario/samples.hpp"

namespace foretrain {

/// By sample, in the sample's unit; nothing where the model has no such thing. The cluster's calibration is in use.
using SamplePredictions = std::vector<std::optional<double>>;
SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples);

/// Why predict_samples() has nothing for a sample; empty when it has.
std::string why_not_predicted(const ClusterSpec& cluster, const Sample& sample);

/// Where predictors note why they have nothing; null: nobody asks.
using Why = std::string*;

/// One kind each. Samples of other kinds get nothing.
void predict_collective_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples, SamplePredictions& predictions,
                                Why why);  // collective_samples.cpp
void predict_tax_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples, SamplePredictions& predictions,
                         Why why);                                                                       // collective_samples.cpp
std::optional<double> predict_kernel_sample(const ClusterSpec& cluster, const Sample& sample, Why why);  // kernel_samples.cpp
std::optional<double> predict_host_sample(const ClusterSpec& cluster, const Sample& sample, Why why);    // host_samples.cpp
void predict_link_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples, SamplePredictions& predictions,
                          Why why);                                                                        // link_samples.cpp
std::optional<double> predict_training_sample(const ClusterSpec& cluster, const Sample& sample, Why why);  // training_samples.cpp

/// A setting as a whole number, or `fallback` when it is not there or no number.
std::int64_t number_of(const Sample& sample, std::string_view key, std::int64_t fallback);

}  // namespace foretrain
