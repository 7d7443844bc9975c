// One machine's measured steps beside their predictions: times, memory, and time by kind of kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/validation/validation.hpp"
#include "sim/import/logs/measured_steps.hpp"

namespace foretrain {

/// A measured step, and the row that it is for `validate`.
struct MachineStep {
  MeasuredStep measured;
  Measurement row;
};

/// A step whose time was measured.
struct ScoredStep {
  std::size_t step = 0;               ///< in the list of steps
  std::optional<double> predicted_s;  ///< nothing: see `why_not`
  std::string why_not{};
};

/// Bytes that PyTorch's allocator holds; predicted without scratch memory and the CUDA context.
struct ScoredMemory {
  std::size_t step = 0;
  double parameters = 0, gradients = 0, optimizer = 0, peak = 0;  ///< predicted
};

/// The kernels of one kind in one step.
struct ScoredKernels {
  std::string network, precision, kind;
  std::int64_t batch = 1;
  double measured_s = 0;
  std::optional<double> predicted_s;
};

/// Errors of all predictions for one measured machine: steps, kernels and memory.
struct MachineScores {
  std::vector<ScoredStep> steps;  ///< one for each, in order
  std::vector<ScoredMemory> memory;
  std::vector<ScoredKernels> kernels;  ///< of steps that have kernels
};

/// `change` as of ValidationOptions: the cluster that the rows ran on, with or without what was fitted. Rows
/// have series that are all different. Throws what `progress` throws.
MachineScores score_machine(const std::vector<MachineStep>& steps, const std::vector<MeasuredKernel>& kernels,
                            const std::function<ClusterSpec(ClusterSpec)>& change, const Progress& progress);

/// Bytes that a step needs, without scratch memory that it can do without, and that its GPU has.
struct NeededMemory {
  double needed = 0, there = 0;
};
/// Nothing where the row cannot be simulated.
std::optional<NeededMemory> memory_needed(const Measurement& row);

/// Of the steps that have a prediction and that `counts`.
ErrorStatistics step_errors(const std::vector<MachineStep>& steps, const MachineScores& scores,
                            const std::function<bool(const MachineStep&)>& counts);

}  // namespace foretrain
