// Reads network files of ibsim, the simulator of InfiniBand fabrics: a record for each switch and adapter,
// and below it a line for each cable.
//
//   Switch 8 "Switch1"
//   [1] "Hca1"[1] w=4 s=…
//
// Identifiers may be any text, and an adapter is called Hca or Ca. Hosts and cables are taken; widths and
// speeds are not. The text is read twice: adapters may follow the switches that name them. A network without
// an adapter at a switch is reported.
#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/networks/switch_graph.hpp"

namespace foretrain {

namespace {

/// The first line of a record.
struct IbsimHead {
  bool is_switch = false, is_host = false;
  std::string name;
};

/// Reads a line such as `Switch 8 "Switch1"` or `Hca 2 "Hca1"  # "node01 HCA-1"`; neither a switch nor a host
/// for other lines.
IbsimHead ibsim_head_of(std::string_view line) {
  const Words words = words_of(line, 3);
  if (words.size() < 3 || !integer_of(words[1]) || !words[2].starts_with("\"")) return {};
  const std::string_view name = words[2].substr(1, words[2].find('"', 1) - 1);
  return {words[0] == "Switch", words[0] == "Hca" || words[0] == "Ca", std::string(name.substr(0, 200))};
}

/// Returns the far end of a cable, "Hca1" for `[1] "Hca1"[1] w=4 s=…`; empty for other lines.
std::string ibsim_far_end(std::string_view line) {
  const std::size_t close = line.find(']'), open = line.find('"', close);
  if (!line.starts_with("[") || close == std::string_view::npos || open == std::string_view::npos) return "";
  const std::size_t end = line.find('"', open + 1);
  return end == std::string_view::npos ? ""
                                       : std::string(line.substr(open + 1, end - open - 1).substr(0, 200));
}

}  // namespace

/// Only "Hca" counts as the mark: records of ibnetdiscover begin with "Ca", too.
bool is_ibsim_network(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (ibsim_head_of(line.text).is_host && line.text.starts_with("Hca")) return true;
  }
  return false;
}

Machine read_ibsim_network(const SourceText& source, Diagnostics& diagnostics) {
  Machine machine;
  SwitchGraph graph;
  std::set<std::string> hosts;
  // The first pass collects the names of hosts, the second one takes the cables of switches.
  for (int pass = 0; pass < 2; ++pass) {
    IbsimHead open;
    LogLines lines(source.text);
    for (LogLine line; lines.next(line);) {
      const IbsimHead head = ibsim_head_of(line.text);
      if (head.is_switch || head.is_host) open = head;
      if (head.is_host && pass == 0) hosts.insert(head.name);
      const std::string far = ibsim_far_end(line.text);
      if (pass == 0 || far.empty() || !open.is_switch) continue;
      if (machine.place.line == 0) machine.place = {source.name, line.number};
      if (hosts.contains(far))
        graph.add_host(open.name, far);
      else
        graph.add_link(open.name, far, line.text.substr(0, line.text.find(']')));
    }
  }
  machine.fabric = graph.fabric();
  if (machine.fabric.nodes == 0) diagnostics.report({1, 1, 1}, "no Hca of this network is at a Switch");
  return machine;
}

}  // namespace foretrain
