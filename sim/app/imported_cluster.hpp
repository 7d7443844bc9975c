// A cluster file made of what tools or the machine say, written with what people must know of it.
#pragma once

#include <string>

#include "sim/import/machines/machine_cluster.hpp"

namespace foretrain {

/// The text to a file, or standard output where `output` is empty; assumptions and doubts to standard error.
void write_imported(const ImportedCluster& cluster, const std::string& output);

}  // namespace foretrain
