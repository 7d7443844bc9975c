// Reads Slurm's topology.conf, and what `scontrol show topology` prints: switches with their nodes or the
// switches below them, for example
//
//   SwitchName=leaf0 Nodes=node[0-17]
//   SwitchName=spine Switches=leaf[0-3]
//
// Slurm does not know cables, so the number of uplinks of a leaf stays open. LinkSpeed is ignored. A file
// without nodes is reported.
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/host_list.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/networks/switch_graph.hpp"

namespace foretrain {

namespace {

/// Names of one list, at most.
constexpr std::size_t kMostListed = 100'000;

/// The values of one line; empty ones are not given.
struct SwitchLine {
  std::string name, nodes, switches;
};

/// Reads one line. A block of the topology/block plugin counts as a switch: its nodes are near each other.
SwitchLine switch_line_of(std::string_view line) {
  SwitchLine out;
  for (const std::string_view word : words_of(line, 40)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1, 4000);
    if (key == "SwitchName" || key == "BlockName") out.name = value;
    if (key == "Nodes") out.nodes = value;
    if (key == "Switches") out.switches = value;
  }
  return out;
}

}  // namespace

bool is_slurm_switches(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (!line.text.starts_with("#") && !switch_line_of(line.text).name.empty()) return true;
  }
  return false;
}

Machine read_slurm_switches(const SourceText& source, Diagnostics& diagnostics) {
  Machine machine;
  SwitchGraph graph;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    const SwitchLine entry = line.text.starts_with("#") ? SwitchLine{} : switch_line_of(line.text);
    if (entry.name.empty()) continue;
    if (machine.place.line == 0) machine.place = {source.name, line.number};
    // Only leaves count: Slurm shows the nodes of a switch at every level above it, too.
    if (entry.switches.empty()) {
      for (const std::string& node : names_of_list(entry.nodes, kMostListed))
        graph.add_host(entry.name, node);
    }
    for (const std::string& below : names_of_list(entry.switches, kMostListed))
      graph.add_link(entry.name, below, "");
  }
  machine.fabric = graph.fabric();
  // Links here are relations without cables, so their number is no number of uplinks.
  machine.fabric.uplinks_per_leaf = 0;
  if (machine.fabric.nodes == 0)
    diagnostics.report({1, 1, 1}, "no switch of this file has nodes", "SwitchName=leaf0 Nodes=node[0-17]");
  return machine;
}

}  // namespace foretrain
