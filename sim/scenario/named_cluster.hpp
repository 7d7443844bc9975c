// A cluster by name or path, for commands that need nothing else of a scenario.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Reads an entry of the cluster catalog, or a file when the name has a slash or ends in ".toml". Throws InputError with every mistake in
/// the file, or with near names when there is none.
ClusterSpec open_cluster(const std::string& name);
/// The same as if its file named no calibration.
ClusterSpec open_uncalibrated_cluster(const std::string& name);

}  // namespace foretrain
