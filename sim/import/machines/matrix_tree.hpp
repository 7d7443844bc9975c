// A tree of PCIe that gives the classes of ways that a matrix of devices shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// As nvidia-smi words it, from near to far: PIX, PXB, PHB, NODE, SYS.
enum class PciPathKind : std::uint8_t { unsaid, self, one_switch, switches, host_bridge, numa_node, sockets };

/// A cell of the matrix of `nvidia-smi topo -m`: the path between two devices.
struct MatrixCell {
  PciPathKind way = PciPathKind::unsaid;
  int nvlinks = 0;  ///< NVLinks hide the way over PCIe
  friend bool operator==(const MatrixCell&, const MatrixCell&) = default;
};
using MatrixCells = std::vector<std::vector<MatrixCell>>;

/// A row of the matrix of `nvidia-smi topo -m`.
struct MatrixDevice {
  PartKind kind = PartKind::gpu;
  std::string name;
  int numa = -1;  ///< −1: not said
};

/// Devices are at one socket that are nearer than SYS to each other or share a NUMA node; below one switch
/// what is PIX or PXB, with a switch of its own for each of several PIX groups. `cells` is square over
/// `devices`.
std::vector<MachinePart> parts_of_matrix(const std::vector<MatrixDevice>& devices, const MatrixCells& cells);

/// Every pair with the same number of NVLinks, more than a GPU has for so many others: they go to NVSwitches.
void join_through_switches(std::vector<MachineNvlinks>& nvlinks, int gpus);

}  // namespace foretrain
