// Functions of `foretrain compare` that compare clusters for one training.
#pragma once

#include "sim/app/commands.hpp"

namespace foretrain {

/// Returns the command with a server of each GPU in --gpu as a further cluster. Throws one InputError with
/// every name that is unknown or ambiguous.
CompareCommand with_gpu_servers(CompareCommand command);

/// Returns true when `command` compares machines: it has clusters and no --models.
bool asks_for_machines(const CompareCommand& command);

/// Throws InputError for a deadline or prices without clusters to compare.
void refuse_idle_machine_options(const CompareCommand& command);

/// Predicts the training on each cluster and writes which of them to use. Throws InputError,
/// EnvironmentError.
void compare_clusters(const CompareCommand& command);

}  // namespace foretrain
