// Settings without effect. There is one rule per reason: its condition, the keys that lose their meaning, and
// the reason in words.
#include "sim/scenario/sections/scenario_effects.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/uncut_layout.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/workload/device/script_time.hpp"
#include "sim/workload/framework_profile.hpp"
#include "sim/workload/tape/recompute.hpp"

namespace foretrain {

namespace {

/// A rule: when `holds`, keys that were given have no effect, for this reason. People should know before they
/// compare.
struct IdleRule {
  bool holds;
  std::vector<std::string> keys;
  std::string reason;
};

/// Returns all rules with their conditions for this scenario.
std::vector<IdleRule> rules_for(const Scenario& scenario) {
  std::vector<std::string> options;
  const StrategyEntry& strategy = *find_strategy(scenario.strategy);
  // Options of the strategy, except the two that decide whether DDP wraps the network.
  for (const Knob& knob : strategy.knobs) {
    if (knob.name != "wrap_one_gpu" && knob.name != "wrapped")
      options.push_back(fmt::format("strategy.{}", knob.name));
  }
  // Properties of the scenario that several rules share.
  const bool single = strategy.one_gpu;
  const bool apart = scenario.strategy == "ddp" && !scenario.knobs.get<DdpOptions>().wrapped;
  // DDP on one GPU is not wrapped unless requested, so its options have no effect.
  const bool bare = scenario.strategy == "ddp" && scenario.gpus == std::vector<int>{1} &&
                    !scenario.knobs.get<DdpOptions>().wrap_one_gpu;
  const DataSet& data = scenario.workload.data;
  const bool one_process = strategy.processes == Processes::one;
  const FrameworkProfile& framework = profile_of(scenario.workload.framework);
  const std::string in_framework = fmt::format("in {}", framework.title);
  const bool reads = reads_loss(scenario.workload.loop, scenario.workload.framework, 0);
  const bool threads = data.loader != LoaderKind::torch && data.loader != LoaderKind::none;
  const std::vector<std::string> pipeline_keys{
      "data.decode",          "data.decode_spread",     "data.storage",  "data.cached",
      "data.stored_bytes",    "data.sample_bytes",      "data.prefetch", "data.pinned",
      "data.workers_per_gpu", "data.persistent_workers"};
  return {
      // The input pipeline.
      {data.workers_per_gpu == 0, {"data.prefetch", "data.persistent_workers"}, "with workers_per_gpu = 0"},
      {data.loader == LoaderKind::none, pipeline_keys, "with loader none"},
      {threads,
       {"data.persistent_workers", "data.pinned", "data.decode_spread"},
       "with threads instead of worker processes"},
      {data.storage == StorageKind::none, {"data.cached"}, "with storage none"},
      {data.storage == StorageKind::none && data.loader != LoaderKind::dali_gpu,
       {"data.stored_bytes"},
       "with storage none"},
      {data.decode == Time::zero(), {"data.decode_spread"}, "with decode = 0"},
      {data.samples == 0, {"data.drop_last"}, "without data.samples"},
      // [parallel], single GPUs, and options of DDP.
      {scenario.parallel.has_value(),
       {"strategy", "model.batch_per_gpu", "model.recompute", "model.half_weights"},
       "with [parallel], whose keys take their place"},
      {scenario.parallel && !runs_as_strategy(*scenario.parallel),
       {"launch.slow_gpus", "launch.slow_draw"},
       "with [parallel]"},
      {single, {"nccl", "launch"}, "with strategy single"},
      {bare && !apart, options, "on one GPU without wrap_one_gpu"},
      {apart, options, "with wrapped = false"},
      {apart, {"strategy.wrap_one_gpu"}, "with wrapped = false"},
      // Processes, nodes and epochs.
      {one_process,
       {"data.sampler"},
       fmt::format("with strategy {}, which is one process", scenario.strategy)},
      {scenario.cluster.nodes == 1, {"cluster.layout"}, "on a cluster of one node"},
      {scenario.epochs == 0, {"run.every"}, "with epochs = 0"},
      // The network, its precision and its framework.
      {std::ranges::none_of(numbered_blocks(*scenario.workload.model), [](auto block) { return block > 0; }),
       {"model.recompute"},
       "on a network without numbered blocks"},
      {!is_half(scenario.workload.precision),
       {"model.half_weights"},
       fmt::format("in {}", name_of(scenario.workload.precision))},
      {!reads, {"loop.loss_item_before_backward", "loop.metrics"}, "with loss_item_every = 0"},
      {!framework.has_optimizer_forms, {"model.optimizer_form"}, in_framework},
      {!framework.keeps_gradients, {"loop.zero_grad"}, in_framework},
      {scenario.workload.framework.execution == Execution::cuda_graphs,
       {"loop.profiler"},
       "with cuda_graphs"}};
}

/// Returns whether the GPU is of Ampere or newer.
bool is_ampere(const Gpu& gpu) { return gpu.architecture >= Architecture::ampere; }

/// Returns the precision that replaces fp8 on a GPU without it.
Precision without_fp8(const Gpu& gpu) {
  return is_ampere(gpu) && gpu.bf16.per_second > 0 ? Precision::bf16 : Precision::amp_fp16;
}

/// Returns a warning: autocast halves tensors even if it does not speed up arithmetic.
std::string fp32_rate(const Gpu& gpu, std::string_view why) {
  return fmt::format("the GPU {} {}: matrix products run at its fp32 rate, tensors take 16 bit", gpu.name,
                     why);
}

}  // namespace

namespace {

/// Settles the precision for one kind of GPU.
std::vector<std::string> settle_precision_on(const Gpu& gpu, Scenario& scenario) {
  Precision& precision = scenario.workload.precision;
  // fp8 exists since Ada and Hopper.
  if (precision == Precision::fp8 && gpu.fp8.per_second <= 0) {
    precision = without_fp8(gpu);
    std::vector<std::string> out{fmt::format(
        "the GPU {} has no fp8, which came with Ada and Hopper: {} instead", gpu.name, name_of(precision))};
    // The replacement of fp8 may have no fast arithmetic either.
    for (std::string& more : settle_precision_on(gpu, scenario)) out.push_back(std::move(more));
    return out;
  }
  if (precision == Precision::tf32 && (!is_ampere(gpu) || gpu.tf32.per_second <= 0)) {
    precision = Precision::fp32;
    return {fmt::format("the GPU {} has no tf32, which came with Ampere: fp32 instead", gpu.name)};
  }
  // Tensors have 16 bits all the same, only products are not faster.
  if (precision == Precision::bf16 && (!is_ampere(gpu) || gpu.bf16.per_second <= 0))
    return {fp32_rate(gpu, "has no bf16, which came with Ampere")};
  if (precision == Precision::amp_fp16 && gpu.fp16 < gpu.fp32)
    return {fp32_rate(gpu, "has no fast 16-bit arithmetic")};
  return {};
}

}  // namespace

/// All ranks of a job train in the same precision, so the last kind of node that lacks one decides.
std::vector<std::string> settle_precision(Scenario& scenario) {
  std::vector<std::string> out;
  const ClusterSpec& cluster = scenario.cluster;
  for (int kind = 0; kind < kind_count(cluster); ++kind) {
    const std::vector<int>& asked = scenario.launch.nodes_of;
    // Kinds of node that the job does not use have no influence.
    if (!asked.empty() && asked[static_cast<std::size_t>(kind)] == 0) continue;
    // Equal kinds would repeat the warning.
    if (kind != first_kind_like(cluster, kind)) continue;
    for (std::string& text : settle_precision_on(node_of_kind(cluster, kind).gpu, scenario))
      out.push_back(std::move(text));
  }
  return out;
}

/// Only keys that the document states are reported.
std::vector<std::string> idle_settings(const ScenarioDocument& document, const Scenario& scenario) {
  std::vector<std::string> out;
  for (const IdleRule& rule : rules_for(scenario)) {
    if (!rule.holds) continue;
    for (const std::string& key : rule.keys) {
      if (document.has(key)) out.push_back(fmt::format("{} has no effect {}", key, rule.reason));
    }
  }
  return out;
}

}  // namespace foretrain
