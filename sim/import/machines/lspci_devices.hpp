// Reads lspci's words for a device: its PCI number, and whether it is a GPU or a network adapter.
#pragma once

#include <string>
#include <string_view>

#include "sim/import/machines/pci_tree.hpp"

namespace foretrain {

/// A device as a line of lspci names it.
struct LspciDevice {
  /// Address such as "0000:07:00.0"; the domain is 0000 where the line has none.
  std::string address;
  /// Class as a number "0302" or in words "3d controller", in lower case; empty in trees, which show no
  /// class.
  std::string pci_class;
  /// Maker and product, such as "NVIDIA Corporation GA100 [A100 SXM4 40GB]".
  std::string name;
};

/// Reads a line of a list: "07:00.0 3D controller [0302]: NVIDIA Corporation … [10de:20b0] (rev a1)", or with
/// -n "07:00.0 0302: 10de:20b0".
/// Returns false for other lines.
bool lspci_line(std::string_view line, LspciDevice& device);

/// Fills in a node: its kind, its product and its PCI number as far as the words say. A device that is
/// neither GPU nor adapter keeps its kind.
void take_lspci_device(const LspciDevice& device, PciNode& node);

}  // namespace foretrain
