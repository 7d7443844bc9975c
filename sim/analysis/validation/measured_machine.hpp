// The measured steps of one machine beside their predictions: times, memory, and time by kind of kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/validation/validation.hpp"
#include "sim/import/logs/measured_steps.hpp"

namespace foretrain {

/// A measured step, and the same step as a row of `validate`.
struct MachineStep {
  MeasuredStep measured;
  Measurement row;
};

/// A step whose time was measured.
struct ScoredStep {
  /// Index in the list of steps.
  std::size_t step = 0;
  /// Absent for the reason in `why_not`.
  std::optional<double> predicted_s;
  std::string why_not{};
};

/// Predicted bytes that PyTorch's allocator holds, without scratch memory and the CUDA context.
struct ScoredMemory {
  /// Index in the list of steps.
  std::size_t step = 0;
  /// Predicted bytes by part, and their peak.
  double parameters = 0, gradients = 0, optimizer = 0, peak = 0;
};

/// The kernels of one kind in one step.
struct ScoredKernels {
  std::string network, precision, kind;
  std::int64_t batch = 1;
  double measured_s = 0;
  std::optional<double> predicted_s;
};

/// The predictions for one measured machine: steps, kernels and memory.
struct MachineScores {
  /// Entries by step, in order.
  std::vector<ScoredStep> steps;
  std::vector<ScoredMemory> memory;
  /// Kernels of the steps that were traced.
  std::vector<ScoredKernels> kernels;
};

/// Predicts all steps, and memory and kernels of those that can be predicted. `change` is as in
/// ValidationOptions: the cluster that the rows ran on, with or without fitted constants. The series of all
/// rows must differ. Passes on what `progress` throws.
MachineScores score_machine(const std::vector<MachineStep>& steps, const std::vector<MeasuredKernel>& kernels,
                            const std::function<ClusterSpec(ClusterSpec)>& change, const Progress& progress);

/// Bytes that a step needs, without scratch memory that it can do without, and bytes that its GPU has.
struct NeededMemory {
  double needed = 0, there = 0;
};
/// Returns the memory of a row; nothing where the row cannot be simulated.
std::optional<NeededMemory> memory_needed(const Measurement& row);

/// Returns the errors of the steps that have a prediction and that `counts` accepts.
ErrorStatistics step_errors(const std::vector<MachineStep>& steps, const MachineScores& scores,
                            const std::function<bool(const MachineStep&)>& counts);

}  // namespace foretrain
