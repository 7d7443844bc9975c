// The commands topology show, check and new. `show` prints a cluster as the simulator sees it, `check` prints
// its description and warnings, and `new` writes a first cluster file. A wrong cluster file ends each with
// exit code 1.
//
// `foretrain topology check FILE` prints every mistake of a file and ends with exit code 1, or prints "no
// faults", a description and warnings with exit code 0. Words come from report/topology.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/cluster/node_layout.hpp"
#include "sim/cluster/path_class.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/topology/cluster_warnings.hpp"
#include "sim/report/topology/cluster_words.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

/// Returns one line about nodes of this kind: count, GPUs with their data sheet's figures, and cores.
std::string nodes_line(const ClusterSpec& spec, int kind) {
  const NodeSpec& node = node_of_kind(spec, kind);
  const Gpu& gpu = node.gpu;
  return fmt::format(
      "{}{} with {} x {} ({} fp32, {} at {}), {}", is_mixed(spec) ? name_of_kind(spec, kind) + ": " : "",
      counted(nodes_of_kind(spec, kind), "node"), node.gpus, gpu.name, to_string(gpu.fp32),
      to_string(gpu.memory), to_string(gpu.memory_bandwidth), counted(node.host.cores, "core"));
}

/// Returns the lines with name, description, nodes and fabric.
std::string heading(const ClusterSpec& spec) {
  std::string out = fmt::format("{}: {}\n", spec.name, spec.description);
  for (int kind = 0; kind < kind_count(spec); ++kind) out += (kind > 0 ? "\n" : "") + nodes_line(spec, kind);
  return out + fmt::format("{}fabric {}\n\n", is_mixed(spec) ? "\n" : ", ", spec.fabric.kind);
}

/// Returns the table of links of a node. Columns: both ends, number and type of links, and bandwidth of all
/// of them.
std::string connections(const ClusterSpec& spec) {
  std::string out = "Links of a node (per direction)\n";
  for (const NodeLink& link : spec.node.links) {
    out += fmt::format("  {:<8} {:<8} {:>2} x {:<14} {:>10}\n", link.a, link.b, link.count, link.type.name,
                       to_string(link.type.bandwidth * link.count));
  }
  return out;
}

/// Returns warnings about values that can be simulated but may be typing errors.
std::string doubts(const ClusterSpec& spec) {
  std::string out;
  for (const std::string& doubt : warnings_about(spec)) out += "warning: " + doubt + "\n";
  return out;
}

/// Returns warnings that have a line in the cluster file.
std::string placed_warnings(const std::string& cluster, const ClusterSpec& spec) {
  std::string out;
  for (const ClusterWarning& doubt : cluster_warnings(spec)) {
    const std::string place = doubt.line > 0 ? fmt::format("{}:{}", cluster, doubt.line) : cluster;
    out += fmt::format("warning: {}: {}\n  hint: {}\n", place, doubt.what, doubt.hint);
  }
  return out;
}

/// Returns the switches of the fabric by kind, such as "12 leaf, 4 spine switches".
std::string switches_of(const Cluster& cluster) {
  std::map<VertexKind, int> counts;
  // Vertices outside of nodes are switches.
  for (const Vertex& vertex : cluster.vertices()) {
    if (vertex.node < 0) ++counts[vertex.kind];
  }
  std::string out;
  int all = 0;
  for (const auto& [kind, count] : counts) {
    all += count;
    // The kind's name is "leaf0" without its number.
    const std::string first = name_of(Vertex{kind, -1, 0});
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count,
                       std::string_view(first).substr(0, first.size() - 1));
  }
  return fmt::format("{} {}", out, plural(all, "switch"));
}

/// Returns a line about the fabric: its switches, and the route between its first and last node.
std::string fabric_summary(const ClusterSpec& spec) {
  const Cluster cluster = Cluster::build(spec, spec.nodes);
  const int last = spec.nodes - 1;
  const Route route = cluster.route_between_nodes(cluster.gpu(0, 0), cluster.gpu(last, 0),
                                                  std::max(nearest_nic(cluster, 0), 0),
                                                  std::max(nearest_nic(cluster, 0, last), 0));
  int hops = 0;
  for (const LinkId link : route.links) hops += cluster.links()[link].kind == LinkKind::network ? 1 : 0;
  return fmt::format("\nFabric {}: {}; first to last node: {}, {}{}\n", spec.fabric.kind,
                     switches_of(cluster), counted(hops, "link"), to_string(route.latency),
                     route.staged ? ", staged through host memory" : "");
}

/// Returns a table of path classes between devices, as nvidia-smi topo -m prints them, and the adapter of
/// each GPU.
std::string path_matrix(const Cluster& cluster) {
  const NodeSpec& node = cluster.spec().node;
  std::vector<VertexId> to;
  for (int gpu = 0; gpu < node.gpus; ++gpu) to.push_back(cluster.gpu(0, gpu));
  for (int nic = 0; nic < node.nics; ++nic) to.push_back(cluster.nic(0, nic));
  std::string out = "\nBetween devices: path classes of NCCL\n        ";
  for (const VertexId device : to) out += fmt::format("{:>7}", name_of(cluster.vertices()[device]));
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    out += fmt::format("\n  gpu{:<3}", gpu);
    for (const VertexId device : to) {
      const PathClass path = path_class(cluster, cluster.gpu(0, gpu), device);
      out += fmt::format("{:>7}", path == PathClass::loc ? "-" : name_of(path));
    }
    if (node.nics > 0) out += fmt::format("   uses nic{}", nearest_nic(cluster, gpu));
  }
  return out + "\n";
}

/// Returns a table of the bandwidth of the route between each pair of GPUs. A star marks routes through host
/// memory.
std::string gpu_matrix(const Cluster& cluster) {
  const int gpus = cluster.spec().node.gpus;
  std::string out = "\nBetween GPUs: the narrowest link of the route\n       ";
  for (int b = 0; b < gpus; ++b) out += fmt::format("{:>11}", fmt::format("gpu{}", b));
  for (int a = 0; a < gpus; ++a) {
    out += fmt::format("\n  gpu{:<3}", a);
    for (int b = 0; b < gpus; ++b) {
      if (a == b) {
        out += fmt::format("{:>11}", "-");
        continue;
      }
      const Route route = cluster.route(cluster.gpu(0, a), cluster.gpu(0, b));
      out += fmt::format("{:>11}", to_string(route.bandwidth) + (route.staged ? "*" : ""));
    }
  }
  return out + (out.find('*') == std::string::npos ? "\n" : "\n  * staged through host memory\n");
}

/// Returns the time of an all-reduce on idle links, with its bus bandwidth 2 (n - 1) / n · bytes / time. The
/// message is so large that latency does not matter.
std::string all_reduce_line(const ClusterSpec& spec, const Placement& placement) {
  const int gpus = placement.size();
  const Cluster cluster = Cluster::build(spec, placement.ranks.back().node + 1);
  constexpr Bytes kMessage{std::int64_t{256} << 20};
  const CollectivePlan plan = Communicator(cluster, placement).plan(CollectiveOp::all_reduce, kMessage);
  const double busbw = 2.0 * (gpus - 1) / gpus * static_cast<double>(kMessage.count) / to_seconds(plan.alone);
  return fmt::format("  {:>4} GPUs on {} {:<5}: {:>9} for 256 MiB, busbw {}\n", gpus, placement.nodes,
                     plural(placement.nodes, "node"), to_string(plan.alone), to_string(ByteRate{busbw}));
}

/// Returns the links of a node of this kind and what is between its devices.
std::string node_pages(const ClusterSpec& spec, int kind) {
  const ClusterSpec alone = as_kind(spec, kind);
  std::string out = is_mixed(spec) ? fmt::format("{}Kind {}\n", kind > 0 ? "\n" : "", alone.node_kind) : "";
  out += connections(alone);
  // Warnings are about the whole cluster, so they are printed once.
  if (kind == 0) out += doubts(spec);
  if (alone.node.gpus > 1) out += gpu_matrix(Cluster::build(alone, 1));
  if (alone.node.gpus + alone.node.nics > 1) out += path_matrix(Cluster::build(alone, 1));
  return out;
}

/// Returns a placement on all GPUs of one node of every kind.
Placement one_node_of_each(const ClusterSpec& spec) {
  std::vector<NodeCapacity> rooms;
  int gpus = 0;
  for (int kind = 0; kind < kind_count(spec); ++kind) {
    rooms.push_back({first_node_of_kind(spec, kind), node_of_kind(spec, kind).gpus});
    gpus += rooms.back().gpus;
  }
  return place_on(rooms, gpus, Layout::packed);
}

/// Returns everything that `show` prints about one cluster.
std::string shown_cluster(const ClusterSpec& spec) {
  std::string out = heading(spec);
  for (int kind = 0; kind < kind_count(spec); ++kind) out += node_pages(spec, kind);
  if (spec.nodes > 1) out += fabric_summary(spec);
  out += "\nRing all_reduce on idle links\n";
  // Jobs of two GPUs, of one node and of two nodes, as far as the cluster has so many.
  for (const int gpus : {2, spec.node.gpus, 2 * spec.node.gpus}) {
    if (gpus > 1 && (gpus + spec.node.gpus - 1) / spec.node.gpus <= nodes_of_kind(spec, 0))
      out += all_reduce_line(spec, place_packed(gpus, spec.node.gpus));
  }
  if (is_mixed(spec)) out += all_reduce_line(spec, one_node_of_each(spec));
  return out;
}

/// Returns the description in words and all warnings.
std::string description_and_warnings(const std::string& cluster, const ClusterSpec& spec) {
  return cluster_in_words(spec) + doubts(spec) + placed_warnings(cluster, spec);
}

/// Returns what a job must request to get these nodes, such as "partitions a40, test; type a40".
std::string leads_in_words(const Site& site) {
  std::string partitions;
  for (const Partition& partition : site.partitions)
    partitions += (partitions.empty() ? "" : ", ") + partition.name;
  std::string out = partitions.empty() ? "" : fmt::format("partitions {}", partitions);
  if (!site.gpu_type.empty()) out += fmt::format("{}type {}", out.empty() ? "" : "; ", site.gpu_type);
  if (!site.constraints.empty())
    out += fmt::format("{}features {}", out.empty() ? "" : "; ", fmt::join(site.constraints, ", "));
  return out.empty() ? "" : "A job gets them by " + out + ".\n";
}

/// Returns the check of a site, each of whose kinds of node is a cluster of its own.
std::string checked_site(const TopologyCommand& command, const ClusterSpec& site) {
  std::string out = fmt::format("{}: {}, {}, {} of node, of which a job gets one: no faults\n", site.name,
                                counted(site.nodes, "node"), counted(gpu_count(site), "GPU"),
                                counted(kind_count(site), "kind"));
  for (const ClusterSpec& kind : clusters_of_site(site))
    out += fmt::format("\n{}: {}\n{}{}", kind.name, nodes_line(kind, 0), leads_in_words(kind.site),
                       description_and_warnings(command.cluster, kind));
  return out;
}

/// Prints the check of a cluster with several kinds of node, each as if the cluster had only nodes of this
/// kind.
void check_kinds(const TopologyCommand& command, const ClusterSpec& spec) {
  std::string out = fmt::format("{}: {}, {}, {} of node: no faults\n", spec.name, counted(spec.nodes, "node"),
                                counted(gpu_count(spec), "GPU"), counted(kind_count(spec), "kind"));
  for (int kind = 0; kind < kind_count(spec); ++kind)
    out += nodes_line(spec, kind) + "\n" + description_and_warnings(command.cluster, as_kind(spec, kind));
  write_output("", out);
}

}  // namespace

void run_topology_show(const TopologyCommand& command) {
  if (command.channels) return write_output("", describe_channels(command));
  std::string out;
  for (const ClusterSpec& cluster : clusters_of_site(open_site(command.cluster)))
    out += (out.empty() ? "" : "\n") + shown_cluster(cluster);
  write_output("", out);
}

void run_topology_check(const TopologyCommand& command) {
  // open_site() throws InputError with every mistake of the file, so there are no faults from here on.
  const ClusterSpec spec = open_site(command.cluster);
  if (is_site(spec)) return write_output("", checked_site(command, spec));
  if (is_mixed(spec)) return check_kinds(command, spec);
  write_output("",
               fmt::format("{}: {}, {}, {} per node: no faults\n{}", spec.name, counted(spec.nodes, "node"),
                           counted(gpu_count(spec), "GPU"), counted(std::ssize(spec.node.links) * 2, "link"),
                           description_and_warnings(command.cluster, spec)));
}

void run_topology_new(const NewClusterCommand& command) {
  write_output(command.output, new_cluster_text(command.cluster));
}

}  // namespace foretrain
