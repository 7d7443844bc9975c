// Variations. Each one changes the values that the reader would have read.
#include "sim/scenario/variation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/fabrics/catalog.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/layers/widening.hpp"

namespace foretrain {

namespace {

/// Scales the bandwidth of a link type of this kind.
void scale(LinkType& type, LinkKind kind, double factor) {
  if (type.kind != kind) return;
  type.bandwidth.per_second *= factor;
  type.nccl_bandwidth.per_second *= factor;
}

/// Returns the number of GPUs that both scalings share.
int shared_gpus(const Scenario& scenario) {
  if (scenario.anchor) return scenario.anchor->gpus;
  return scenario.gpus.empty() ? 1 : scenario.gpus.front();
}

/// Numbers of GPUs beyond the global batch would leave GPUs without a sample.
void share_batch(Scenario& scenario) {
  const std::int64_t batch = *scenario.global_batch;
  std::erase_if(scenario.gpus, [batch](int gpus) { return gpus > batch; });
  if (scenario.gpus.empty()) scenario.gpus = {1};
}

}  // namespace

Scenario with_scaling(Scenario scenario, Scaling scaling) {
  if (scenario.global_batch.has_value() == (scaling == Scaling::strong)) return scenario;
  const std::int64_t micro_steps =
      std::int64_t{working_gpu_count(scenario, shared_gpus(scenario))} * scenario.knobs.accumulation;
  if (scaling == Scaling::strong) {
    scenario.global_batch = scenario.workload.batch_per_gpu * micro_steps;
    share_batch(scenario);
  } else {
    scenario.workload.batch_per_gpu =
        std::max<std::int64_t>(1, (*scenario.global_batch + micro_steps - 1) / micro_steps);
    scenario.global_batch.reset();
  }
  for (std::string& warning : job_warnings(scenario)) {
    if (std::find(scenario.warnings.begin(), scenario.warnings.end(), warning) == scenario.warnings.end())
      scenario.warnings.push_back(std::move(warning));
  }
  return scenario;
}

Scenario with_strategy(Scenario scenario, const std::string& strategy) {
  scenario.strategy = strategy;
  static_cast<ProcessStart&>(scenario.launch) = {};
  scenario.collective.processes_per_node = 0;
  return scenario;
}

Scenario with_process_per_gpu(Scenario scenario) {
  scenario.launch.processes_per_node = 0;
  if (scenario.launch.with == Launcher::python) scenario.launch.with.reset();
  return scenario;
}

std::int64_t batch_of(const Scenario& scenario) {
  return scenario.global_batch.value_or(scenario.workload.batch_per_gpu);
}

Scenario with_batch(Scenario scenario, std::int64_t batch) {
  if (scenario.global_batch)
    scenario.global_batch = batch;
  else
    scenario.workload.batch_per_gpu = batch;
  return scenario;
}

namespace {

/// Expands the changed network again. `how`: the change, for the message of an error.
Scenario expanded_again(Scenario scenario, const std::string& how) {
  ExpansionResult expansion = expand(scenario.model);
  if (!expansion.faults.empty())
    throw InputError(fmt::format("{} {}: {}", scenario.model.name, how, expansion.faults.front().message));
  Workload& work = scenario.workload;
  work.model = std::make_shared<const ExpandedModel>(as_trained(std::move(expansion.model), work));
  return scenario;
}

}  // namespace

Scenario with_width(Scenario scenario, double factor) {
  if (const std::string why = why_not_widened(scenario.model); !why.empty()) throw InputError(why);
  scenario.model = widened(scenario.model, factor);
  return expanded_again(std::move(scenario), fmt::format("{:g} times as wide", factor));
}

Scenario with_training(Scenario scenario, const FineTuning& tuning, bool recompute) {
  if (scenario.model.is_recorded || scenario.model.layers.empty())
    throw InputError(fmt::format("{} was recorded with what it trains", scenario.model.name));
  scenario.model.tuning = tuning;
  Workload& work = scenario.workload;
  work.recompute = recompute;
  if (tuning.has_format() && tuning.weights != WeightFormat::fp32) {
    work.half_weights = false;
    if (!is_half(work.precision)) work.precision = Precision::bf16;
  }
  scenario.model.tuning.computes_in_half = is_half(work.precision);
  return expanded_again(std::move(scenario), "trained otherwise");
}

Scenario with_sequence(Scenario scenario, std::int64_t tokens) {
  scenario.model.input = {tokens};
  return expanded_again(std::move(scenario), fmt::format("of {} tokens", tokens));
}

Scenario with_link_speed(Scenario scenario, LinkKind kind, double factor) {
  visit_nodes(scenario.cluster, [&](NodeSpec& node) {
    for (NodeLink& link : node.links) scale(link.type, kind, factor);
  });
  for (NodeKind& nodes : scenario.cluster.more_nodes) {
    if (nodes.link) scale(*nodes.link, kind, factor);
  }
  for (LinkType* type : link_types_of(scenario.cluster.fabric)) scale(*type, kind, factor);
  return scenario;
}

}  // namespace foretrain
