// The comparison of machines on the command line.
#pragma once

#include "sim/app/commands.hpp"

namespace foretrain {

/// The same with a server of each of --gpu as a further cluster. Throws InputError with every name that is
/// none or has several readings.
CompareCommand with_gpu_servers(CompareCommand command);

/// Whether `command` asks for machines: clusters without --models.
bool asks_for_machines(const CompareCommand& command);

/// Throws InputError for deadline and prices without clusters to compare.
void refuse_idle_machine_options(const CompareCommand& command);

/// Writes which of the clusters to use for one training. Throws InputError.
void compare_clusters(const CompareCommand& command);

}  // namespace foretrain
