// Turns PCIe as tools list it, bridge by bridge, into a tree of what matters: sockets, switches, GPUs and
// adapters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// A device as a tool lists it. Parents stand before their children.
struct PciNode {
  enum class Kind : std::uint8_t { socket, bridge, gpu, adapter };
  Kind kind = Kind::bridge;
  /// Index of the node above; -1 for none.
  int parent = -1;
  /// The properties of the device; its kind and parent are not used.
  MachinePart part{};
};

/// Say what the class code of a device means, as "0x030200" or "0302".
/// Display and 3D controllers (0300, 0302, 0380) and processing accelerators (1200, AMD's) are GPUs; 02xx are
/// network adapters.
bool is_gpu_class(std::string_view pci_class);
bool is_adapter_class(std::string_view pci_class);

/// Builds the parts of a machine. A bridge that leads to one device is only its lanes, and a bridge that
/// leads to none is left out.
/// A switch below another of the same model is part of it, as NCCL merges Broadcom's
/// (ncclTopoFlattenBcmSwitches, src/graph/topo.cc). The other bridges become switches.
/// GPUs stand in the order of their PCI addresses, as CUDA numbers them with CUDA_DEVICE_ORDER=PCI_BUS_ID and
/// as fabric managers do. So do adapters, as verbs list them.
std::vector<MachinePart> machine_parts(const std::vector<PciNode>& nodes);

/// Turns GPUs of a maker that is outnumbered into bridges, with a remark: they are screens beside the GPUs
/// that train.
/// If two makers have equally many GPUs, both stay. Devices without a PCI number are told apart by their
/// names.
void keep_one_maker(std::vector<PciNode>& nodes, std::vector<std::string>& remarks);

/// Returns the PCIe generation for a rate such as "16 GT/s" or "16.0 GT/s PCIe", here 4; 0 for other texts.
int pcie_generation(std::string_view speed);

}  // namespace foretrain
