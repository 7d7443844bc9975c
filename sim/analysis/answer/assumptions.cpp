// The assumptions of an answer: a table of keys, the value that applies without them, and the option that
// states them.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/step/step_model.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/names.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// A row of the table: a fact that the user may state.
struct AssumedKey {
  /// Keys of the scenario; any of them states the fact.
  std::vector<std::string_view> keys;
  /// Returns the assumed value in words; empty where the fact does not apply to the scenario.
  std::string (*text)(const Scenario& scenario);
  std::string_view option;
};

std::string assumed_loader(const Scenario& scenario) {
  if (scenario.workload.data.loader != LoaderKind::none) return {};
  return "batches that are always ready";
}

std::string assumed_batch(const Scenario& scenario) {
  return !step_model_of(scenario).is_strategy
             ? ""
             : fmt::format("batch {} per GPU", scenario.workload.batch_per_gpu);
}

std::string assumed_precision(const Scenario& scenario) {
  const FineTuning& tuning = scenario.model.tuning;
  if (tuning.adapter != AdapterKind::none && tuning.has_format())
    return fmt::format("frozen weights in {}", name_of(tuning.weights));
  return !step_model_of(scenario).is_strategy ? "" : std::string(name_of(scenario.workload.precision));
}

/// Returns true if a network's name states the length of its samples: bert_large_s384.
bool names_length(std::string_view model) {
  const std::size_t at = model.rfind("_s");
  return at != model.npos && at + 2 < model.size() &&
         model.find_first_not_of("0123456789", at + 2) == model.npos;
}

/// Samples are seldom as long as the network can read, and the step is proportional to their length.
std::string assumed_length(const Scenario& scenario) {
  const Model& model = scenario.model;
  const bool is_assumed = step_model_of(scenario).is_strategy && model.input_is_tokens &&
                          !model.is_recorded && model.input.size() == 1 && !names_length(model.name);
  return is_assumed ? fmt::format("{} tokens a sample", model.input.front()) : "";
}

std::string assumed_workers(const Scenario& scenario) {
  const DataSet& data = scenario.workload.data;
  if (data.loader != LoaderKind::torch) return {};
  return fmt::format("{} for each {}", counted(data.workers_per_gpu, "loader worker"), data.worker_unit());
}

std::string assumed_storage(const Scenario& scenario) {
  if (scenario.workload.data.loader == LoaderKind::none) return {};
  return "data on the cluster's usual storage";
}

std::string assumed_execution(const Scenario& scenario) {
  if (!step_model_of(scenario).is_strategy) return {};
  const Framework& framework = scenario.workload.framework;
  return fmt::format("{} in {} mode", framework.kind == FrameworkKind::pytorch ? "PyTorch" : "TensorFlow",
                     name_of(framework.execution));
}

std::string assumed_sequence(const Scenario& scenario) {
  if (step_model_of(scenario).is_strategy || scenario.program) return {};
  return fmt::format("{} tokens a sequence", layout_of(scenario).sequence);
}

std::string assumed_layout_precision(const Scenario& scenario) {
  if (step_model_of(scenario).is_strategy || scenario.program) return {};
  switch (layout_of(scenario).precision) {
    case KernelPrecision::fp16:
      return "fp16";
    case KernelPrecision::fp8:
      return "fp8";
    case KernelPrecision::fp4:
      return "fp4";
    default:
      return "bf16";
  }
}

/// The table, in the order of the usual effect. Input may take several times the step, batch and precision
/// change it two- to fourfold, and the others change it by tens of percent.
const std::vector<AssumedKey>& assumed_keys() {
  static const std::vector<AssumedKey> kKeys{
      {{"data.loader", "data.name"}, assumed_loader, "--dataset NAME"},
      {{"model.batch_per_gpu", "model.global_batch"}, assumed_batch, "--batch N"},
      {{"model.precision", "model.weights", "model.half_weights"}, assumed_precision, "--precision NAME"},
      {{"model.sequence_length"}, assumed_length, "--sequence N"},
      {{"parallel.sequence"}, assumed_sequence, "--set parallel.sequence=N"},
      {{"parallel.precision", "model.precision"}, assumed_layout_precision, "--set parallel.precision=NAME"},
      {{"data.workers_per_gpu"}, assumed_workers, "--set data.workers_per_gpu=N"},
      {{"data.storage", "data.cached"}, assumed_storage, "--set data.storage=NAME"},
      {{"framework.name", "framework.execution"}, assumed_execution, "--set framework.execution=NAME"},
  };
  return kKeys;
}

}  // namespace

std::vector<Assumption> assumptions_of(const Scenario& scenario) {
  std::vector<Assumption> out;
  for (const AssumedKey& row : assumed_keys()) {
    const auto is_stated = [&](std::string_view key) { return scenario.states(key); };
    if (std::ranges::any_of(row.keys, is_stated) || out.size() == kMostAssumptions) continue;
    if (std::string text = row.text(scenario); !text.empty())
      out.push_back({std::move(text), std::string(row.option)});
  }
  return out;
}

}  // namespace foretrain
