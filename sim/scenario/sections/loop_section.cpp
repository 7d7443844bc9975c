// The table [loop]. Every key goes straight into its member of TrainingLoop.
#include "sim/scenario/sections/loop_section.hpp"

#include "sim/workload/framework_profile.hpp"

namespace foretrain {

/// The keys describe the script around the step; the framework sets the defaults of hooks and zero_grad.
const Keys<TrainingLoop>& loop_keys() {
  using Loop = TrainingLoop;
  using Z = TrainingLoop::ZeroGrad;
  using H = LoopHooks;
  static const Keys<Loop> keys{
      // Waits of the host for the GPU.
      {"non_blocking", takes::flag<&Loop::non_blocking>(), "false", "true",
       "inputs are copied asynchronously; otherwise the host waits for the GPU at each batch"},
      {"loss_item_every", takes::integer<&Loop::loss_item_every>(0, 1'000'000), "10", "0",
       "steps between `loss.item()` calls, at which the host waits for the GPU; 0 = never"},
      {"loss_item_before_backward", takes::flag<&Loop::loss_item_before_backward>(), "true", "false",
       "`loss.item()` stands between forward and backward"},
      // Old gradients, metrics and clipping.
      {"zero_grad",
       takes::choice<&Loop::zero_grad>(
           std::vector<Choice<Z>>{{"none", Z::none}, {"set_to_none", Z::set_to_none}, {"zero", Z::zero}}),
       "\"zero\"", "set_to_none",
       "what happens to old gradients; PyTorch before 2.0 fills them with zeros by default"},
      {"metrics",
       takes::choice<&Loop::metrics>(std::vector<Choice<LoopMetrics>>{{"none", LoopMetrics::none},
                                                                      {"accuracy", LoopMetrics::accuracy}}),
       "\"accuracy\"", "none",
       "top-1 and top-5 counted on the GPU and read by two more `.item()`, in the steps that read the loss"},
      {"clip_grad_norm",
       takes::choice<&Loop::clip_grad_norm>(
           std::vector<Choice<GradientClipping>>{{"none", GradientClipping::none},
                                                 {"on_device", GradientClipping::on_device},
                                                 {"read_back", GradientClipping::read_back}}),
       "\"on_device\"", "none",
       "gradients are clipped to a norm; read_back: the script also reads that norm, at which the host waits "
       "for the GPU"},
      // The trainer around the step, and tools that watch it.
      {"hooks",
       takes::choice<&Loop::hooks>(std::vector<Choice<H>>{{"none", H::none},
                                                          {"lightning", H::lightning},
                                                          {"huggingface", H::huggingface},
                                                          {"keras", H::keras},
                                                          {"gradient_noise", H::gradient_noise}}),
       "\"lightning\"", "none; keras in TensorFlow",
       "the trainer around the step, which costs the host some hundred microseconds; gradient_noise also "
       "measures the noise of the gradients (AdaptDL)"},
      {"progress_bar", takes::flag<&Loop::progress_bar>(), "true", "false",
       "Lightning's and Keras' bar shows the loss, for which the host waits in every step"},
      {"profiler",
       takes::choice<&Loop::profiler>(
           std::vector<Choice<LoopProfiler>>{{"none", LoopProfiler::none}, {"line", LoopProfiler::line}}),
       "\"line\"", "none", "a line profiler (kernprof) sees every line of Python"},
      // Any further host time.
      {"overhead", takes::time<&Loop::overhead>(), "\"300 us\"", "0 s",
       "the script's own host time per step on the reference core, besides the above"},
  };
  return keys;
}

/// AdaptDL's trainer exists for PyTorch only.
void read_loop(TableReader& loop, Scenario& scenario) {
  TrainingLoop& script = scenario.workload.loop;
  read_keys(loop, loop_keys(), script);
  if (script.hooks == LoopHooks::gradient_noise && !profile_of(scenario.workload.framework).has_noise_trainer)
    loop.report(loop.span_of("hooks"), "the trainer that measures gradient noise (AdaptDL) is one of PyTorch",
                "leave loop.hooks out, or framework.name");
}

}  // namespace foretrain
