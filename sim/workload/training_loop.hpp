// The script around the step: the host's work besides the framework's own calls, and the places where it
// waits for the GPU.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"

namespace foretrain {

/// The loop that calls the step: plain Python, or a trainer with hooks around every batch. gradient_noise is
/// a trainer that also measures the gradients' noise, as AdaptDL does.
enum class LoopHooks : std::uint8_t { none, lightning, huggingface, keras, gradient_noise };
/// Metrics in the step. accuracy: top-1 and top-5 are counted on the GPU, and read by two more `.item()`
/// where the loss is read.
enum class LoopMetrics : std::uint8_t { none, accuracy };
/// clip_grad_norm_ is not called; called; or called with its result read by the script (`.item()`,
/// error_if_nonfinite).
enum class GradientClipping : std::uint8_t { none, on_device, read_back };
/// A profiler of the loop. line: a line profiler (kernprof), whose trace function is called for every line of
/// Python.
enum class LoopProfiler : std::uint8_t { none, line };

/// The work of a training script in each step besides forward, backward and the optimizer: reads of the loss,
/// metrics, clipping, hooks and progress bars. Each of them may synchronize host and GPU.
struct TrainingLoop {
  bool non_blocking = true;  ///< inputs are copied asynchronously; otherwise the host waits for the stream
  int loss_item_every = 0;   ///< steps between `loss.item()` calls, 0 = never
  bool loss_item_before_backward = false;
  enum class ZeroGrad : std::uint8_t { none, set_to_none, zero } zero_grad = ZeroGrad::set_to_none;
  LoopMetrics metrics = LoopMetrics::none;
  GradientClipping clip_grad_norm = GradientClipping::none;
  LoopHooks hooks = LoopHooks::none;
  bool progress_bar = false;
  LoopProfiler profiler = LoopProfiler::none;
  Time overhead{};  ///< per step on the reference CPU, besides all of the above
};

}  // namespace foretrain
