// PCIe as tools list it, bridge by bridge, made a tree of what matters: sockets, switches, GPUs, adapters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// A device as it is listed. Parents stand before their children.
struct PciNode {
  enum class Kind : std::uint8_t { socket, bridge, gpu, adapter };
  Kind kind = Kind::bridge;
  int parent = -1;
  MachinePart part{};  ///< everything but kind and parent
};

/// What the class code of a device says: 0x0300 and 0x0302 (display and 3D controllers) and 0x0380, 0x1200
/// (AMD's) are GPUs, 0x02.. are adapters.
bool is_gpu_class(std::string_view pci_class);
bool is_adapter_class(std::string_view pci_class);

/// Bridges that lead to one device alone are lanes; those without any are left out; a switch below one of the
/// same model is part of it, as NCCL merges Broadcom's (ncclTopoFlattenBcmSwitches, src/graph/topo.cc). The
/// rest are switches. GPUs are in the order of their PCI addresses, which is CUDA's with
/// CUDA_DEVICE_ORDER=PCI_BUS_ID and what fabric managers use; so are adapters, as verbs list them.
std::vector<MachinePart> machine_parts(const std::vector<PciNode>& nodes);

/// A card for the screen beside GPUs of another maker is none of theirs: it becomes a bridge, with a remark;
/// of as many of each, both stay. Devices without a PCI number are told by their names.
void keep_one_maker(std::vector<PciNode>& nodes, std::vector<std::string>& remarks);

/// "16 GT/s", "16.0 GT/s PCIe" → 4; 0 when it says nothing.
int pcie_generation(std::string_view speed);

}  // namespace foretrain
