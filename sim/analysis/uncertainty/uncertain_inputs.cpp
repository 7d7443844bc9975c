// The table of uncertain inputs, and the limits that a calibration of the cluster sets to them.
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Assumed spreads after a calibration: a network's kernels against those of the benchmarks, a whole training
/// against one of the same cluster, and host calls.
constexpr double kMeasuredKernels = 0.15, kMeasuredTraining = 0.1, kMeasuredHost = 0.15;

}  // namespace

const std::array<UncertainInput, kUncertainCount>& uncertain_inputs() {
  static constexpr std::string_view kFitted = "fitted to measured rows, each source left out";
  static constexpr std::array<UncertainInput, kUncertainCount> kInputs{{
      {Uncertain::kernels, "kernel times", kFitted, Narrowing::one_gpu},
      {Uncertain::host, "host times", kFitted, Narrowing::one_gpu},
      {Uncertain::input, "input pipeline", kFitted, Narrowing::input_alone},
      {Uncertain::node_links, "links inside the node", kFitted, Narrowing::collectives},
      {Uncertain::network, "network", kFitted, Narrowing::collectives},
      {Uncertain::startup, "start-up, validation, checkpoints",
       "assumed: imports and file systems differ by as much", Narrowing::whole_job},
      {Uncertain::run_to_run, "run to run", "the same job twice", Narrowing::none},
      {Uncertain::unmodelled, "what no input says of a step", kFitted, Narrowing::one_gpu},
      {Uncertain::scaling, "scaling over GPUs", kFitted, Narrowing::many_gpus},
  }};
  return kInputs;
}

/// The units are fixed by convention; the fitted terms of spreads.inc refer to them, so a change needs a new
/// fit.
const Spreads& unit_moves() {
  static const Spreads kMoves = [] {
    Spreads moves{};
    moves[index_of(Uncertain::kernels)] = 0.2, moves[index_of(Uncertain::host)] = 0.25;
    for (const Uncertain input : {Uncertain::input, Uncertain::node_links, Uncertain::network})
      moves[index_of(input)] = 0.3;
    return moves;
  }();
  return kMoves;
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

/// Links are narrowed by collectives of the very same job only; benchmarks of both products and convolutions
/// narrow kernels.
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

}  // namespace foretrain
