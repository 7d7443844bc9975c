// What lspci's words say of a device: its PCI number, and whether it is a GPU or an adapter.
#pragma once

#include <string>
#include <string_view>

#include "sim/import/machines/pci_tree.hpp"

namespace foretrain {

/// A device as a line of lspci names it.
struct LspciDevice {
  std::string address;    ///< "0000:07:00.0", domain 0 where none is told
  std::string pci_class;  ///< "0302", or in words "3d controller"; empty in trees
  std::string name;       ///< "NVIDIA Corporation GA100 [A100 SXM4 40GB]"
};

/// Of a list's line: "07:00.0 3D controller [0302]: NVIDIA Corporation … [10de:20b0] (rev a1)", and with -n
/// "07:00.0 0302: 10de:20b0". False where the line is none.
bool lspci_line(std::string_view line, LspciDevice& device);

/// Fills in the part of a node: what kind it is, its product and its PCI number as far as told.
void take_lspci_device(const LspciDevice& device, PciNode& node);

}  // namespace foretrain
