// The readers behind the rows of the catalog of machine files; each is described where it is defined.
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

/// A format is told by what a file holds, never by its name.
struct MachineFormat {
  std::string_view name;
  std::string_view what;  ///< one line for people
  bool (*recognises)(std::string_view text) = nullptr;
  Machine (*read)(const SourceText& source, Diagnostics& diagnostics) = nullptr;
};

/// In the order of trying.
const std::vector<MachineFormat>& machine_formats();

/// Of the first format that recognises it. Throws InputError with every mistake, or with the formats that are
/// known.
Machine read_machine(const SourceText& source);

}  // namespace foretrain
