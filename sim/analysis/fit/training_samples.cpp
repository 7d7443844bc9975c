// Compares a training log's rate with a simulated step of the same training on this cluster.
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Returns the settings of the scenario; those of the sample with a dot are keys of a scenario.
ScenarioOverrides overrides_of(const ClusterSpec& cluster, const Sample& sample) {
  ScenarioOverrides overrides;
  overrides.model = setting_of(sample, "model"), overrides.cluster = cluster.name;
  overrides.strategy = setting_of(sample, "strategy");
  if (const std::int64_t batch = number_of(sample, "batch", 0); batch > 0) overrides.batch = batch;
  overrides.gpus = {sample.gpus};
  if (const std::string precision(setting_of(sample, "precision")); !precision.empty())
    overrides.settings.push_back("model.precision=" + precision);
  for (const auto& [key, value] : sample.settings) {
    if (key.find('.') != std::string::npos) overrides.settings.push_back(key + "=" + value);
  }
  return overrides;
}

/// The simulated values that all samples of one training are compared with.
struct SimulatedTraining {
  double step_s = 0, samples_per_s = 0;
};

/// Simulates the training on exactly the sample's numbers of GPUs and nodes. Only the cluster changes between
/// the trials of a fit, so the scenario comes from the cache.
SimulatedTraining simulated(const SampleRun& run, const Sample& sample, const ScenarioOverrides& overrides) {
  const Placement asked = place_job(run.cluster, sample.gpus, sample.nodes);
  Scenario scenario = run.context.trainings.scenario(overrides, run.cluster);
  // The cached scenario has the catalog's cluster; the trial's constants are in this one.
  scenario.cluster = run.cluster;
  StepSimulator simulator(scenario, sample.gpus, asked.nodes);
  simulator.spread(sample.gpus, asked.nodes);
  const double step_s = simulator.step_s(sample.gpus, default_device_model(scenario));
  return {step_s, static_cast<double>(simulator.global_batch(sample.gpus)) / step_s};
}

SampleAnswer figure_of(const SimulatedTraining& training, const Sample& sample) {
  return {sample.unit == SampleUnit::per_s ? training.samples_per_s : training.step_s * 1e6};
}

/// Returns the reason why the sample cannot be compared with a step; empty when it can.
std::string why_no_training(const Sample& sample) {
  if (setting_of(sample, "model").empty())
    return "the log does not say which network was trained (settings: model=…)";
  const bool is_rate = sample.what == "samples_per_s" && sample.unit == SampleUnit::per_s;
  const bool is_time = sample.what == "step" && sample.unit == SampleUnit::us;
  return is_rate || is_time ? "" : "a training is samples_per_s or step";
}

/// Most trainings that are simulated, because each costs a simulation in every prediction.
constexpr std::size_t kMostTrainings = 100;

/// Orders samples by job and settings.
struct SameConditions {
  bool operator()(const Sample* a, const Sample* b) const {
    return std::tie(a->gpus, a->nodes, a->settings) < std::tie(b->gpus, b->nodes, b->settings);
  }
};

/// Groups samples by training. Settings that no scenario has (such as a series) do not make another training.
class Trainings {
 public:
  explicit Trainings(const ClusterSpec& cluster) : cluster_(cluster) {}

  /// Adds a sample; returns false when there are too many trainings already.
  bool add(const Sample& sample, std::size_t number) {
    const auto [known, is_new] = training_of_.try_emplace(&sample, kNoTraining);
    if (is_new) known->second = find(sample);
    if (known->second == kNoTraining) return false;
    members_[known->second].push_back(number);
    return true;
  }
  const std::vector<std::vector<std::size_t>>& members() const { return members_; }

 private:
  static constexpr std::size_t kNoTraining = static_cast<std::size_t>(-1);

  /// Returns the index of the sample's training, a new one if there is room.
  std::size_t find(const Sample& sample) {
    std::vector<std::string> key = TrainingScenarioCache::key_of(overrides_of(cluster_, sample));
    key.push_back(fmt::format("{} nodes", sample.nodes));
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    if (numbers_.size() == kMostTrainings) return kNoTraining;
    members_.emplace_back();
    return numbers_.emplace(std::move(key), numbers_.size()).first->second;
  }

  const ClusterSpec& cluster_;
  std::map<const Sample*, std::size_t, SameConditions> training_of_;
  std::map<std::vector<std::string>, std::size_t> numbers_;
  std::vector<std::vector<std::size_t>> members_;
};

Trainings trainings_of(SampleRun& run) {
  Trainings trainings(run.cluster);
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    const Sample& sample = run.samples[i];
    if (sample.kind != SampleKind::training) continue;
    if (std::string why = why_no_training(sample); !why.empty())
      run.take(i, SampleAnswer::nothing(std::move(why)));
    else if (!trainings.add(sample, i))
      run.take(i, SampleAnswer::nothing(fmt::format(
                      "{} other trainings come before it, no more are simulated", kMostTrainings)));
  }
  return trainings;
}

}  // namespace

std::vector<std::string> TrainingScenarioCache::key_of(const ScenarioOverrides& overrides) {
  std::vector<std::string> key{overrides.model, overrides.cluster, overrides.strategy,
                               fmt::format("{}", overrides.batch.value_or(0)),
                               fmt::format("{}", overrides.gpus.front())};
  key.insert(key.end(), overrides.settings.begin(), overrides.settings.end());
  return key;
}

const Scenario& TrainingScenarioCache::scenario(const ScenarioOverrides& overrides,
                                                const ClusterSpec& cluster) {
  const std::vector<std::string> key = key_of(overrides);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMostKept) known_.clear();
  // A cluster from a file is in no catalog under its name, so it is entered here.
  opened_.clusters.try_emplace(overrides.cluster, cluster);
  return known_.emplace(key, make_scenario(overrides, opened_)).first->second;
}

void predict_training_samples(SampleRun& run) {
  const Trainings trainings = trainings_of(run);
  for (const std::vector<std::size_t>& members : trainings.members()) {
    const Sample& first = run.samples[members.front()];
    try {
      const SimulatedTraining training = simulated(run, first, overrides_of(run.cluster, first));
      for (const std::size_t i : members) run.take(i, figure_of(training, run.samples[i]));
    } catch (const InputError& error) {
      for (const std::size_t i : members) run.take(i, SampleAnswer::nothing(error));
    }
  }
}

}  // namespace foretrain
