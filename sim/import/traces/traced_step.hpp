// Declares the operators of one recorded step as one GPU alone would run them, without what a strategy adds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

/// An operator of forward, or a node of autograd. Times in ns.
struct TracedOperator {
  /// Operator, such as "aten::conv2d" or "aten::convolution_backward".
  std::string name;
  /// Node of autograd, such as "ConvolutionBackward0"; empty: forward.
  std::string node;
  /// Sizes of the tensors among its inputs, where the trace has them.
  std::vector<std::string> in;
  /// Time of its kernels.
  std::int64_t gpu = 0;
  /// Time from its call to the next one, without waits for the GPU.
  std::int64_t host = 0;
  int kernels = 0;
  /// Calls that the profiler recorded in `host`.
  int ops = 0;
  /// Calls of DDP and of the optimizer beside it, which are not in `host`.
  int beside = 0;
  /// Gradients that are complete after it.
  int ready = 0;
  /// Sizes of these gradients, where the trace has them.
  std::vector<std::string> ready_sizes;
  bool is_backward() const { return !node.empty(); }
};

/// Work beside forward and backward, in ns.
struct TracedUpdate {
  std::int64_t host = 0, gpu = 0;
  int kernels = 0;
};

/// One step of a trace as operators and collectives.
struct TracedStep {
  /// Forward, then backward, each in order of time.
  std::vector<TracedOperator> operators;
  TracedUpdate optimizer;
  /// Class of the optimizer, such as "SGD"; empty: not marked.
  std::string optimizer_name;
  /// The optimizer multiplies lists or tensors in place, as momentum does.
  bool optimizer_scales = false;
  /// For each bucket, in the order of the all-reduces: gradients in it, and its bytes.
  std::vector<std::pair<int, std::int64_t>> buckets;
  /// Broadcasts of buffers before forward.
  std::vector<TraceCollective> broadcasts;
  /// Lists of tensors that the optimizer was given.
  std::vector<std::vector<std::string>> update_sizes;
  /// Backward passes; only the operators of the first one are here.
  int micro_steps = 1;
  /// Operators behind backward that are not the optimizer's.
  std::size_t after_backward = 0;
};

/// Names that frameworks and profilers use, shared by traces of both kinds.
inline constexpr std::string_view kEnginePrefix = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kAccumulateGrad = "torch::autograd::AccumulateGrad";
/// Returns whether a mark is that of Optimizer.zero_grad.
bool is_zero_grad_mark(std::string_view name);
/// Returns whether a call is a collective, or DDP's own work.
bool is_communication_call(std::string_view name);
/// Returns whether an operator has the whole work of a call, and inputs that give its size.
bool is_known_inner(std::string_view name);
/// Returns foretrain's name of an optimizer: "momentum" for "SGD" that scales tensors; empty for one that is
/// not known.
std::string optimizer_called(std::string_view torch_name, bool scales);

/// Returns the typical step. Times are medians over all steps that run the same operators as it does.
/// Requires at least one step.
TracedStep traced_step(const Trace& trace, const TraceSteps& steps);

}  // namespace foretrain
