// What a prediction rests on: each input, where its spread comes from, and which measurement would narrow it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// `unmodelled`: what the model leaves out of a step, and of one GPU already. `scaling`: what it leaves out
/// of a larger job beside a smaller one.
enum class Uncertain : std::uint8_t {
  kernels,
  host,
  input,
  node_links,
  network,
  startup,
  run_to_run,
  unmodelled,
  scaling
};
inline constexpr std::size_t kUncertainCount = 9;
constexpr std::size_t index_of(Uncertain input) { return static_cast<std::size_t>(input); }

/// What can be measured to know more. `none`: nothing narrows it.
enum class Narrowing : std::uint8_t { none, one_gpu, collectives, input_alone, many_gpus, whole_job };

/// An input of a prediction that is known with a spread: its name, where the spread comes from, and which
/// measurement narrows it.
struct UncertainInput {
  Uncertain which;
  std::string_view name;
  std::string_view origin;  ///< of the spread
  Narrowing narrowed_by;
};

/// In the order of Uncertain.
const std::array<UncertainInput, kUncertainCount>& uncertain_inputs();
inline const UncertainInput& input_of(Uncertain which) { return uncertain_inputs()[index_of(which)]; }

/// "samples per second of this training on one GPU (measured.samples_per_s)".
std::string_view describe(Narrowing measurement);

/// Standard deviations of logarithms, by input: 0.2 is about 20 %.
using Spreads = std::array<double, kUncertainCount>;

/// The unit by which each input is moved, alone, to find how far the step moves with it. Units say nothing
/// about how well an input is known.
const Spreads& unit_moves();

/// Collectives at sizes between measured ones: nine of ten within 15 % (docs/accuracy_calibration.md), over
/// the normal quantile of 95 %.
inline constexpr double kMeasuredCollectives = 0.09;
/// Between two runs of one job.
inline constexpr double kRunToRun = 0.02;
/// Of start-up, validation and checkpoints, assumed: imports and file systems differ by as much. No measured
/// row tells it.
inline constexpr double kStartupSpread = 0.5;

/// What a job of so many GPUs and nodes is known to on a cluster with this calibration, where that is better
/// than `spreads`. Collectives of the very job were measured: to their held-out error. Constants alone narrow
/// kernels and host; collectives of other jobs are known no better than without
/// (docs/accuracy_calibration.md).
Spreads with_calibration(Spreads spreads, const Calibration& calibration, int gpus, int nodes);

}  // namespace foretrain
