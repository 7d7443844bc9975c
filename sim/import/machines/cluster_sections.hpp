// Sections of an imported cluster file that need no graph: host, fabric, site.
#pragma once

#include <string>

#include "sim/import/machines/machine.hpp"
#include "sim/scenario/cluster_text.hpp"

namespace foretrain {

/// [node.host] of a machine whose cores are known; what it does not say is that of `like`, and assumed.
void add_host_section(ClusterText& out, const Machine& machine, const Host& like);

/// [fabric] with the link `network` of the catalog; `because` stands behind it.
void add_fabric_section(ClusterText& out, const MachineFabric& fabric, const std::string& network,
                        const std::string& because);

/// [site]; nothing where no file names a batch system. Partitions follow where all nodes are alike.
void add_site_section(ClusterText& out, const Site& site, bool has_one_kind);

/// [[site.partitions]] of a site with several kinds of node.
void add_partitions_of_kinds(ClusterText& out, const std::vector<Partition>& partitions);

/// gpu_type and constraints, by which jobs ask for nodes of a kind.
void add_request_keys(ClusterText& out, const Site& site);

}  // namespace foretrain
