// Reads what the InfiniBand tools ibnetdiscover (plain and with -p) and iblinkinfo print: which adapter is at
// which switch, by cable and rate.
//
// Administrators run them on a node that sees the fabric. Lines of the four forms are
//
//   Switch 40 "S-…" and below it [21] "H-…"[1] # "node01 mlx5_0" lid 2 4xHDR     (ibnetdiscover)
//   SW 1719 10 0x… 4x EDR - CA 134 1 0x… ( 'switch' - 'host HCA-1' )             (ibnetdiscover -p)
//   CA: cu01 HCA-1: and below it 0x… 1 1[ ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 3 40[ ] "switch" ( )
//   0x… "host HCA-1" 612 1[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> 0x… 496 20[ ] "switch" ( )
//
// Each line is offered to all four readers, because a text may hold several outputs. Taken are hosts,
// adapters, cables and rates. Lids, states of ports, and aggregation nodes (SHARP) are skipped. A text
// without a host at a switch is reported.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/networks/switch_graph.hpp"

namespace foretrain {

namespace {

/// Returns what stands between the n-th pair of marks, from 0; empty when there are fewer pairs.
std::string_view between(std::string_view line, char mark, int nth) {
  for (int i = 0; i <= nth; ++i) {
    const std::size_t open = line.find(mark);
    const std::size_t close = open == std::string_view::npos ? open : line.find(mark, open + 1);
    if (close == std::string_view::npos) return "";
    if (i == nth) return line.substr(open + 1, close - open - 1);
    line.remove_prefix(close + 1);
  }
  return "";
}

/// Returns the host in "node01 mlx5_0" or "o0001 HCA-1". Nodes with several adapters are one host.
std::string host_of(std::string_view description) {
  const Words words = words_of(description, 2);
  return words.empty() ? "" : std::string(words[0]);
}

/// Returns the adapter in "node01 mlx5_0"; empty where the description has one word.
std::string adapter_of_host(std::string_view description) {
  const Words words = words_of(description, 2);
  return words.size() < 2 ? "" : std::string(words[1]);
}

/// Returns whether a port belongs to a switch's own aggregation unit, which looks like a host in the listing.
bool is_aggregation(std::string_view description) { return holds(description, "Aggregation Node"); }

/// Reads the plain form: `Switch 40 "S-…"` opens a record, and `[21] "S-…"[1] # "spine-1" lid 2 4xHDR` is one
/// of its cables.
class PlainDiscovery {
 public:
  explicit PlainDiscovery(SwitchGraph& graph) : graph_(graph) {}

  void take(std::string_view line) {
    const std::string_view id = between(line, '"', 0);
    // Records of adapters and routers repeat the cables from the other end, so they are passed over.
    if (line.starts_with("Switch"))
      open_ = std::string(id);
    else if (line.starts_with("Ca") || line.starts_with("Rt") || line.starts_with("vendid"))
      open_.clear();
    else if (line.starts_with("[") && !open_.empty())
      cable(line, id);
  }

 private:
  /// Takes one cable: "H-…" is a host, "S-…" another switch. The rate stands behind the lid.
  void cable(std::string_view line, std::string_view id) {
    const std::string_view told = between(line, '"', 1);
    const std::size_t lid = line.rfind("lid ");
    const double gbps = lid == std::string_view::npos ? 0 : infiniband_gbps(line.substr(lid));
    if (id.starts_with("H-") && !is_aggregation(told)) {
      graph_.add_host(open_, host_of(told), gbps);
      // The port of the adapter stands behind its number: "H-…"[1].
      const std::size_t behind = line.find(id) + id.size() + 1;
      const std::string_view port = line.substr(std::min(behind, line.size()), 4);
      graph_.add_adapter(host_of(told), fmt::format("{}{}", id, port.substr(0, port.find(']'))),
                         adapter_of_host(told));
    }
    if (id.starts_with("S-"))
      graph_.add_link(open_, std::string(id), std::string(line.substr(0, line.find(']'))));
  }

  SwitchGraph& graph_;
  std::string open_;
};

/// Reads a line of `ibnetdiscover -p`, from either end: `SW 1719 10 0x… 4x EDR - CA 134 1 0x… ( 'switch' -
/// 'host HCA-1' )`.
void take_port_line(std::string_view line, SwitchGraph& graph) {
  const Words words = words_of(line, 12);
  if (words.size() < 11 || words[6] != "-") return;
  const std::string rate = std::string(words[4]) + std::string(words[5]);
  const std::string near(between(line, '\'', 0)), far(between(line, '\'', 1));
  const std::string at(words[3]), to(words[10]);
  if (words[0] == "SW" && words[7] == "CA") {
    graph.add_host(at, host_of(far), infiniband_gbps(rate));
    graph.add_adapter(host_of(far), fmt::format("{} {}", to, words[9]), adapter_of_host(far));
  }
  if (words[0] == "CA" && words[7] == "SW") {
    graph.add_host(to, host_of(near), infiniband_gbps(rate));
    graph.add_adapter(host_of(near), fmt::format("{} {}", at, words[2]), adapter_of_host(near));
  }
  if (words[0] == "SW" && words[7] == "SW") graph.add_link(at, to, std::string(words[2]));
}

/// Returns the data rate in Gb/s by width ("4X") and signalling rate of a lane. A lane carries a little less
/// than it signals, so its rate is rounded down to 25, 50 or 100 Gb/s; slower lanes stay as they are. Returns
/// 0 for what is no rate.
double gbps_of_lanes(std::string_view lanes, double lane_gbps) {
  const double width = std::strtod(std::string(lanes.substr(0, 4)).c_str(), nullptr);
  const double rate = width * (lane_gbps > 100 ? 100 : lane_gbps > 50 ? 50 : lane_gbps > 25 ? 25 : lane_gbps);
  return rate > 0 && rate < 10'000 ? rate : 0;
}

/// Reads the form of iblinkinfo with a heading for each adapter; the lines below it are its ports.
class LinkInfo {
 public:
  explicit LinkInfo(SwitchGraph& graph) : graph_(graph) {}

  void take(std::string_view line) {
    const std::string_view adapter = text_behind(line, "CA: ");
    if (!adapter.empty()) host_ = is_aggregation(adapter) ? "" : host_of(adapter);
    if (line.starts_with("Switch") || line.starts_with("SW:")) host_.clear();
    const std::size_t open = line.find("==("), arrow = line.find(")==>");
    if (host_.empty() || open == std::string_view::npos || arrow == std::string_view::npos || arrow < open)
      return;
    const Words port = words_of(line.substr(open + 3, arrow - open - 3), 3);
    const Words far = words_of(line.substr(arrow + 4), 1);
    if (port.size() < 3 || port[2] != "Gbps" || far.empty()) return;
    graph_.add_host(std::string(far[0]), host_, gbps_of_lanes(port[0], number_of(port[1]).value_or(0)));
  }

 private:
  SwitchGraph& graph_;
  std::string host_;
};

/// Returns whether a description such as "node01 mlx5_0" names an adapter; descriptions of switches do not
/// have such a second word.
bool is_adapter_text(std::string_view description) {
  const Words words = words_of(description, 2);
  if (words.size() < 2) return false;
  for (const std::string_view mark : {"HCA-", "mlx", "hfi", "ib", "roce", "bnxt"}) {
    if (words[1].starts_with(mark)) return true;
  }
  return false;
}

/// Reads a line of `iblinkinfo --line`, from either end: `0x… "host HCA-1" 612 1[ ] ==( 4X 25.78125 Gbps
/// Active/ LinkUp)==> 0x… 496 20[ ] "switch" ( )`.
void take_whole_link(std::string_view line, SwitchGraph& graph) {
  const std::size_t open = line.find("==("), arrow = line.find(")==>");
  if (!line.starts_with("0x") || open == std::string_view::npos || arrow == std::string_view::npos ||
      arrow < open)
    return;
  const Words rate = words_of(line.substr(open + 3, arrow - open - 3), 3);
  const std::string_view near = between(line.substr(0, open), '"', 0),
                         far = between(line.substr(arrow), '"', 0);
  const Words far_words = words_of(line.substr(arrow + 4), 1), near_words = words_of(line, 1);
  if (near.empty() || far.empty() || rate.size() < 3 || rate[2] != "Gbps") return;
  const std::string at(near_words[0]), to(far_words[0]);
  const double gbps = gbps_of_lanes(rate[0], number_of(rate[1]).value_or(0));
  const bool is_host = is_adapter_text(near), leads_to_host = is_adapter_text(far);
  if (is_aggregation(near) || is_aggregation(far) || (is_host && leads_to_host)) return;
  if (is_host) graph.add_host(to, host_of(near), gbps);
  if (leads_to_host) graph.add_host(at, host_of(far), gbps);
  if (!is_host && !leads_to_host)
    graph.add_link(at, to, std::string(words_of(line.substr(0, open), 80).back()));
}

/// Returns whether a line has the form of `ibnetdiscover -p`.
bool is_port_line(std::string_view line) {
  const Words words = words_of(line, 8);
  return words.size() >= 7 && (words[0] == "CA" || words[0] == "SW") && words[3].starts_with("0x");
}

}  // namespace

bool is_ib_discovery(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    if (line.text.starts_with("switchguid=") || line.text.starts_with("caguid=") || is_port_line(line.text))
      return true;
    if (holds(line.text, ")==>") && holds(line.text, "==(")) return true;
  }
  return false;
}

/// The place of the machine is the first line that gave a switch.
Machine read_ib_discovery(const SourceText& source, Diagnostics& diagnostics) {
  Machine machine;
  SwitchGraph graph;
  PlainDiscovery plain(graph);
  LinkInfo links(graph);
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    const bool was_empty = graph.empty();
    plain.take(line.text);
    links.take(line.text);
    if (is_port_line(line.text)) take_port_line(line.text, graph);
    take_whole_link(line.text, graph);
    if (was_empty && !graph.empty()) machine.place = {source.name, line.number};
  }
  machine.fabric = graph.fabric();
  machine.host_adapters = graph.adapters();
  if (machine.fabric.nodes == 0)
    diagnostics.report({1, 1, 1}, "no host hangs at a switch here",
                       "run ibnetdiscover where it sees the whole fabric");
  return machine;
}

}  // namespace foretrain
