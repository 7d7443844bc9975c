// Writes those sections of an imported cluster file that need no graph: host, fabric and site.
#pragma once

#include <string>

#include "sim/import/machines/machine.hpp"
#include "sim/scenario/cluster_text.hpp"

namespace foretrain {

/// Writes [node.host] of a machine whose cores are known. What the machine lacks is taken from `like` and
/// marked as assumed.
void add_host_section(ClusterText& out, const Machine& machine, const Host& like);

/// Writes [fabric] with the link `network` of the catalog; `because` becomes the comment behind it.
void add_fabric_section(ClusterText& out, const MachineFabric& fabric, const std::string& network,
                        const std::string& because);

/// Writes [site], or nothing when no file names a batch system. Partitions follow only where all nodes are
/// alike; otherwise add_partitions_of_kinds() writes them.
void add_site_section(ClusterText& out, const Site& site, bool has_one_kind);

/// Writes [[site.partitions]] of a site with several kinds of node.
void add_partitions_of_kinds(ClusterText& out, const std::vector<Partition>& partitions);

/// Writes gpu_type and constraints, by which jobs ask for nodes of a kind.
void add_request_keys(ClusterText& out, const Site& site);

}  // namespace foretrain
