// A table of trainers: hooks around a batch, the progress bar, and whether the bar shows the loss.
#include "sim/workload/device/script_time.hpp"

#include <array>

namespace foretrain {

namespace {

/// The costs of a trainer, in microseconds per step on the reference CPU.
struct Trainer {
  double hooks, bar;
  bool bar_reads_loss;
};

/// A row per LoopHooks, in its order. The bar of a plain loop and of Hugging Face is tqdm's, which draws ten
/// times a second.
constexpr std::array<Trainer, 5> kTrainers{{
    {0, 5, false},     // none
    {250, 150, true},  // lightning
    {300, 5, false},   // huggingface
    {150, 100, true},  // keras, besides the call of the graph
    {300, 5, false},   // gradient_noise, besides its kernels (strategy/step/gradient_noise); assumed
}};

constexpr double kProfiledLines = 10;           // us: the loop's own lines
constexpr double kProfiledCall = 1;             // us: the lines of Python inside one framework call
constexpr FrameworkVersion kLazyResults{2, 2};  // Keras hands out results without reading them since

const Trainer& trainer_of(const TrainingLoop& loop) {
  return kTrainers[static_cast<std::size_t>(loop.hooks)];
}

}  // namespace

Time loop_time(const TrainingLoop& loop) {
  const Trainer& trainer = trainer_of(loop);
  return loop.overhead + microseconds(trainer.hooks + (loop.progress_bar ? trainer.bar : 0));
}

Time profiler_time(const TrainingLoop& loop, std::int64_t calls) {
  if (loop.profiler == LoopProfiler::none) return Time{};
  return microseconds(kProfiledLines + kProfiledCall * static_cast<double>(calls));
}

bool reads_loss(const TrainingLoop& loop, const Framework& framework, int step) {
  if (loop.loss_item_every > 0 && step % loop.loss_item_every == 0) return true;
  if (loop.progress_bar && trainer_of(loop).bar_reads_loss) return true;
  return loop.hooks == LoopHooks::keras && framework.version < kLazyResults;
}

}  // namespace foretrain
