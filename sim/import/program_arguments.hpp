// What the arguments of a training program say about the run.
#pragma once

#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Reads the options that are known from `words[from]` on. Their keys: batch (of a process), batch_per_gpu,
/// global_batch, epochs, workers, accumulation, strategy, precision, gpus, model, no_gpu, deepspeed, fsdp.
/// Values that are not known are reported.
std::vector<ProgramArgument> read_arguments(const std::vector<ShellWord>& words, std::size_t from,
                                            std::vector<NotUnderstood>& not_understood);

/// The last argument of a key; nothing when there is none.
const ProgramArgument* find_argument(const std::vector<ProgramArgument>& arguments, std::string_view key);

}  // namespace foretrain
