// The uncertain inputs of a prediction: each with the source of its spread and the measurement that would
// narrow it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// An input of a prediction that is not known exactly. `unmodelled` is what the model leaves out of a step,
/// on one GPU already. `scaling` is what it leaves out of a larger job relative to a smaller one.
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
/// Returns the index of an input in all arrays of this module.
constexpr std::size_t index_of(Uncertain input) { return static_cast<std::size_t>(input); }

/// A measurement that narrows an input; `none` if nothing does.
enum class Narrowing : std::uint8_t { none, one_gpu, collectives, input_alone, many_gpus, whole_job };

/// An input with its name, the source of its spread, and the measurement that narrows it.
struct UncertainInput {
  Uncertain which;
  std::string_view name;
  /// Source of the spread.
  std::string_view origin;
  Narrowing narrowed_by;
};

/// Returns all inputs in the order of Uncertain.
const std::array<UncertainInput, kUncertainCount>& uncertain_inputs();
/// Returns the row of one input.
inline const UncertainInput& input_of(Uncertain which) { return uncertain_inputs()[index_of(which)]; }

/// Returns the measurement in words: "samples per second of this training on one GPU
/// (measured.samples_per_s)".
std::string_view describe(Narrowing measurement);

/// Standard deviations of logarithms, by input: 0.2 is about 20 %.
using Spreads = std::array<double, kUncertainCount>;

/// Returns the unit by which each input alone is moved, to find how far the step moves with it. Units say
/// nothing about how well an input is known.
const Spreads& unit_moves();

/// Standard deviation of collectives at sizes between measured ones: nine of ten within 15 %
/// (docs/accuracy_calibration.md), divided by the normal quantile of 95 %.
inline constexpr double kMeasuredCollectives = 0.09;
/// Standard deviation between two runs of one job.
inline constexpr double kRunToRun = 0.02;
/// Standard deviation of start-up, validation and checkpoints. It is assumed, because imports and file
/// systems differ by as much and no measured row shows it.
inline constexpr double kStartupSpread = 0.5;

/// Returns `spreads` limited to what a calibration of the cluster knows about a job of this size. Measured
/// collectives of the same job limit links to their held-out error. Measured constants limit kernels and
/// host. Collectives of other jobs limit nothing (docs/accuracy_calibration.md).
Spreads with_calibration(Spreads spreads, const Calibration& calibration, int gpus, int nodes);

}  // namespace foretrain
