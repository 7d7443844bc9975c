// The catalog of machine files. Formats are tried in the order of the table: marks that no other format has
// come first, general ones last.
#include <fmt/format.h>

#include "sim/import/machines/readers.hpp"

namespace foretrain {

namespace {

/// Returns the names of all formats in one line, for the hint of an error.
std::string known_formats() {
  std::string out = "known:";
  for (const MachineFormat& format : machine_formats())
    out += fmt::format("{} {}", &format == &machine_formats().front() ? "" : ",", format.name);
  return out;
}

}  // namespace

const std::vector<MachineFormat>& machine_formats() {
  static const std::vector<MachineFormat> rows{
      {"NCCL topology XML", "NCCL_TOPO_DUMP_FILE, or the file a cloud injects", is_nccl_topology,
       read_nccl_topology},
      {"NCCL graph XML", "NCCL_GRAPH_DUMP_FILE, beside a node: compared with our search", is_nccl_graph,
       read_nccl_graph},
      {"SimGrid platform", "platform XML: hosts, links, zones", is_simgrid_platform, read_simgrid_platform},
      {"hwloc XML", "lstopo machine.xml", is_hwloc_xml, read_hwloc_xml},
      {"Kubernetes node", "kubectl describe node; kubectl get node -o yaml or json", is_kubernetes_node,
       read_kubernetes_node},
      {"InfraGraph", "YAML of devices, instances, edges", is_infragraph, read_infragraph},
      {"Slurm topology.yaml", "trees and blocks of nodes", is_slurm_topology_yaml, read_slurm_topology_yaml},
      {"rocm-smi --showtopo", "weights, hops and link types of AMD GPUs", is_rocm_topology,
       read_rocm_topology},
      {"nvidia-smi -q", "also -q -x: products, lanes, memory", is_gpu_query, read_gpu_query},
      {"nvidia-smi topo -p2p", "which GPUs reach each other", is_peer_table, read_peer_table},
      {"nvidia-smi topo -m", "also -mp; pasted with prompts, colours or as Markdown", is_topology_matrix,
       read_topology_matrix},
      {"nvidia-smi -L", "also nvlink -s: products, NVLinks of each", is_gpu_list, read_gpu_list},
      {"Slurm nodes", "scontrol show node, NodeName= of slurm.conf and gres.conf", is_slurm_nodes,
       read_slurm_nodes},
      {"Slurm topology.conf", "SwitchName= lines, scontrol show topology", is_slurm_switches,
       read_slurm_switches},
      {"Slurm partitions", "scontrol show partition, beside nodes", is_slurm_partitions,
       read_slurm_partitions},
      {"sinfo", "partitions, and with %G nodes and GPUs; also -N -l", is_slurm_table, read_slurm_table},
      {"pbsnodes", "pbsnodes -a of PBS and Torque: nodes, GPUs, queues", is_pbs_nodes, read_pbs_nodes},
      {"LSF hosts", "bhosts -gpu, lshosts, lsload -gpu and -gpuload", is_lsf_hosts, read_lsf_hosts},
      {"ibsim network", "Switch and Hca records", is_ibsim_network, read_ibsim_network},
      {"ibnetdiscover", "also iblinkinfo: switches and hosts of InfiniBand", is_ib_discovery,
       read_ib_discovery},
      {"ibstat", "also ibstatus, ibv_devinfo: adapters and the rates of their ports", is_ib_adapters,
       read_ib_adapters},
      {"lspci -tv", "also lists, -nn and -vv: PCI devices", is_lspci, read_lspci},
      {"nvidia-smi", "its table: products, PCI addresses, memory", is_gpu_table, read_gpu_table},
      {"lscpu", "model, sockets, cores", is_processor_list, read_processor_list},
      {"NCCL_DEBUG=INFO", "NCCL's log: version, ranks, adapters, sockets", is_nccl_log, read_nccl_log}};
  return rows;
}

Machine read_machine(const SourceText& source) {
  for (const MachineFormat& format : machine_formats()) {
    if (!format.recognises(source.text)) continue;
    Machine machine = read_or_throw(source, format.read);
    // The catalog's name is what users see, whatever the reader put there.
    machine.format = format.name;
    if (machine.place.file.empty()) machine.place.file = source.name;
    return machine;
  }
  throw InputError(
      {{source.name, {}, "", "this is no description of a machine that is known", known_formats()}});
}

}  // namespace foretrain
