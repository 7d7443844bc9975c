// Reads what the arguments of a training program say about the run.
#pragma once

#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Reads the known options from `words[from]` on, in the order of the line.
/// Keys are batch (of one process), batch_per_gpu, global_batch, epochs, workers, accumulation, strategy,
/// precision, fp16, bf16, gpus, model, clip, no_gpu, deepspeed and fsdp.
/// A flag has the value "true". Options whose values are unknown before the script runs are added to
/// `not_understood`; unknown options are skipped.
std::vector<ProgramArgument> read_arguments(const std::vector<ShellWord>& words, std::size_t from,
                                            std::vector<NotUnderstood>& not_understood);

/// Returns the last argument with a key; nullptr when there is none. The pointer is valid as long as the
/// vector is.
const ProgramArgument* find_argument(const std::vector<ProgramArgument>& arguments, std::string_view key);

}  // namespace foretrain
