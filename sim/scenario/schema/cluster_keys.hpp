// Every key of cluster files and of the files that they name. Each key is declared where it is read, and the
// reference page prints the same rows. The rows live as long as the program.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Return the keys of one kind of table. A comment names the file that declares them.
const Keys<Gpu>& gpu_keys();              // schema_gpu.cpp
const Keys<GpuPorts>& gpu_port_keys();    // schema_gpu.cpp
const Keys<LinkType>& link_keys();        // schema_link.cpp
const Keys<StorageSpec>& storage_keys();  // schema_storage.cpp
const Keys<Site>& site_keys();            // schema_site.cpp
const Keys<Partition>& partition_keys();  // schema_site.cpp
const Keys<NodeKind>& kind_site_keys();   // schema_site.cpp
const Keys<Billing>& billing_keys();      // schema_site.cpp

/// Returns the families of CPUs that NCCL distinguishes, with their names in files.
const std::vector<Choice<HostFamily>>& host_families();  // schema_node.cpp

/// Return the tables of the node and of the fabric on the reference page.
std::vector<KeyTable> node_key_tables();    // schema_node.cpp
std::vector<KeyTable> fabric_key_tables();  // schema_fabric.cpp
/// Returns all tables of a cluster file, in the order of the page.
std::vector<KeyTable> cluster_key_tables();  // schema_cluster.cpp

}  // namespace foretrain
