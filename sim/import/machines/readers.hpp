// The readers behind the rows of the catalog of machine files.
// The functions is_… say by its marks whether a text has the format. The functions read_… turn it into a
// Machine and report mistakes to `diagnostics`. The format is described at the top of the .cpp file of the
// reader. Readers of batch systems are in sim/import/sites, those of networks in sim/import/networks, and
// some of what people paste in sim/import/pasted.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// NCCL_TOPO_DUMP_FILE, or the topology file that a cloud gives to NCCL: PCIe and NVLinks of a node.
bool is_nccl_topology(std::string_view text);
Machine read_nccl_topology(const SourceText& source, Diagnostics& diagnostics);

/// nvidia-smi topo -m: paths and NVLinks between GPUs and adapters.
bool is_topology_matrix(std::string_view text);
Machine read_topology_matrix(const SourceText& source, Diagnostics& diagnostics);

/// lstopo's XML: sockets, memory and PCIe of a node.
bool is_hwloc_xml(std::string_view text);
Machine read_hwloc_xml(const SourceText& source, Diagnostics& diagnostics);

/// nvidia-smi -q, as text or XML: products, memory and lanes of the GPUs.
bool is_gpu_query(std::string_view text);
Machine read_gpu_query(const SourceText& source, Diagnostics& diagnostics);

/// nvidia-smi -L: products of the GPUs.
bool is_gpu_list(std::string_view text);
Machine read_gpu_list(const SourceText& source, Diagnostics& diagnostics);

/// nvidia-smi topo -p2p: which GPUs reach each other's memory.
bool is_peer_table(std::string_view text);
Machine read_peer_table(const SourceText& source, Diagnostics& diagnostics);

/// scontrol show node, slurm.conf and gres.conf: nodes and their GPUs.
bool is_slurm_nodes(std::string_view text);
Machine read_slurm_nodes(const SourceText& source, Diagnostics& diagnostics);

/// topology.conf and scontrol show topology: switches between nodes.
bool is_slurm_switches(std::string_view text);
Machine read_slurm_switches(const SourceText& source, Diagnostics& diagnostics);

/// sinfo: partitions, nodes and GPUs.
bool is_slurm_table(std::string_view text);
Machine read_slurm_table(const SourceText& source, Diagnostics& diagnostics);

/// scontrol show partition: partitions and their limits.
bool is_slurm_partitions(std::string_view text);
Machine read_slurm_partitions(const SourceText& source, Diagnostics& diagnostics);

/// pbsnodes -a of PBS and Torque: nodes, GPUs and queues.
bool is_pbs_nodes(std::string_view text);
Machine read_pbs_nodes(const SourceText& source, Diagnostics& diagnostics);

/// bhosts, lshosts and lsload of LSF: hosts and GPUs.
bool is_lsf_hosts(std::string_view text);
Machine read_lsf_hosts(const SourceText& source, Diagnostics& diagnostics);

/// ibnetdiscover and iblinkinfo: switches and hosts of InfiniBand.
bool is_ib_discovery(std::string_view text);
Machine read_ib_discovery(const SourceText& source, Diagnostics& diagnostics);

/// Network files of ibsim: switches and adapters.
bool is_ibsim_network(std::string_view text);
Machine read_ibsim_network(const SourceText& source, Diagnostics& diagnostics);

/// ibstat, ibstatus and ibv_devinfo: adapters of a node and the rates of their ports.
bool is_ib_adapters(std::string_view text);
Machine read_ib_adapters(const SourceText& source, Diagnostics& diagnostics);

/// lspci, as a tree or list: PCI devices of a node.
bool is_lspci(std::string_view text);
Machine read_lspci(const SourceText& source, Diagnostics& diagnostics);

/// rocm-smi --showtopo: links between AMD's GPUs.
bool is_rocm_topology(std::string_view text);
Machine read_rocm_topology(const SourceText& source, Diagnostics& diagnostics);

/// SimGrid's platform XML: hosts, links and zones.
bool is_simgrid_platform(std::string_view text);
Machine read_simgrid_platform(const SourceText& source, Diagnostics& diagnostics);

/// InfraGraph's YAML: devices, instances and edges.
bool is_infragraph(std::string_view text);
Machine read_infragraph(const SourceText& source, Diagnostics& diagnostics);

/// Slurm's topology.yaml: trees and blocks of nodes.
bool is_slurm_topology_yaml(std::string_view text);
Machine read_slurm_topology_yaml(const SourceText& source, Diagnostics& diagnostics);

/// kubectl describe node, or get node as YAML or JSON: GPUs, CPUs and memory of nodes.
bool is_kubernetes_node(std::string_view text);
Machine read_kubernetes_node(const SourceText& source, Diagnostics& diagnostics);

/// NCCL_GRAPH_DUMP_FILE: the channels that NCCL found.
bool is_nccl_graph(std::string_view text);
Machine read_nccl_graph(const SourceText& source, Diagnostics& diagnostics);

/// The table that nvidia-smi prints without options: products, PCI addresses and memory.
bool is_gpu_table(std::string_view text);
Machine read_gpu_table(const SourceText& source, Diagnostics& diagnostics);

/// lscpu: model, sockets and cores of a node.
bool is_processor_list(std::string_view text);
Machine read_processor_list(const SourceText& source, Diagnostics& diagnostics);

/// The log of NCCL_DEBUG=INFO: version, ranks, adapters and sockets.
bool is_nccl_log(std::string_view text);
Machine read_nccl_log(const SourceText& source, Diagnostics& diagnostics);

/// A format of machine files. It is recognised by the content of a file, never by its name.
struct MachineFormat {
  std::string_view name;
  /// Description in one line, for lists of formats.
  std::string_view what;
  bool (*recognises)(std::string_view text) = nullptr;
  Machine (*read)(const SourceText& source, Diagnostics& diagnostics) = nullptr;
};

/// Returns all formats in the order in which they are tried.
const std::vector<MachineFormat>& machine_formats();

/// Reads a file with the first format that recognises it. Throws InputError with every mistake of the file,
/// or with the names of the known formats when none recognises it.
Machine read_machine(const SourceText& source);

}  // namespace foretrain
