// Nodes that an NVLink fabric joins to one (NVL72): what they are to NCCL.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"

namespace foretrain::nccl {

/// Nodes of the cluster that are one node to NCCL (src/mnnvl.cc: the members of a clique share one topology):
/// FabricSpec::nvlink_domain, and 1 for a job on a single node, which has no use for it.
int hosts_per_domain(const ClusterSpec& cluster, const Placement& placement);

/// The cluster whose nodes are the domains: GPU g of host h is GPU h * (GPUs of a host) + g, NVSwitches are
/// one, adapters lead to the network between domains. Unchanged for one host.
ClusterSpec as_domains(const ClusterSpec& cluster, int hosts);

/// The same ranks in it. A domain goes by the number of its first node.
Placement as_domains(const Placement& placement, int hosts, int gpus_per_host);

}  // namespace foretrain::nccl
