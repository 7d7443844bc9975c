// Warnings about cluster files: values that can be simulated but look wrong.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// A warning: what looks wrong, what to do about it, and where.
struct ClusterWarning {
  std::string what, hint;
  /// Line in the cluster's file; 0: in a template, or no single line.
  int line = 0;
};

/// Returns warnings about GPUs that use another socket's adapter though every socket could have one, links
/// and NVLinks below those of the product, devices that differ from others of their kind, and adapters faster
/// than their slots. Precondition: check() found nothing.
std::vector<ClusterWarning> cluster_warnings(const ClusterSpec& spec);

}  // namespace foretrain
