// Builds a tree of PCIe that agrees with the path classes of a matrix such as that of nvidia-smi topo -m.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// Path between two devices in nvidia-smi's words, from near to far: PIX, PXB, PHB, NODE, SYS. The order of
/// the values is used for comparisons.
enum class PciPathKind : std::uint8_t { unsaid, self, one_switch, switches, host_bridge, numa_node, sockets };

/// A cell of the matrix of `nvidia-smi topo -m`: the path between two devices.
struct MatrixCell {
  PciPathKind way = PciPathKind::unsaid;
  /// Number of NVLinks between the devices. A cell with NVLinks does not show the PCIe path.
  int nvlinks = 0;
  friend bool operator==(const MatrixCell&, const MatrixCell&) = default;
};
using MatrixCells = std::vector<std::vector<MatrixCell>>;

/// A row of the matrix of `nvidia-smi topo -m`.
struct MatrixDevice {
  PartKind kind = PartKind::gpu;
  std::string name;
  /// NUMA node; -1 when the matrix does not show it.
  int numa = -1;
};

/// Builds the parts. Devices that are nearer than SYS or share a NUMA node are at one socket.
/// Devices joined by PIX or PXB are below one switch; if it holds several PIX groups, each of them has a
/// switch of its own.
/// `cells` is square over `devices`.
std::vector<MachinePart> parts_of_matrix(const std::vector<MatrixDevice>& devices, const MatrixCells& cells);

/// Replaces pairs of GPUs by links to NVSwitches, if every pair has the same number of NVLinks and a GPU
/// cannot have that many to each of the others.
void join_through_switches(std::vector<MachineNvlinks>& nvlinks, int gpus);

}  // namespace foretrain
