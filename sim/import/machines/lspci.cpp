// Reader of lspci, as trees (-tv, -tvnn) and as lists (plain, -n, -nn, -v, -vv). A tree shows how devices
// hang together:
// "+-[0000:80]-+-01.1-[81-85]----00.0-[82-85]--+-00.0-[83]----00.0  NVIDIA Corporation GA100 [A100 SXM4
// 40GB]".
// A list shows which devices there are and, with -v, their NUMA nodes and lanes.
// GPUs and network adapters are kept with the switches above them. Sockets are not in a tree: buses from 80
// on are taken for those of the second one.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/lspci_devices.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/scenario/named_value.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain {

namespace {

/// Limit of devices.
constexpr std::size_t kMostPciDevices = 100'000;
/// Limit of columns; lspci itself ends a line at 1024.
constexpr std::size_t kWidestTree = 4000;
/// Bus from which devices belong to the second of two sockets: firmware usually gives it the upper half of
/// the buses.
constexpr int kSecondSocketBus = 0x80;
/// An adapter whose usual rate is below this share of the fastest is for management or storage.
constexpr double kSlowAdapter = 0.5;

using PciNodes = std::vector<PciNode>;

/// Returns the column where a line's tree begins, behind blanks and bars, at "-[", "-+-[", "+-" or "\-".
/// Returns npos for lines that are no tree.
std::size_t tree_start(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" |");
  if (at == std::string_view::npos) return at;
  const std::string_view rest = line.substr(at);
  const bool is_root = rest.starts_with("-[") || rest.starts_with("-+-[");
  const bool is_branch = (rest.starts_with("+-") || rest.starts_with("\\-")) && rest.size() > 3 &&
                         (std::isxdigit(static_cast<unsigned char>(rest[2])) != 0 || rest[2] == '[');
  return is_root || is_branch ? at : std::string_view::npos;
}

/// Follows the marks of each line of a tree. A plus opens a column, and later lines continue at that column.
class LspciTree {
 public:
  /// Begins with one socket, which holds everything until a second one is seen.
  explicit LspciTree(Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    nodes_.push_back({PciNode::Kind::socket, -1, {}});
  }

  /// Takes a line whose tree begins at `start`. A root begins with "-"; a branch continues an open column.
  void take(const LogLine& line, std::size_t start) {
    line_ = line.number;
    std::string_view text = line.text;
    std::size_t at = start;
    // A new root forgets the columns of the one before.
    if (text[at] == '-') {
      open_.clear();
      open_[at] = open_[at + 1] = {0, "", 0};
      here_ = {0, "", 0};
    } else if (const auto found = open_.find(at); found != open_.end()) {
      here_ = found->second;
      ++at;
    } else {
      return diagnostics_.report({line.number, static_cast<int>(at) + 1, 1}, "this branch comes from nowhere",
                                 "the tree was cut, or lost its blanks: lspci -tv > pci.txt");
    }
    while (at < std::min(text.size(), kWidestTree)) at = step(text, at);
  }

  PciNodes nodes() { return std::move(nodes_); }

 private:
  /// A position in the tree: the node that is reached, and domain and bus of what follows.
  struct Place {
    int node = 0;
    std::string domain;
    int bus = 0;
  };

  /// Takes what stands at a column of the line, and returns the column where the next begins.
  std::size_t step(std::string_view text, std::size_t at) {
    const char c = text[at];
    if (c == '+' && at < kWidestTree) open_[at] = here_;
    if (c == '+' || c == '-' || c == '\\') return at + 1;
    if (c == '[') return take_bus(text, at);
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) return take_device(text, at);
    return text.size();
  }

  /// Takes a bus: "[0000:80]" is a root bus, "[01-05]" are the buses behind the bridge before it. Its first
  /// number is the bus of the devices that follow.
  std::size_t take_bus(std::string_view text, std::size_t at) {
    const std::size_t close = text.find(']', at);
    if (close == std::string_view::npos) {
      diagnostics_.report({line_, static_cast<int>(at) + 1, 1}, "a bus without its end: ]");
      return text.size();
    }
    const std::string inside = lower_case(text.substr(at + 1, close - at - 1));
    const std::size_t colon = inside.find(':');
    if (colon != std::string::npos) here_.domain = inside.substr(0, colon);
    const std::string bus = colon == std::string::npos ? inside : inside.substr(colon + 1);
    here_.bus = static_cast<int>(std::clamp(std::strtol(bus.substr(0, 2).c_str(), nullptr, 16), 0L, 255L));
    // The host bridge of a root bus becomes a node below its socket.
    if (colon != std::string::npos) here_.node = add({PciNode::Kind::bridge, socket_of_root(), {}});
    return close + 1;
  }

  /// Returns the socket of the current root bus. Only domain 0000 is split; the second socket is added at its
  /// first bus.
  int socket_of_root() {
    if (here_.bus < kSecondSocketBus || here_.domain != "0000") return 0;
    if (second_socket_ < 0) second_socket_ = add({PciNode::Kind::socket, -1, {}});
    return second_socket_;
  }

  /// Takes "00.0", followed by blanks and a name, or by a dash and what lies behind it.
  std::size_t take_device(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && text[end] != ' ' && text[end] != '-') ++end;
    LspciDevice device;
    device.address = fmt::format("{}:{:02x}:{}", here_.domain.empty() ? "0000" : here_.domain, here_.bus,
                                 lower_case(text.substr(at, end - at)).substr(0, 8));
    PciNode node{PciNode::Kind::bridge, here_.node, {}};
    node.part.bus = device.address;
    const bool has_more = end < text.size() && text[end] == '-';
    device.name = has_more ? "" : std::string(trimmed(text.substr(end)).substr(0, 300));
    if (!device.name.empty()) take_lspci_device(device, node);
    here_.node = add(std::move(node));
    return has_more ? end : text.size();
  }

  /// Adds a node and returns its index. Beyond the limit it is reported, and the socket stands for it.
  int add(PciNode node) {
    if (nodes_.size() >= kMostPciDevices) {
      diagnostics_.report({line_, 1, 1}, fmt::format("more than {} devices", kMostPciDevices));
      return 0;
    }
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  Diagnostics& diagnostics_;
  PciNodes nodes_;
  /// Positions to continue at, by column.
  std::map<std::size_t, Place> open_;
  Place here_;
  int second_socket_ = -1, line_ = 0;
};

/// Collects the devices of a list. They all hang at the socket of their NUMA node or, if none is shown, of
/// their bus.
class LspciList {
 public:
  /// Takes a line: a device, or a detail of the last one. Devices that are listed again are skipped with
  /// their details.
  void take(const LogLine& line) {
    LspciDevice device;
    if (lspci_line(line.text, device)) {
      if (devices_.size() >= kMostPciDevices || !seen_.insert(device.address).second)
        return void(is_open_ = false);
      devices_.push_back({{PciNode::Kind::bridge, 0, {}}, line.number});
      take_lspci_device(device, devices_.back().node);
      is_open_ = true;
    } else if (is_open_ && !devices_.empty()) {
      take_detail(line.text);
    }
  }

  /// Returns the line of the first GPU or adapter; 0 when there is none.
  int first_line() const {
    const auto found = std::ranges::find_if(
        devices_, [](const Listed& device) { return device.node.kind != PciNode::Kind::bridge; });
    return found == devices_.end() ? 0 : found->line;
  }

  /// Returns sockets first, then the GPUs and adapters; other devices are dropped.
  PciNodes nodes() {
    std::map<int, int> socket_of;
    PciNodes out;
    std::erase_if(devices_, [](const Listed& device) { return device.node.kind == PciNode::Kind::bridge; });
    for (const Listed& device : devices_) {
      if (socket_of.emplace(place_of(device), static_cast<int>(out.size())).second)
        out.push_back({PciNode::Kind::socket, -1, {}});
    }
    for (Listed& device : devices_) {
      device.node.parent = socket_of.at(place_of(device));
      out.push_back(device.node);
    }
    return out;
  }

  /// A device of the list with what its details show.
 private:
  struct Listed {
    PciNode node;
    int line = 0;
    int numa = -1;
  };

  /// Takes details such as "NUMA node: 1", "LnkCap: Port #0, Speed 16GT/s, Width x16" or "LnkSta: … Width x8
  /// (downgraded)".
  void take_detail(std::string_view line) {
    Listed& device = devices_.back();
    if (const auto numa = integer_behind(line, "NUMA node:"))
      device.numa = std::clamp(static_cast<int>(*numa), -1, 1000);
    const bool is_able = holds(line, "LnkCap:"), is_state = holds(line, "LnkSta:");
    // An idle GPU lowers the speed of its link but not its width. So the generation is that of LnkCap, the
    // lanes those of LnkSta, which follows it.
    if (is_able) device.node.part.generation = pcie_generation(text_behind(line, "Speed "));
    if (const auto width = integer_behind(line, "Width x"); width && (is_able || is_state))
      device.node.part.lanes = std::clamp(static_cast<int>(*width), 0, 32);
  }

  /// Returns the number that tells sockets apart: the NUMA node, else 0 or 1 by the bus.
  static int place_of(const Listed& device) {
    if (device.numa >= 0) return device.numa;
    const std::string& bus = device.node.part.bus;
    const std::size_t colon = bus.find(':');
    const long number = std::strtol(bus.substr(colon + 1, 2).c_str(), nullptr, 16);
    return bus.starts_with("0000:") && number >= kSecondSocketBus ? 1 : 0;
  }

  std::vector<Listed> devices_;
  std::set<std::string> seen_;
  bool is_open_ = false;
};

/// Returns the rate that ports of a model usually run, from the catalog; 0 when the model is unknown.
double usual_rate(const PciNode& node) {
  const std::string network = network_of(node.part.pci_device, 0);
  return network.empty() ? 0 : open_value(CatalogKind::links, network, read_link_type).bandwidth.per_second;
}

/// Turns adapters that usually run slower than half of the fastest into bridges, with a remark.
void leave_out_adapters(PciNodes& nodes, std::vector<std::string>& remarks) {
  double fastest = 0;
  for (const PciNode& node : nodes)
    fastest = std::max(fastest, node.kind == PciNode::Kind::adapter ? usual_rate(node) : 0);
  int slow = 0;
  for (PciNode& node : nodes) {
    if (node.kind != PciNode::Kind::adapter || usual_rate(node) >= kSlowAdapter * fastest) continue;
    node.kind = PciNode::Kind::bridge;
    ++slow;
  }
  if (slow > 0)
    remarks.push_back(
        fmt::format("{} of models that run slower than the others: left out", counted(slow, "adapter")));
}

/// Says whether a node is a virtual function of an adapter.
bool is_virtual(const PciNode& node) {
  const AdapterModel* model = adapter_of(node.part.pci_device);
  return node.kind == PciNode::Kind::adapter && model != nullptr && model->name.ends_with("VF");
}

/// Leaves out virtual functions, unless the list has nothing else, as inside of virtual machines.
void leave_out_virtual(PciNodes& nodes) {
  const auto is_physical = [](const PciNode& node) {
    return node.kind == PciNode::Kind::adapter && !is_virtual(node);
  };
  if (std::ranges::none_of(nodes, is_physical)) return;
  for (PciNode& node : nodes) {
    if (is_virtual(node)) node.kind = PciNode::Kind::bridge;
  }
}

/// Returns the family of the processor by its own bridges. AMD is asked first, because Intel's adapters are
/// in machines of all makers.
std::optional<HostFamily> family_of_bridges(std::string_view text) {
  if (holds(text, "Inc. [AMD] ")) return HostFamily::amd;
  if (holds(text, "IBM POWER")) return HostFamily::power9;
  return holds(text, "Intel Corporation") ? std::optional(HostFamily::intel_skylake) : std::nullopt;
}

}  // namespace

// A tree or a line of a list is enough; other lines may surround them.
bool is_lspci(std::string_view text) {
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    LspciDevice device;
    if (tree_start(line.text) != std::string_view::npos && holds(line.text, "[") && holds(line.text, ":"))
      return true;
    if (lspci_line(line.text, device)) return true;
  }
  return false;
}

Machine read_lspci(const SourceText& source, Diagnostics& diagnostics) {
  LspciTree tree(diagnostics);
  LspciList list;
  Machine machine;
  int first_branch = 0;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    const std::size_t start = tree_start(line.text);
    if (start == std::string_view::npos) {
      list.take(line);
    } else if (first_branch > 0 || line.text[start] == '-') {
      // Branches before the first root belong to a tree that was cut off.
      if (first_branch == 0) first_branch = line.number;
      tree.take(line, start);
    }
  }
  PciNodes nodes = first_branch > 0 ? tree.nodes() : list.nodes();
  machine.place = {source.name, std::max(first_branch > 0 ? first_branch : list.first_line(), 1)};
  leave_out_virtual(nodes);
  leave_out_adapters(nodes, machine.remarks);
  keep_one_maker(nodes, machine.remarks);
  machine.parts = machine_parts(nodes);
  machine.family = family_of_bridges(source.text);
  machine.lists_devices = true;
  machine.remarks.push_back(first_branch > 0
                                ? "lspci tells no sockets: buses from 80 on are taken for the second one's"
                                : "a list tells no switches: lspci -tv does");
  return machine;
}

}  // namespace foretrain
