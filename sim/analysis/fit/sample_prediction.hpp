// What the model says that a sample's measurement gives: the one function that fits, checks and residuals
// share.
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

// Scenarios of the trainings that samples are about, each made once although a fit predicts it many times.

/// A cache of the scenarios of measured trainings: a fit predicts each of them many times with other
/// constants. Keeps at most kMostKept scenarios; not thread-safe.
class TrainingScenarioCache {
 public:
  /// Stays until the next call. `cluster` is what overrides.cluster names, the same in every call. Throws
  /// InputError as make_scenario() does, every time anew. Requires one number of GPUs.
  const Scenario& scenario(const ScenarioOverrides& overrides, const ClusterSpec& cluster);
  /// What makes one training another.
  static std::vector<std::string> key_of(const ScenarioOverrides& overrides);

 private:
  /// Scenarios hold whole networks, so only so many are kept.
  static constexpr std::size_t kMostKept = 64;
  std::map<std::vector<std::string>, Scenario> known_;
  OpenedCatalogs opened_;
};

/// By sample, in the sample's unit; nothing where the model has no such thing. The cluster's calibration is
/// in use.
using SamplePredictions = std::vector<std::optional<double>>;

/// A prediction, or why there is none.
struct SampleAnswer {
  std::optional<double> value{};
  std::string why{};
  static SampleAnswer nothing(std::string why) { return {std::nullopt, std::move(why)}; }
  /// Its first mistake.
  static SampleAnswer nothing(const InputError& error);
};

/// What the many predictions of one fit share: what was found out for one set of constants and holds for all.
struct SampleContext {
  nccl::NodeGraphCache searched{};
  TrainingScenarioCache trainings{};
  bool wants_reasons = false;
  std::vector<std::string> reasons{};  ///< by sample, why it has no prediction, if somebody wants them
};

SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                                  SampleContext& context);
SamplePredictions predict_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples);

/// Why predict_samples() has nothing for a sample; empty when it has.
std::string why_not_predicted(const ClusterSpec& cluster, const Sample& sample);

/// Samples with a cluster, and where their predictions go.
struct SampleRun {
  const ClusterSpec& cluster;
  const std::vector<Sample>& samples;
  SampleContext& context;
  SamplePredictions& predictions;

  void take(std::size_t sample, SampleAnswer answer) {
    predictions[sample] = answer.value;
    if (!answer.value && context.wants_reasons) context.reasons[sample] = std::move(answer.why);
  }
};

/// One kind or a few each. Samples of other kinds get nothing.
void predict_collective_samples(SampleRun& run);  // collective_samples.cpp
void predict_tax_samples(SampleRun& run);         // collective_samples.cpp
void predict_kernel_samples(SampleRun& run);      // kernel_samples.cpp
void predict_host_samples(SampleRun& run);        // host_samples.cpp
void predict_link_samples(SampleRun& run);        // link_samples.cpp
void predict_training_samples(SampleRun& run);    // training_samples.cpp

/// A setting as a whole number, or `fallback` when it is not there or no number.
std::int64_t number_of(const Sample& sample, std::string_view key, std::int64_t fallback);

}  // namespace foretrain
