// The model's prediction of a sample's measurement: the one function that fits, checks and residuals share.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/collective/nccl/node_graphs.hpp"
#include "sim/scenario/csv/samples.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

// Scenarios of the trainings that samples are about.

/// A cache of the scenarios of measured trainings, because a fit predicts each of them many times with other
/// constants. Keeps at most kMostKept scenarios; not thread-safe.
class TrainingScenarioCache {
 public:
  /// Returns the scenario; the reference is valid until the next call. `cluster` is what overrides.cluster
  /// names and must be the same in every call. Throws InputError as make_scenario() does, in every call anew.
  /// Requires exactly one number of GPUs.
  const Scenario& scenario(const ScenarioOverrides& overrides, const ClusterSpec& cluster);
  /// Returns the texts that distinguish one training from another.
  static std::vector<std::string> key_of(const ScenarioOverrides& overrides);

 private:
  /// Most scenarios that are kept, because they hold whole networks.
  static constexpr std::size_t kMostKept = 64;
  std::map<std::vector<std::string>, Scenario> known_;
  OpenedCatalogs opened_;
};

/// Predictions by sample, in the sample's unit; nothing where the model does not cover the sample. The
/// cluster's calibration is applied.
using SamplePredictions = std::vector<std::optional<double>>;

/// A prediction, or the reason why there is none.
struct SampleAnswer {
  std::optional<double> value{};
  std::string why{};
  static SampleAnswer nothing(std::string why) { return {std::nullopt, std::move(why)}; }
  /// Returns an answer without a value, with the first mistake as its reason.
  static SampleAnswer nothing(const InputError& error);
};

/// The results that all predictions of one fit share, because they do not depend on the fitted constants.
struct SampleContext {
  nccl::NodeGraphCache searched{};
  TrainingScenarioCache trainings{};
  bool wants_reasons = false;
  /// Reasons by sample without a prediction, if wants_reasons.
  std::vector<std::string> reasons{};
};

/// Predicts all samples on the cluster.
SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                                  SampleContext& context);
/// Does the same with an empty context.
SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples);

/// Returns the reason why predict_samples() has nothing for a sample; empty when it has.
std::string why_not_predicted(const ClusterSpec& cluster, const Sample& sample);

/// A call of predict_samples(): samples, cluster, and the place of the predictions.
struct SampleRun {
  const ClusterSpec& cluster;
  const std::vector<Sample>& samples;
  SampleContext& context;
  SamplePredictions& predictions;

  /// Stores the answer for a sample, and its reason if reasons are wanted.
  void take(std::size_t sample, SampleAnswer answer) {
    predictions[sample] = answer.value;
    if (!answer.value && context.wants_reasons) context.reasons[sample] = std::move(answer.why);
  }
};

/// Predictors of one or a few kinds of samples each. Samples of other kinds are left as they are.
void predict_collective_samples(SampleRun& run);  // collective_samples.cpp
void predict_tax_samples(SampleRun& run);         // collective_samples.cpp
void predict_kernel_samples(SampleRun& run);      // kernel_samples.cpp
void predict_host_samples(SampleRun& run);        // host_samples.cpp
void predict_link_samples(SampleRun& run);        // link_samples.cpp
void predict_training_samples(SampleRun& run);    // training_samples.cpp

/// Returns a setting as a whole number, or `fallback` when it is absent or not a number.
std::int64_t number_of(const Sample& sample, std::string_view key, std::int64_t fallback);

}  // namespace foretrain
