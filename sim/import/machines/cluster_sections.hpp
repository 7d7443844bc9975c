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

/// [site]; nothing where no file names a batch system.
void add_site_section(ClusterText& out, const Site& site);

}  // namespace foretrain
