// A pass from the leaves up counts the useful children of each bridge; a pass down places what stays. Both
// are linear, since parents stand before their children.
#include "sim/import/machines/pci_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

using Nodes = std::vector<PciNode>;

/// Returns the first four digits of a class code: "0x030200" and "0302" give "0302".
std::string class_code(std::string_view pci_class) {
  std::string code = lower_case(trimmed(pci_class));
  if (code.starts_with("0x")) code.erase(0, 2);
  return code.substr(0, 4);
}

/// Says whether a node is a device that training uses.
bool is_leaf(const PciNode& node) {
  return node.kind == PciNode::Kind::gpu || node.kind == PciNode::Kind::adapter;
}

/// Returns, for each node, how many of its children lead to a GPU or an adapter.
std::vector<int> useful_children(const Nodes& nodes) {
  std::vector<int> children(nodes.size(), 0);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const int parent = nodes[i].parent;
    if (parent >= 0 && (is_leaf(nodes[i]) || children[i] > 0)) ++children[static_cast<std::size_t>(parent)];
  }
  return children;
}

/// Says whether two nodes have the same known PCI number.
bool same_model(const PciNode& a, const PciNode& b) {
  return !a.part.pci_device.empty() && a.part.pci_device == b.part.pci_device;
}

/// Collapses the listed nodes onto those that stay: stays_as_ maps each node to the part that stands for it.
class Collapsed {
 public:
  explicit Collapsed(const Nodes& nodes)
      : nodes_(nodes), children_(useful_children(nodes)), stays_as_(nodes.size(), -1) {}

  std::vector<MachinePart> parts() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) place(i);
    return std::move(parts_);
  }

 private:
  /// Places one node; its parent was placed before.
  void place(std::size_t i) {
    const PciNode& node = nodes_[i];
    if (node.kind == PciNode::Kind::socket) return keep(i, PartKind::socket, -1);
    // A device outside of all sockets has no place in the tree.
    if (node.parent < 0) return;
    const std::size_t parent = static_cast<std::size_t>(node.parent);
    if (node.kind == PciNode::Kind::gpu) return keep(i, PartKind::gpu, stays_as_[parent]);
    if (node.kind == PciNode::Kind::adapter) return keep(i, PartKind::adapter, stays_as_[parent]);
    // A bridge with one useful child only passes its lanes on.
    const bool is_lane = children_[i] < 2;
    const bool is_merged =
        // Bridges of one device are lanes, and chips of one switch are listed as bridges below each other.
        switch_above(i) >= 0 && same_model(node, nodes_[static_cast<std::size_t>(switch_above(i))]);
    if (is_lane || is_merged)
      stays_as_[i] = stays_as_[parent];
    else
      keep(i, PartKind::pcie_switch, stays_as_[parent]);
  }

  /// Returns the nearest bridge above that is a switch; -1 when there is none.
  int switch_above(std::size_t i) const {
    for (int up = nodes_[i].parent; up >= 0; up = nodes_[static_cast<std::size_t>(up)].parent) {
      const PciNode& above = nodes_[static_cast<std::size_t>(up)];
      if (above.kind == PciNode::Kind::bridge && children_[static_cast<std::size_t>(up)] > 1) return up;
    }
    return -1;
  }

  /// Adds a part for a node.
  void keep(std::size_t i, PartKind kind, int parent) {
    MachinePart part = nodes_[i].part;
    part.kind = kind;
    part.parent = parent;
    stays_as_[i] = static_cast<int>(parts_.size());
    parts_.push_back(std::move(part));
  }

  const Nodes& nodes_;
  std::vector<int> children_, stays_as_;
  std::vector<MachinePart> parts_;
};

/// Sorts GPUs, or adapters, by PCI address among their places. No part has one of them as parent, so indices
/// stay valid.
void sort_by_bus(std::vector<MachinePart>& parts, PartKind kind) {
  std::vector<std::size_t> places;
  std::vector<MachinePart> alike;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind != kind) continue;
    places.push_back(i);
    alike.push_back(parts[i]);
  }
  std::ranges::stable_sort(alike, {}, &MachinePart::bus);
  for (std::size_t i = 0; i < places.size(); ++i) parts[places[i]] = alike[i];
}

/// Reorders parts: sockets, switches, GPUs, adapters. Parents stay before their children.
std::vector<MachinePart> places_first(const std::vector<MachinePart>& parts) {
  std::vector<int> moved(parts.size(), -1);
  std::vector<MachinePart> out;
  const auto take = [&](auto belongs) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!belongs(parts[i].kind)) continue;
      moved[i] = static_cast<int>(out.size());
      out.push_back(parts[i]);
      if (out.back().parent >= 0) out.back().parent = moved[static_cast<std::size_t>(out.back().parent)];
    }
  };
  take([](PartKind kind) { return kind == PartKind::socket; });
  take([](PartKind kind) { return kind == PartKind::pcie_switch; });
  take([](PartKind kind) { return kind == PartKind::gpu; });
  take([](PartKind kind) { return kind == PartKind::adapter; });
  return out;
}

}  // namespace

bool is_gpu_class(std::string_view pci_class) {
  const std::string code = class_code(pci_class);
  return code == "0300" || code == "0302" || code == "0380" || code == "1200";
}

bool is_adapter_class(std::string_view pci_class) { return class_code(pci_class).starts_with("02"); }

std::vector<MachinePart> machine_parts(const std::vector<PciNode>& nodes) {
  std::vector<MachinePart> parts = places_first(Collapsed(nodes).parts());
  sort_by_bus(parts, PartKind::gpu);
  sort_by_bus(parts, PartKind::adapter);
  return parts;
}

void keep_one_maker(std::vector<PciNode>& nodes, std::vector<std::string>& remarks) {
  std::map<std::string, int> counts;
  // Lists without numbers have only names; the first four digits of a number are the maker.
  const auto maker = [](const PciNode& node) {
    return node.part.pci_device.empty() ? node.part.name : node.part.pci_device.substr(0, 4);
  };
  for (const PciNode& node : nodes) counts[maker(node)] += node.kind == PciNode::Kind::gpu ? 1 : 0;
  int most = 0;
  for (const auto& [name, count] : counts) most = std::max(most, count);
  for (PciNode& node : nodes) {
    if (node.kind != PciNode::Kind::gpu || counts[maker(node)] == most) continue;
    node.kind = PciNode::Kind::bridge;
    remarks.push_back(fmt::format("GPU {} at {} is left out: of another maker",
                                  node.part.name.empty() ? node.part.pci_device : node.part.name,
                                  node.part.bus));
  }
}

int pcie_generation(std::string_view speed) {
  // GT/s of one lane, from generation 1 on.
  constexpr std::array<double, 6> kGigatransfers{2.5, 5, 8, 16, 32, 64};
  const double rate = std::strtod(std::string(speed.substr(0, 16)).c_str(), nullptr);
  for (std::size_t i = 0; i < kGigatransfers.size(); ++i) {
    if (std::abs(rate - kGigatransfers[i]) < 0.1) return static_cast<int>(i) + 1;
  }
  return 0;
}

}  // namespace foretrain
