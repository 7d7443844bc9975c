// The readers behind the rows of the catalog of machine files.
// Each is_… says by its marks whether a text has the format. Each read_… turns it into a Machine and reports
// mistakes to `diagnostics`. The format is described at the top of the .cpp file with that name. Those of
// batch systems are in sim/import/sites, those of networks in sim/import/networks.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/machines/machine.hpp"

namespace foretrain {

bool is_nccl_topology(std::string_view text);
Machine read_nccl_topology(const SourceText& source, Diagnostics& diagnostics);

bool is_topology_matrix(std::string_view text);
Machine read_topology_matrix(const SourceText& source, Diagnostics& diagnostics);

bool is_hwloc_xml(std::string_view text);
Machine read_hwloc_xml(const SourceText& source, Diagnostics& diagnostics);

bool is_gpu_query(std::string_view text);
Machine read_gpu_query(const SourceText& source, Diagnostics& diagnostics);

bool is_gpu_list(std::string_view text);
Machine read_gpu_list(const SourceText& source, Diagnostics& diagnostics);

bool is_peer_table(std::string_view text);
Machine read_peer_table(const SourceText& source, Diagnostics& diagnostics);

bool is_slurm_nodes(std::string_view text);
Machine read_slurm_nodes(const SourceText& source, Diagnostics& diagnostics);

bool is_slurm_switches(std::string_view text);
Machine read_slurm_switches(const SourceText& source, Diagnostics& diagnostics);

bool is_slurm_table(std::string_view text);
Machine read_slurm_table(const SourceText& source, Diagnostics& diagnostics);

bool is_slurm_partitions(std::string_view text);
Machine read_slurm_partitions(const SourceText& source, Diagnostics& diagnostics);

bool is_pbs_nodes(std::string_view text);
Machine read_pbs_nodes(const SourceText& source, Diagnostics& diagnostics);

bool is_lsf_hosts(std::string_view text);
Machine read_lsf_hosts(const SourceText& source, Diagnostics& diagnostics);

bool is_ib_discovery(std::string_view text);
Machine read_ib_discovery(const SourceText& source, Diagnostics& diagnostics);

bool is_ibsim_network(std::string_view text);
Machine read_ibsim_network(const SourceText& source, Diagnostics& diagnostics);

bool is_ib_adapters(std::string_view text);
Machine read_ib_adapters(const SourceText& source, Diagnostics& diagnostics);

bool is_lspci(std::string_view text);
Machine read_lspci(const SourceText& source, Diagnostics& diagnostics);

bool is_rocm_topology(std::string_view text);
Machine read_rocm_topology(const SourceText& source, Diagnostics& diagnostics);

bool is_simgrid_platform(std::string_view text);
Machine read_simgrid_platform(const SourceText& source, Diagnostics& diagnostics);

bool is_infragraph(std::string_view text);
Machine read_infragraph(const SourceText& source, Diagnostics& diagnostics);

bool is_slurm_topology_yaml(std::string_view text);
Machine read_slurm_topology_yaml(const SourceText& source, Diagnostics& diagnostics);

bool is_kubernetes_node(std::string_view text);
Machine read_kubernetes_node(const SourceText& source, Diagnostics& diagnostics);

bool is_nccl_graph(std::string_view text);
Machine read_nccl_graph(const SourceText& source, Diagnostics& diagnostics);

bool is_gpu_table(std::string_view text);
Machine read_gpu_table(const SourceText& source, Diagnostics& diagnostics);

bool is_processor_list(std::string_view text);
Machine read_processor_list(const SourceText& source, Diagnostics& diagnostics);

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
