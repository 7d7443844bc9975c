// Nodes that an NVLink fabric joins to one node in NCCL (NVL72).
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"

namespace foretrain::nccl {

/// Returns how many nodes of the cluster are one node to NCCL (src/mnnvl.cc: the members of a clique share
/// one topology). This is FabricSpec::nvlink_domain, and 1 for a job on a single node, which does not use the
/// fabric.
int hosts_per_domain(const ClusterSpec& cluster, const Placement& placement);

/// Returns the cluster whose nodes are the domains. GPU g of host h is GPU h * (GPUs of a host) + g, all
/// NVSwitches are one, and adapters lead to the network between domains. For one host the cluster is
/// unchanged.
ClusterSpec as_domains(const ClusterSpec& cluster, int hosts);

/// Returns the placement of the same ranks in that cluster. A domain has the number of its first node.
Placement as_domains(const Placement& placement, int hosts, int gpus_per_host);

}  // namespace foretrain::nccl
