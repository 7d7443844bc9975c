// Devices are grouped by union-find, three times: by socket, by PCIe tree, and by switch.
// Paths up to NODE join a socket, paths up to PXB a tree below one root, and PIX a switch. The closer groups
// lie inside of the wider ones.
#include "sim/import/machines/matrix_tree.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace foretrain {

namespace {

/// Most NVLinks of one GPU of any generation (NVLink 4 and 5).
constexpr int kMostNvlinksOfGpu = 18;

/// Union-find over devices. The first device of a group stands for it.
class NearDevices {
 public:
  explicit NearDevices(std::size_t count) : above_(count) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
  }

  /// Joins the groups of two devices.
  void join(std::size_t a, std::size_t b) {
    const std::size_t first = std::min(head_of(a), head_of(b)), last = std::max(head_of(a), head_of(b));
    above_[last] = first;
  }
  /// Returns the first device of a group. Groups are small, so paths are not compressed.
  std::size_t head_of(std::size_t i) const {
    while (above_[i] != i) i = above_[i];
    return i;
  }
  /// Returns the number of devices in a group, by its first device.
  std::size_t size_of(std::size_t head) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < above_.size(); ++i) count += head_of(i) == head ? 1 : 0;
    return count;
  }

 private:
  std::vector<std::size_t> above_;
};

/// Groups all devices whose path is at most `farthest`. Cells with NVLinks show no path and join nothing.
NearDevices grouped(const MatrixCells& cells, PciPathKind farthest) {
  NearDevices groups(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const PciPathKind way = cells[i][j].way;
      if (way != PciPathKind::unsaid && way <= farthest) groups.join(i, j);
    }
  }
  return groups;
}

/// Groups devices by socket: paths up to NODE, and the same NUMA node.
NearDevices sockets_of(const std::vector<MatrixDevice>& devices, const MatrixCells& cells) {
  NearDevices sockets = grouped(cells, PciPathKind::numa_node);
  std::map<int, std::size_t> of_numa;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].numa < 0) continue;
    const auto [first, is_new] = of_numa.emplace(devices[i].numa, i);
    if (!is_new) sockets.join(first->second, i);
  }
  return sockets;
}

/// Builds the parts in the order of parents before children: sockets, roots of PCIe trees, switches below
/// those, then devices.
class MatrixTree {
 public:
  MatrixTree(const std::vector<MatrixDevice>& devices, const MatrixCells& cells)
      : devices_(devices),
        sockets_(sockets_of(devices, cells)),
        trees_(grouped(cells, PciPathKind::switches)),
        switches_(grouped(cells, PciPathKind::one_switch)) {}

  std::vector<MachinePart> parts() {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (sockets_.head_of(i) != i) continue;
      socket_at_[i] = add(PartKind::socket, -1);
      parts_.back().numa = numa_of(i);
    }
    // A tree with a single device needs no switch.
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (trees_.head_of(i) == i && trees_.size_of(i) > 1)
        root_at_[i] = add(PartKind::pcie_switch, socket_at_.at(sockets_.head_of(i)));
    }
    // A switch gets its own part only if its tree holds more than this switch.
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const std::size_t in_switch = switches_.size_of(i);
      if (switches_.head_of(i) == i && in_switch > 1 && in_switch < trees_.size_of(trees_.head_of(i)))
        switch_at_[i] = add(PartKind::pcie_switch, root_at_.at(trees_.head_of(i)));
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      parts_[static_cast<std::size_t>(add(devices_[i].kind, place_of(i)))].name = devices_[i].name;
    }
    return std::move(parts_);
  }

 private:
  int add(PartKind kind, int parent) {
    parts_.push_back({kind, parent});
    return static_cast<int>(parts_.size()) - 1;
  }

  /// Returns the NUMA node of the devices of a group; -1 when none of them shows it.
  int numa_of(std::size_t head) const {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (sockets_.head_of(i) == head && devices_[i].numa >= 0) return devices_[i].numa;
    }
    return -1;
  }

  /// Returns the closest part that a device hangs at.
  int place_of(std::size_t i) const {
    if (const auto found = switch_at_.find(switches_.head_of(i)); found != switch_at_.end())
      return found->second;
    if (const auto found = root_at_.find(trees_.head_of(i)); found != root_at_.end()) return found->second;
    return socket_at_.at(sockets_.head_of(i));
  }

  const std::vector<MatrixDevice>& devices_;
  NearDevices sockets_, trees_, switches_;
  /// Index of the part, by the first device of its group.
  std::map<std::size_t, int> socket_at_, root_at_, switch_at_;
  std::vector<MachinePart> parts_;
};

}  // namespace

std::vector<MachinePart> parts_of_matrix(const std::vector<MatrixDevice>& devices, const MatrixCells& cells) {
  return MatrixTree(devices, cells).parts();
}

// Fewer than three GPUs, or a pair without links, are no switch.
void join_through_switches(std::vector<MachineNvlinks>& nvlinks, int gpus) {
  const std::size_t pairs = static_cast<std::size_t>(gpus) * static_cast<std::size_t>(gpus - 1) / 2;
  if (gpus < 3 || nvlinks.size() != pairs) return;
  const int count = nvlinks.front().count;
  const bool is_even =
      std::ranges::all_of(nvlinks, [count](const MachineNvlinks& link) { return link.count == count; });
  // Every GPU would need this many links; a GPU without switches cannot have more than the maximum.
  if (!is_even || count * (gpus - 1) <= kMostNvlinksOfGpu) return;
  nvlinks.clear();
  for (int gpu = 0; gpu < gpus; ++gpu) nvlinks.push_back({gpu, -1, count});
}

}  // namespace foretrain
