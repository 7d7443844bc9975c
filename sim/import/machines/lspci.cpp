// lspci: trees (-tv, -tvnn), which say how devices hang together, and lists (plain, -n, -nn, -v, -vv), which
// say which there are, with -v their NUMA nodes and lanes.
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

constexpr std::size_t kMostPciDevices = 100'000;
constexpr std::size_t kWidestTree = 4000;  ///< columns; lspci itself ends a line at 1024
/// Of two sockets, firmware gives the second the upper half of the buses.
constexpr int kSecondSocketBus = 0x80;
/// Adapters that usually run slower than this share of the fastest are for management or storage.
constexpr double kSlowAdapter = 0.5;

using PciNodes = std::vector<PciNode>;

/// Where a line's tree begins: behind blanks and bars, at "-[", "-+-[", "+-" or "\-". npos: this is no line
/// of a tree.
std::size_t tree_start(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" |");
  if (at == std::string_view::npos) return at;
  const std::string_view rest = line.substr(at);
  const bool is_root = rest.starts_with("-[") || rest.starts_with("-+-[");
  const bool is_branch = (rest.starts_with("+-") || rest.starts_with("\\-")) && rest.size() > 3 &&
                         (std::isxdigit(static_cast<unsigned char>(rest[2])) != 0 || rest[2] == '[');
  return is_root || is_branch ? at : std::string_view::npos;
}

/// Follows the marks of a line: a plus opens a column, to which later lines come back.
class LspciTree {
 public:
  explicit LspciTree(Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    nodes_.push_back({PciNode::Kind::socket, -1, {}});
  }

  void take(const LogLine& line, std::size_t start) {
    line_ = line.number;
    std::string_view text = line.text;
    std::size_t at = start;
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
  struct Place {
    int node = 0;
    std::string domain;
    int bus = 0;
  };

  /// What stands at a place of the line; gives where the next begins.
  std::size_t step(std::string_view text, std::size_t at) {
    const char c = text[at];
    if (c == '+' && at < kWidestTree) open_[at] = here_;
    if (c == '+' || c == '-' || c == '\\') return at + 1;
    if (c == '[') return take_bus(text, at);
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) return take_device(text, at);
    return text.size();
  }

  /// "[0000:80]" is a root bus, "[01-05]" the buses behind the bridge before it.
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
    if (colon != std::string::npos) here_.node = add({PciNode::Kind::bridge, socket_of_root(), {}});
    return close + 1;
  }

  int socket_of_root() {
    if (here_.bus < kSecondSocketBus || here_.domain != "0000") return 0;
    if (second_socket_ < 0) second_socket_ = add({PciNode::Kind::socket, -1, {}});
    return second_socket_;
  }

  /// "00.0", then two blanks and a name, or what lies behind it.
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
  std::map<std::size_t, Place> open_;  ///< by column
  Place here_;
  int second_socket_ = -1, line_ = 0;
};

/// Devices one after the other, all at the socket of their NUMA node or, without one, of their bus.
class LspciList {
 public:
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

  int first_line() const {
    const auto found = std::ranges::find_if(
        devices_, [](const Listed& device) { return device.node.kind != PciNode::Kind::bridge; });
    return found == devices_.end() ? 0 : found->line;
  }

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

 private:
  struct Listed {
    PciNode node;
    int line = 0;
    int numa = -1;
  };

  /// "NUMA node: 1", "LnkCap: Port #0, Speed 16GT/s, Width x16", "LnkSta: … Width x8 (downgraded)".
  void take_detail(std::string_view line) {
    Listed& device = devices_.back();
    if (const auto numa = integer_behind(line, "NUMA node:"))
      device.numa = std::clamp(static_cast<int>(*numa), -1, 1000);
    const bool is_able = holds(line, "LnkCap:"), is_state = holds(line, "LnkSta:");
    // An idle GPU runs its link slower; as wide as it is trained it stays.
    if (is_able) device.node.part.generation = pcie_generation(text_behind(line, "Speed "));
    if (const auto width = integer_behind(line, "Width x"); width && (is_able || is_state))
      device.node.part.lanes = std::clamp(static_cast<int>(*width), 0, 32);
  }

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

/// What ports of a model usually run, as the catalog has it; 0: unknown.
double usual_rate(const PciNode& node) {
  const std::string network = network_of(node.part.pci_device, 0);
  return network.empty() ? 0 : open_value(CatalogKind::links, network, read_link_type).bandwidth.per_second;
}

/// Virtual functions beside the ports that they are of, and models that usually run slower than others.
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

bool is_virtual(const PciNode& node) {
  const AdapterModel* model = adapter_of(node.part.pci_device);
  return node.kind == PciNode::Kind::adapter && model != nullptr && model->name.ends_with("VF");
}

void leave_out_virtual(PciNodes& nodes) {
  const auto is_physical = [](const PciNode& node) {
    return node.kind == PciNode::Kind::adapter && !is_virtual(node);
  };
  if (std::ranges::none_of(nodes, is_physical)) return;
  for (PciNode& node : nodes) {
    if (is_virtual(node)) node.kind = PciNode::Kind::bridge;
  }
}

/// What the processor's own bridges say: AMD makes none for others, and Intel's adapters are everywhere.
std::optional<HostFamily> family_of_bridges(std::string_view text) {
  if (holds(text, "Inc. [AMD] ")) return HostFamily::amd;
  if (holds(text, "IBM POWER")) return HostFamily::power9;
  return holds(text, "Intel Corporation") ? std::optional(HostFamily::intel_skylake) : std::nullopt;
}

}  // namespace

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
