// The operators of one recorded step as one GPU alone would run them: without what a strategy adds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

/// An operator of forward, or a node of autograd; times in ns.
struct TracedOperator {
  std::string name;             ///< "aten::conv2d", "aten::convolution_backward"
  std::string node;             ///< "ConvolutionBackward0"; empty: forward
  std::vector<std::string> in;  ///< sizes of the tensors among its inputs, where the trace has them
  std::int64_t gpu = 0;         ///< of its kernels
  std::int64_t host = 0;        ///< from its call to the next one, without waits for the GPU
  int kernels = 0;
  int ops = 0;     ///< calls that the profiler recorded in `host`
  int beside = 0;  ///< those of DDP and of the optimizer that stand beside it, which are not in `host`
  int ready = 0;   ///< gradients that are complete after it
  std::vector<std::string> ready_sizes;  ///< theirs, where the trace has them
  bool is_backward() const { return !node.empty(); }
};

/// What happens beside forward and backward, in ns.
struct TracedUpdate {
  std::int64_t host = 0, gpu = 0;
  int kernels = 0;
};

/// One step of a trace as operators and collectives.
struct TracedStep {
  std::vector<TracedOperator> operators;  ///< forward, then backward
  TracedUpdate optimizer;
  std::string optimizer_name;     ///< "SGD"; empty: not marked
  bool optimizer_scales = false;  ///< it multiplies lists or tensors in place, as momentum does
  /// By bucket, in the order of their all-reduces: gradients in it, and its bytes.
  std::vector<std::pair<int, std::int64_t>> buckets;
  std::vector<TraceCollective> broadcasts;             ///< of buffers, before forward
  std::vector<std::vector<std::string>> update_sizes;  ///< lists of tensors that the optimizer was given
  int micro_steps = 1;             ///< backward passes; only the first one's operators are here
  std::size_t after_backward = 0;  ///< operators behind backward that are not the optimizer's
};

/// Names that frameworks and profilers use, shared by traces of both kinds.
inline constexpr std::string_view kEnginePrefix = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kAccumulateGrad = "torch::autograd::AccumulateGrad";
bool is_zero_grad_mark(std::string_view name);
/// Of a collective, or of DDP's own work.
bool is_communication_call(std::string_view name);
/// Operators that hold the whole work of a call and whose inputs say its size.
bool is_known_inner(std::string_view name);
/// "momentum" of "Optimizer.step#SGD.step" when it scales tensors; empty for what is not among the known
/// ones.
std::string optimizer_called(std::string_view torch_name, bool scales);

/// Times are medians over all steps that run the same operators as the typical one.
TracedStep traced_step(const Trace& trace, const TraceSteps& steps);

}  // namespace foretrain
