// What of a cluster file looks wrong, though it can be built.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// A warning about a cluster file: what looks wrong, what to do about it, and the line.
struct ClusterWarning {
  std::string what, hint;
  int line = 0;  ///< of the cluster's file; 0: of a template, or of no line alone
};

/// GPUs that go to another socket's NIC though every socket could have one, links and NVLinks below those of
/// the product, devices unlike their siblings, NICs faster than their slots. Requires that check() found
/// nothing.
std::vector<ClusterWarning> cluster_warnings(const ClusterSpec& spec);

}  // namespace foretrain
