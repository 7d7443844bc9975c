// Reader of ibstat ("CA 'mlx5_0'", "Rate: 200"), ibstatus ("Infiniband device 'mlx5_0' port 1 status:",
// "rate: 200 Gb/sec (4X HDR)") and ibv_devinfo, also -v ("hca_id: mlx5_0", "active_speed: 50.0 Gbps (64)").
// The adapters of a node, their models and the rates of their ports are taken. None of the tools shows where
// an adapter is plugged in, so all stand at one socket.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/networks/switch_graph.hpp"

namespace foretrain {

namespace {

/// Limit of adapters, and of the ports of one adapter.
constexpr std::size_t kMostPorts = 1000;

/// A port as the tools describe it. `gbps` is its whole rate in Gb/s.
struct AdapterPort {
  int line = 0;
  bool is_down = false;
  double gbps = 0, lanes = 0;
  std::string layer{};
};
/// An adapter with its ports. `line` is where it begins.
struct ListedAdapter {
  int line = 0;
  std::string name, pci_device;
  std::vector<AdapterPort> ports;
};

/// Returns the text behind the first colon of a line.
std::string_view adapter_value(std::string_view line) { return text_behind(line, ":"); }

/// Returns the name between single quotes, as in "CA 'mlx5_0'"; empty when there is none.
std::string_view quoted_name(std::string_view line) {
  const std::size_t open = line.find('\''), close = line.find('\'', open + 1);
  return open == std::string_view::npos || close == std::string_view::npos
             ? std::string_view()
             : line.substr(open + 1, close - open - 1);
}

/// Returns the PCI device for a model of Mellanox: "MT4123" and "4123" are 15b3:101b. Their numbers are the
/// device's in decimal.
std::string mellanox_device(std::string_view model) {
  if (model.starts_with("MT")) model.remove_prefix(2);
  const auto number = integer_of(trimmed(model));
  return number && *number > 0 && *number < 0x10000 ? fmt::format("15b3:{:04x}", *number) : "";
}

/// Returns the number at the beginning of "200", "200 Gb/sec (4X HDR)", "50.0 Gbps (64)" or "4X (2)"; 0 when
/// it is none.
double leading_rate(std::string_view text) {
  const double value = std::strtod(std::string(text.substr(0, 24)).c_str(), nullptr);
  return value > 0 && value < 1e5 ? value : 0;
}

/// Says whether the state of a port means that it carries no data.
bool is_down_state(std::string_view state) {
  const std::string text = lower_case(state);
  return holds(text, "down") || holds(text, "disabled") || holds(text, "polling") || holds(text, "sleep");
}

/// Collects adapters line by line. The three tools word the same facts alike, so a line is read by its
/// beginning alone.
class AdapterList {
 public:
  /// Takes a line. Lines before the first adapter are skipped.
  void take(const LogLine& line) {
    const std::string_view text = trimmed(line.text);
    if (begins_adapter(line, text) || adapters_.empty()) return;
    ListedAdapter& adapter = adapters_.back();
    if (text.starts_with("CA type:") && adapter.pci_device.empty())
      adapter.pci_device = mellanox_device(adapter_value(text));
    if (text.starts_with("vendor_part_id:") && is_mellanox_)
      adapter.pci_device = mellanox_device(adapter_value(text));
    if (text.starts_with("vendor_id:")) is_mellanox_ = holds(text, "0x02c9") || holds(text, "0x15b3");
    if (text.starts_with("Port ") || text.starts_with("port:")) add_port(line.number);
    if (!adapter.ports.empty()) take_port_fact(text, adapter.ports.back());
  }

  const std::vector<ListedAdapter>& adapters() const { return adapters_; }

 private:
  /// Begins an adapter if the line names one. Returns true if it did.
  bool begins_adapter(const LogLine& line, std::string_view text) {
    const bool is_status = text.starts_with("Infiniband device '");
    std::string_view name;
    if (text.starts_with("CA '") || is_status) name = quoted_name(text);
    if (text.starts_with("hca_id:")) name = adapter_value(text);
    if (name.empty() || adapters_.size() >= kMostPorts) return false;
    // ibstatus begins a block for every port, so the same adapter may come again.
    if (!is_status || adapters_.empty() || adapters_.back().name != name)
      adapters_.push_back({line.number, std::string(name.substr(0, 60)), "", {}});
    if (is_status) add_port(line.number);
    return true;
  }

  /// Begins a port of the last adapter.
  void add_port(int line) {
    if (adapters_.back().ports.size() < kMostPorts) adapters_.back().ports.push_back({line});
  }

  /// Takes a fact of a port. ibv_devinfo gives lanes and the rate of one lane, in this order; the others give
  /// the whole rate.
  static void take_port_fact(std::string_view text, AdapterPort& port) {
    const std::string_view value = adapter_value(text);
    const std::string key = lower_case(trimmed(text.substr(0, text.find(':'))));
    if (key == "state" || key == "physical state" || key == "phys_state" || key == "phys state")
      port.is_down = port.is_down || is_down_state(value);
    if (key == "rate") port.gbps = leading_rate(value);
    if (key == "link layer" || key == "link_layer") port.layer = std::string(value.substr(0, 20));
    if (key == "active_width") port.lanes = leading_rate(value);
    if (key == "active_speed") port.gbps = leading_rate(value) * std::max(port.lanes, 1.0);
  }

  std::vector<ListedAdapter> adapters_;
  /// True while ports are of Mellanox: only its part numbers are PCI devices. ibstat has no vendor and lists
  /// Mellanox alone.
  bool is_mellanox_ = true;
};

/// Adds the ports of an adapter that are up; several ports are named "mlx5_0:1", "mlx5_0:2".
void add_ports(Machine& machine, const ListedAdapter& adapter) {
  for (std::size_t i = 0; i < adapter.ports.size(); ++i) {
    const AdapterPort& port = adapter.ports[i];
    const std::string name =
        adapter.ports.size() == 1 ? adapter.name : fmt::format("{}:{}", adapter.name, i + 1);
    if (port.is_down) {
      machine.remarks.push_back(fmt::format("{} is left out: its port is down", name));
      continue;
    }
    MachinePart part{PartKind::adapter, 0, name};
    part.pci_device = adapter.pci_device;
    // Ethernet has its own row in the table of links; the rate alone would give InfiniBand.
    part.network_gbps = port.gbps;
    part.is_ethernet = port.layer == "Ethernet";
    machine.parts.push_back(std::move(part));
  }
}

}  // namespace

bool is_ib_adapters(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const std::string_view start = trimmed(line.text);
    if (start.starts_with("hca_id:") || start.starts_with("CA '") || start.starts_with("Infiniband device '"))
      return true;
  }
  return false;
}

Machine read_ib_adapters(const SourceText& source, Diagnostics& diagnostics) {
  AdapterList list;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) list.take(line);
  Machine machine;
  machine.place = {source.name, list.adapters().empty() ? 1 : list.adapters().front().line};
  machine.parts.push_back({PartKind::socket, -1});
  for (const ListedAdapter& adapter : list.adapters()) {
    if (adapter.ports.empty())
      diagnostics.report({adapter.line, 1, 2}, fmt::format("{} has no port here", adapter.name),
                         "the listing was cut");
    add_ports(machine, adapter);
  }
  return machine;
}

}  // namespace foretrain
