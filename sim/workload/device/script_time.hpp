// Host time of the script around the step, and the steps in which it reads the loss.
#pragma once

#include "sim/base/units.hpp"
#include "sim/workload/framework.hpp"
#include "sim/workload/training_loop.hpp"

namespace foretrain {

/// Returns the time of trainer, progress bar and the script's own overhead, per step on the reference CPU.
/// Sources: docs/models/host.md.
Time loop_time(const TrainingLoop& loop);

/// Returns the time that a line profiler adds to a step in which Python makes `calls` framework calls.
Time profiler_time(const TrainingLoop& loop, std::int64_t calls);

/// True when step number `step` reads the loss. That is where the script says so, where a trainer shows it in
/// its progress bar, and in every step of Keras before TensorFlow 2.2, which turned each batch's results into
/// numbers.
bool reads_loss(const TrainingLoop& loop, const Framework& framework, int step);

}  // namespace foretrain
