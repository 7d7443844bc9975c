// Links in words.
#pragma once

#include <string>

#include "sim/cluster/cluster.hpp"

namespace foretrain {

/// "gpu0 to nvswitch0 in node 0", "nic0 of node 0 to leaf0", "leaf0 to spine1". Requires a link of the
/// cluster.
std::string describe_link(const Cluster& cluster, LinkId link);

}  // namespace foretrain
