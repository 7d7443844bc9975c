// One rule per reason: the keys that lose their meaning, and the words for why.
#include "sim/scenario/scenario_effects.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

struct IdleRule {
  bool holds;
  std::vector<std::string> keys;
  std::string reason;
};

std::vector<IdleRule> rules_for(const Scenario& scenario) {
  const std::vector<std::string> ddp_keys{"strategy.bucket_cap",
                                          "strategy.first_bucket",
                                          "strategy.find_unused_parameters",
                                          "strategy.static_graph",
                                          "strategy.gradient_as_bucket_view",
                                          "strategy.broadcast_buffers",
                                          "strategy.wrap_one_gpu"};
  const bool single = scenario.strategy == "single";
  const bool bare = !single && scenario.gpus == std::vector<int>{1} && !scenario.knobs.wrap_one_gpu;
  const DataSet& data = scenario.workload.data;
  return {{data.workers_per_gpu == 0, {"data.prefetch", "data.persistent_workers", "data.cores_per_gpu"}, "with workers_per_gpu = 0"},
          {data.samples == 0, {"data.drop_last"}, "without data.samples"},
          {single, ddp_keys, "with strategy single"},
          {single, {"nccl", "launch"}, "with strategy single"},
          {bare, {ddp_keys.begin(), ddp_keys.end() - 1}, "on one GPU without wrap_one_gpu"},
          {scenario.cluster.nodes == 1, {"cluster.layout"}, "on a cluster of one node"},
          {scenario.epochs == 0, {"run.every"}, "with epochs = 0"},
          {scenario.workload.loop.loss_item_every == 0, {"loop.loss_item_before_backward"}, "with loss_item_every = 0"}};
}

struct Support {
  FlopRate rate;
  bool new_enough;
  std::string_view name, since;
};

Support support_for(Precision precision, const Gpu& gpu) {
  const bool ampere = gpu.architecture >= Architecture::ampere;
  switch (precision) {
    case Precision::tf32:
      return {gpu.tf32, ampere, "tf32", "tf32 came with Ampere"};
    case Precision::bf16:
      return {gpu.bf16, ampere, "bf16", "bf16 came with Ampere"};
    case Precision::amp_fp16:
      return {gpu.fp16, true, "amp_fp16", "this GPU has no 16-bit rate"};
    default:
      return {gpu.fp32, true, "fp32", ""};
  }
}

}  // namespace

void check_precision(TableReader& model, const Scenario& scenario) {
  const Gpu& gpu = scenario.cluster.node.gpu;
  const Support support = support_for(scenario.workload.precision, gpu);
  if (support.new_enough && support.rate.per_second > 0) return;
  std::string others = "fp32";
  for (const Precision precision : {Precision::tf32, Precision::amp_fp16, Precision::bf16}) {
    const Support other = support_for(precision, gpu);
    if (other.new_enough && other.rate.per_second > 0) others += fmt::format(", {}", other.name);
  }
  model.report(model.span_of("precision"), fmt::format("the GPU {} does not compute in {}", gpu.name, support.name),
               fmt::format("{}; possible here: {}", support.since, others));
}

std::vector<std::string> idle_settings(const ScenarioDocument& document, const Scenario& scenario) {
  std::vector<std::string> out;
  for (const IdleRule& rule : rules_for(scenario)) {
    if (!rule.holds) continue;
    for (const std::string& key : rule.keys) {
      if (document.has(key)) out.push_back(fmt::format("{} has no effect {}", key, rule.reason));
    }
  }
  for (const char* key : {"model.name", "model.precision", "model.batch_per_gpu", "model.global_batch", "cluster.name"}) {
    const bool kept = scenario.anchor && !document.is_setting("measured.samples_per_s") && !document.is_setting("measured.step") &&
                      !document.is_setting("measured.epoch");
    if (kept && document.is_setting(key)) out.push_back(fmt::format("the measured speed is kept, although {} was changed", key));
  }
  const bool many = !scenario.gpus.empty() && scenario.gpus.back() > 1;
  if (scenario.strategy == "single" && many) out.emplace_back("strategy single exchanges no gradients: every GPU trains alone");
  return out;
}

}  // namespace foretrain
