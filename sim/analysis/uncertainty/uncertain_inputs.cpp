// One table; the spreads of kernels, links and what is not modelled are those of evidence.inc.
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"

#include <algorithm>
#include <cmath>

#include "sim/analysis/step/step_model.hpp"

namespace foretrain {

namespace {

/// Assumed: a network's kernels against those of the benchmarks; a whole training's against one of the same
/// cluster; host calls.
constexpr double kMeasuredKernels = 0.15, kMeasuredTraining = 0.1, kMeasuredHost = 0.15;

}  // namespace

const std::array<UncertainInput, kUncertainCount>& uncertain_inputs() {
  static constexpr std::array<UncertainInput, kUncertainCount> kInputs{{
      {Uncertain::kernels, "kernel times", "one-GPU rows of GPUs left out, by the kind of network",
       Narrowing::one_gpu, 0},
      {Uncertain::host, "host times", "the same calls on another CPU", Narrowing::one_gpu, 0.25},
      {Uncertain::input, "input pipeline", "loader measurements on other CPUs and disks",
       Narrowing::input_alone, 0.30},
      {Uncertain::node_links, "links inside the node",
       "nccl-tests rows of clusters left out, by the kind of link", Narrowing::collectives, 0},
      {Uncertain::network, "network", "nccl-tests rows of clusters left out, by the kind of network",
       Narrowing::collectives, 0},
      {Uncertain::stragglers, "slowest rank", "0.5 to 2 % in the fit of docs/models/losses.md",
       Narrowing::many_gpus, 0.7},
      {Uncertain::busy_node, "busy node", "0 to 6 % in the fit of docs/models/losses.md",
       Narrowing::many_gpus, 0.7},
      {Uncertain::startup, "start-up, validation, checkpoints",
       "assumed: imports and file systems differ by as much", Narrowing::whole_job, 0.5},
      {Uncertain::run_to_run, "run to run", "the same job twice", Narrowing::none, kRunToRun},
      {Uncertain::unmodelled, "effects not modelled", "residuals of anchored jobs of clusters left out",
       Narrowing::many_gpus, 0},
      {Uncertain::scaling, "scaling, either way", "anchored jobs that ran faster than predicted",
       Narrowing::many_gpus, 0},
  }};
  return kInputs;
}

std::string_view describe(Narrowing measurement) {
  switch (measurement) {
    case Narrowing::none:
      return "nothing";
    case Narrowing::one_gpu:
      return "samples per second of this training on one GPU (measured.samples_per_s)";
    case Narrowing::collectives:
      return "nccl-tests on these GPUs (foretrain validate, then the links of the cluster's file)";
    case Narrowing::input_alone:
      return "the loader alone: one epoch without the network (data.decode)";
    case Narrowing::many_gpus:
      return "one short run on that many GPUs (measured.gpus and measured.samples_per_s)";
    case Narrowing::whole_job:
      break;
  }
  return "the first minutes of one job: start-up, a validation, a checkpoint (run.startup, run.every)";
}

namespace {

/// What a machine is known by.
struct Acquaintance {
  NetworkKind network = NetworkKind::any;
  MessagePath inside = MessagePath::any, between = MessagePath::any;
  bool gpu = false, links = false, trainings = false;
};

Spreads spreads_of(const AnchoredParts& anchored, FrameworkKind framework, const Acquaintance& machine) {
  Spreads spreads{};
  for (const UncertainInput& input : uncertain_inputs()) spreads[index_of(input.which)] = input.spread;
  const auto links = [&](MessagePath path) {
    return spread_of({path, OpFamily::reductions, LongestPart::data}).of(machine.links);
  };
  spreads[index_of(Uncertain::kernels)] = spread_of_kernels(machine.network).of(machine.gpu);
  spreads[index_of(Uncertain::node_links)] = links(machine.inside);
  spreads[index_of(Uncertain::network)] = links(machine.between);
  spreads[index_of(Uncertain::unmodelled)] = loss_of(framework).of(machine.trainings);
  spreads[index_of(Uncertain::scaling)] = scatter_of(framework).of(machine.trainings);
  const double measured = spreads[index_of(Uncertain::run_to_run)];
  const auto fix = [&](bool is_fixed, Uncertain which) {
    if (is_fixed) spreads[index_of(which)] = measured;
  };
  fix(anchored.kernels, Uncertain::kernels), fix(anchored.host, Uncertain::host),
      fix(anchored.input, Uncertain::input);
  return spreads;
}

}  // namespace

Spreads spreads_of(const AnchoredParts& anchored, const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  Spreads spreads = spreads_of(
      anchored, scenario.workload.framework.kind,
      {network_kind(scenario), path_of(cluster, 1), path_of(cluster, 2), cluster.node.gpu.trainings_measured,
       cluster.collectives_measured, cluster.trainings_measured});
  const std::optional<double> own = step_model_of(scenario).kernel_spread;
  if (own && !anchored.kernels) spreads[index_of(Uncertain::kernels)] = *own;
  return spreads;
}

Spreads spreads_of(const AnchoredParts& anchored, FrameworkKind framework) {
  return spreads_of(anchored, framework, {});
}

Spreads with_calibration(Spreads spreads, const Calibration& calibration, int gpus, int nodes) {
  const auto narrow = [&](Uncertain which, double known) {
    spreads[index_of(which)] = std::min(spreads[index_of(which)], known);
  };
  const bool has_job = std::ranges::any_of(calibration.collectives, [&](const CalibratedCollective& c) {
    return c.op == "all_reduce" && c.gpus == gpus && c.nodes == nodes;
  });
  if (has_job)
    narrow(Uncertain::node_links, kMeasuredCollectives), narrow(Uncertain::network, kMeasuredCollectives);
  const auto has = [&](std::string_view begin) {
    return std::ranges::any_of(calibration.constants,
                               [&](const CalibratedConstant& c) { return c.name.starts_with(begin); });
  };
  if (has("gemm.") && has("conv.")) narrow(Uncertain::kernels, kMeasuredKernels);
  if (has("kernel.time_scale")) narrow(Uncertain::kernels, kMeasuredTraining);
  if (has("host.slowdown") || has("host.launch") || has("host.time_scale"))
    narrow(Uncertain::host, kMeasuredHost);
  return spreads;
}

double unmodelled_loss(double of_one_node, int nodes, int anchor_nodes, bool beyond_anchor) {
  if (!beyond_anchor) return 0;
  return of_one_node * loss_growth(static_cast<double>(nodes) / anchor_nodes);
}

}  // namespace foretrain
