// Reads Slurm's topology.yaml: a list of topologies, each a tree of switches, blocks, a ring, a
// torus, or flat. Sites write it, for example
//
//   - topology: fat
//     cluster_default: true
//     tree: {switches: [{switch: leaf0, nodes: "node[0-17]"}]}
//
// The default topology of the cluster is read, otherwise the first one that names nodes. A ring or a torus
// counts as one switch, with a remark. Uplinks stay open, as in topology.conf. A file that names no nodes is
// reported.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/jobs/yaml.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/networks/switch_graph.hpp"

namespace foretrain {

namespace {

/// Names of one list, at most.
constexpr std::size_t kMostTopologyNames = 100'000;

/// Adds the switches of a tree; only leaves have nodes.
void add_switches_of_tree(const YamlNode& tree, SwitchGraph& graph) {
  for (const YamlNode& entry : tree.at("switches").items) {
    const std::string& name = entry.at("switch").text;
    for (const std::string& below : names_of_list(entry.at("children").text, kMostTopologyNames))
      graph.add_link(name, below, "");
    if (!entry.at("children").is_null()) continue;
    for (const std::string& node : names_of_list(entry.at("nodes").text, kMostTopologyNames))
      graph.add_host(name, node);
  }
}

/// Adds groups of nodes that are near each other: each block or ring is a switch, a torus is one for all its
/// nodes.
void add_groups(const YamlNode& list, std::string_view name_key, SwitchGraph& graph) {
  for (const YamlNode& entry : list.items) {
    for (const std::string& node : names_of_list(entry.at("nodes").text, kMostTopologyNames))
      graph.add_host(entry.at(name_key).text, node);
  }
}

/// One topology with a remark about what its description loses; empty: nothing.
struct ReadTopology {
  SwitchGraph graph;
  std::string remark;
};

ReadTopology topology_of_entry(const YamlNode& entry) {
  ReadTopology out;
  add_switches_of_tree(entry.at("tree"), out.graph);
  add_groups(entry.path("block/blocks"), "block", out.graph);
  add_groups(entry.path("ring/rings"), "ring", out.graph);
  add_groups(entry.path("torus3d/toruses"), "name", out.graph);
  if (!entry.at("ring").is_null()) out.remark = "a ring of nodes is described as one switch";
  if (!entry.at("torus3d").is_null()) out.remark = "a torus of nodes is described as one switch";
  return out;
}

/// Returns all topologies, with the cluster's default in front and the others in the order of the file.
std::vector<YamlNode> topology_entries(const SourceText& source) {
  std::vector<YamlNode> entries;
  for (const YamlNode& document : read_yaml(source))
    entries.insert(entries.end(), document.items.begin(), document.items.end());
  // The default first; the rest as they stand.
  std::stable_partition(entries.begin(), entries.end(),
                        [](const YamlNode& entry) { return entry.at("cluster_default").text == "true"; });
  return entries;
}

}  // namespace

/// Both a name and a kind are needed, since each alone may stand in other YAML files.
bool is_slurm_topology_yaml(std::string_view text) {
  bool has_name = false, has_kind = false;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const std::string_view start = trimmed(line.text);
    has_name = has_name || start.starts_with("- topology:") || start.starts_with("topology:");
    for (const std::string_view kind : {"tree:", "block:", "flat:", "ring:", "torus3d:"})
      has_kind = has_kind || start.starts_with(kind);
  }
  return has_name && has_kind;
}

Machine read_slurm_topology_yaml(const SourceText& source, Diagnostics& diagnostics) {
  Machine machine;
  const std::vector<YamlNode> entries = topology_entries(source);
  for (const YamlNode& entry : entries) {
    const ReadTopology read = topology_of_entry(entry);
    if (read.graph.empty()) continue;
    machine.place = {source.name, entry.span.line};
    machine.fabric = read.graph.fabric();
    machine.fabric.uplinks_per_leaf = 0;  // Slurm knows no cables
    if (!read.remark.empty()) machine.remarks.push_back(read.remark);
    if (entries.size() > 1)
      machine.remarks.push_back(
          fmt::format("of {} topologies {} is read", entries.size(), entry.at("topology").text));
    break;
  }
  if (machine.fabric.nodes == 0)
    diagnostics.report({1, 1, 1}, "no topology of this file names nodes",
                       "tree: switches: - {switch: leaf0, nodes: node[0-17]}");
  return machine;
}

}  // namespace foretrain
