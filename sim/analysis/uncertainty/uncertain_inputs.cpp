// One table. Spreads are the residuals of docs/accuracy*.md: the ninth row of ten, over the normal quantile
// of 95 %.
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"

#include <algorithm>
#include <cmath>

#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// A doubling of nodes adds so much of what one node loses.
constexpr double kPerDoubling = 0.6;

/// Collectives at sizes between measured ones: nine of ten within 15 % (docs/accuracy_calibration.md), over
/// the same quantile.
constexpr double kMeasuredCollectives = 0.09;
/// Assumed: a network's kernels against those of the benchmarks; a whole training's against one of the same
/// cluster; host calls.
constexpr double kMeasuredKernels = 0.15, kMeasuredTraining = 0.1, kMeasuredHost = 0.15;

}  // namespace

const std::array<UncertainInput, kUncertainCount>& uncertain_inputs() {
  static constexpr std::array<UncertainInput, kUncertainCount> kInputs{{
      {Uncertain::kernels, "kernel times", "one-GPU rows: nine of ten are within 41 %", Narrowing::one_gpu,
       0.25},
      {Uncertain::host, "host times", "the same calls on another CPU", Narrowing::one_gpu, 0.25},
      {Uncertain::input, "input pipeline", "loader measurements on other CPUs and disks",
       Narrowing::input_alone, 0.30},
      {Uncertain::node_links, "links inside the node", "nccl-tests rows: nine of ten are within 47 %",
       Narrowing::collectives, 0.28},
      {Uncertain::network, "network", "nccl-tests rows: nine of ten are within 47 %", Narrowing::collectives,
       0.28},
      {Uncertain::stragglers, "slowest rank", "0.5 to 2 % in the fit of docs/models/losses.md",
       Narrowing::many_gpus, 0.7},
      {Uncertain::busy_node, "busy node", "0 to 6 % in the fit of docs/models/losses.md",
       Narrowing::many_gpus, 0.7},
      {Uncertain::startup, "start-up, validation, checkpoints",
       "assumed: imports and file systems differ by as much", Narrowing::whole_job, 0.5},
      {Uncertain::run_to_run, "run to run", "the same job twice", Narrowing::none, 0.02},
      {Uncertain::unmodelled, "effects not modelled", "residuals of jobs anchored on one GPU",
       Narrowing::many_gpus, 0.08},
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

Spreads spreads_of(const AnchoredParts& anchored, FrameworkKind framework) {
  Spreads spreads{};
  for (const UncertainInput& input : uncertain_inputs()) spreads[index_of(input.which)] = input.spread;
  const double measured = spreads[index_of(Uncertain::run_to_run)];
  const auto fix = [&](bool is_fixed, Uncertain which) {
    if (is_fixed) spreads[index_of(which)] = measured;
  };
  spreads[index_of(Uncertain::unmodelled)] *= profile_of(framework).unmodelled_spread;
  fix(anchored.kernels, Uncertain::kernels), fix(anchored.host, Uncertain::host),
      fix(anchored.input, Uncertain::input);
  return spreads;
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
  if (has("host.slowdown") || has("host.launch")) narrow(Uncertain::host, kMeasuredHost);
  return spreads;
}

double unmodelled_loss(double of_one_node, int nodes, int anchor_nodes, bool beyond_anchor) {
  if (!beyond_anchor) return 0;
  const double doublings =
      nodes > anchor_nodes ? 1 + std::log2(static_cast<double>(nodes) / anchor_nodes) : 0;
  return of_one_node * (1 + kPerDoubling * doublings);
}

}  // namespace foretrain
