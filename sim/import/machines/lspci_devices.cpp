// Names are those of the PCI ID repository: the maker, then the chip, with the product in brackets.
// Devices are told by their numbers where the list shows them (-n, -nn), else by these words.
#include "sim/import/machines/lspci_devices.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/pci_devices.hpp"

namespace foretrain {

namespace {

/// Says whether a text is hexadecimal digits alone.
bool is_hexadecimal(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

/// Returns "07:00.0" or "0000:07:00.0" with its domain; empty for other words.
std::string full_address(std::string_view word) {
  const std::size_t dot = word.rfind('.'), colon = word.rfind(':');
  if (dot == std::string_view::npos || colon == std::string_view::npos || dot < colon) return "";
  const std::string_view bus = word.substr(0, colon);
  const std::size_t domain = bus.find(':');
  const bool is_right =
      is_hexadecimal(word.substr(colon + 1, dot - colon - 1)) && is_hexadecimal(word.substr(dot + 1)) &&
      is_hexadecimal(bus.substr(domain == std::string_view::npos ? 0 : domain + 1)) && word.size() < 20;
  if (!is_right) return "";
  return lower_case(domain == std::string_view::npos ? "0000:" + std::string(word) : std::string(word));
}

/// A maker by the beginning of its name, with its PCI vendor.
struct VendorName {
  std::string_view name, number;
};
constexpr VendorName kVendorNames[] = {
    {"nvidia", "10de"}, {"mellanox", "15b3"}, {"advanced micro devices, inc. [amd/ati]", "1002"},
    {"amazon", "1d0f"}, {"cray", "17db"},     {"hewlett packard enterprise", "17db"},
    {"intel", "8086"},  {"cornelis", "8086"}, {"broadcom", "14e4"}};

/// Returns the four digits of the maker that a name in lower case begins with; empty for makers that do not
/// matter.
std::string_view vendor_of(const std::string& words) {
  for (const VendorName& vendor : kVendorNames) {
    if (words.starts_with(vendor.name)) return vendor.number;
  }
  return "";
}

/// Returns the PCI number in a name: "[10de:20b0]", "10de:20b0" at the beginning, or "NVIDIA Corporation
/// Device 20b0"; empty when there is none.
std::string number_in_name(std::string_view name) {
  const auto is_pair = [](std::string_view text) {
    return text.size() == 9 && text[4] == ':' && is_hexadecimal(text.substr(0, 4)) &&
           is_hexadecimal(text.substr(5));
  };
  for (std::size_t open = name.find('['); open != std::string_view::npos; open = name.find('[', open + 1)) {
    const std::string_view inside = name.substr(open + 1, std::min<std::size_t>(9, name.size() - open - 1));
    if (is_pair(inside)) return lower_case(inside);
  }
  if (is_pair(name.substr(0, 9))) return lower_case(name.substr(0, 9));
  const std::string_view device = text_behind(name, " Device ");
  const std::string_view vendor = vendor_of(lower_case(name));
  return !vendor.empty() && device.size() >= 4 && is_hexadecimal(device.substr(0, 4))
             ? fmt::format("{}:{}", vendor, lower_case(device.substr(0, 4)))
             : "";
}

/// Returns the product in the last brackets that hold neither a PCI number nor a maker, such as "[A100 SXM4
/// 40GB]"; the whole name when there are none.
std::string product_in_name(std::string_view name) {
  std::string out;
  for (std::size_t open = name.find('['); open != std::string_view::npos; open = name.find('[', open + 1)) {
    const std::size_t close = name.find(']', open);
    if (close == std::string_view::npos) break;
    const std::string_view inside = name.substr(open + 1, close - open - 1);
    if (inside != "AMD/ATI" && inside != "AMD" && (inside.size() != 9 || inside[4] != ':'))
      out = std::string(inside);
  }
  return out.empty() ? std::string(trimmed(name.substr(0, 200))) : out.substr(0, 200);
}

/// Says whether the words name a device beside a GPU on its card, or one that joins GPUs.
bool is_next_to_gpu(const std::string& words) {
  for (const std::string_view other :
       {"audio", "usb", "ucsi", "nvswitch", "bridge", "host", "serial", "root", "switch", "soc management",
        "dma", "smbus", "i2c", "encryption", "psp", "ntb", "sata"}) {
    if (holds(words, other)) return true;
  }
  return false;
}

/// Says whether a number is an NVSwitch, which has no name in older lists.
bool is_nvswitch(std::string_view pci_device) {
  return pci_device == "10de:1ac1" || pci_device == "10de:1ac2" || pci_device == "10de:1af1" ||
         pci_device == "10de:22a3" || pci_device == "10de:22b1" || pci_device == "10de:22b8";
}

/// Says whether the class, as a number or in words, is that of a GPU.
bool has_gpu_words(const LspciDevice& device) {
  if (is_gpu_class(device.pci_class)) return true;
  const std::string& words = device.pci_class;
  return holds(words, "3d controller") || holds(words, "vga") || holds(words, "display") ||
         holds(words, "processing accelerators");
}

/// Says whether a device is a GPU of NVIDIA or AMD.
bool is_lspci_gpu(const LspciDevice& device, const std::string& words, std::string_view pci_device) {
  const bool is_maker = words.starts_with("nvidia") || vendor_of(words) == "1002" ||
                        pci_device.starts_with("10de:") || pci_device.starts_with("1002:");
  if (!is_maker || is_nvswitch(pci_device)) return false;
  if (!device.pci_class.empty()) return has_gpu_words(device);
  // A tree shows no class. There, the first function of a card of these makers is the GPU, if its words name
  // nothing else.
  return device.address.ends_with(".0") && !is_next_to_gpu(words);
}

/// Returns the PCI number of an adapter by its name, such as "[ConnectX-6]" or "[ConnectX-6 Virtual
/// Function]". The table stands in the order of trying: longer names first.
std::string adapter_number(std::string_view name, const std::string& words) {
  struct Named {
    std::string_view words, number;
  };
  constexpr Named kNamed[] = {
      {"connectx-4 lx", "15b3:1015"},      {"connectx-4 virtual", "15b3:1014"},
      {"connectx-4", "15b3:1013"},         {"connectx-5 ex virtual", "15b3:101a"},
      {"connectx-5 ex", "15b3:1019"},      {"connectx-5 virtual", "15b3:1018"},
      {"connectx-5", "15b3:1017"},         {"connectx-6 dx", "15b3:101d"},
      {"connectx-6 virtual", "15b3:101c"}, {"connectx-6", "15b3:101b"},
      {"connectx-7", "15b3:1021"},         {"connectx family mlx5gen virtual", "15b3:101e"},
      {"connectx-3 pro", "15b3:1007"},     {"connectx-3", "15b3:1003"},
      {"connect-ib", "15b3:1011"},         {"elastic fabric adapter", "1d0f:efa0"},
      {"omni-path", "8086:24f0"},          {"cassini", "17db:0501"}};
  for (const Named& named : kNamed) {
    if (holds(words, named.words)) return std::string(named.number);
  }
  return number_in_name(name);
}

}  // namespace

bool lspci_line(std::string_view line, LspciDevice& device) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.starts_with(" ")) return false;
  device.address = full_address(line.substr(0, blank));
  const std::size_t colon = line.find(": ", blank);
  if (device.address.empty() || colon == std::string_view::npos) return false;
  std::string pci_class = lower_case(trimmed(line.substr(blank, colon - blank)));
  // "3d controller [0302]" holds the number, which says it all.
  if (const std::size_t open = pci_class.rfind('['); open != std::string::npos && pci_class.ends_with("]"))
    pci_class = pci_class.substr(open + 1, pci_class.size() - open - 2);
  device.pci_class = std::move(pci_class);
  device.name = std::string(trimmed(line.substr(colon + 1)).substr(0, 300));
  return !device.pci_class.empty() && !device.name.empty();
}

void take_lspci_device(const LspciDevice& device, PciNode& node) {
  std::string name = device.name;
  if (const std::size_t revision = name.find(" (rev "); revision != std::string::npos) name.erase(revision);
  const std::string words = lower_case(name);
  node.part.bus = device.address;
  node.part.pci_device = number_in_name(name);
  if (is_lspci_gpu(device, words, node.part.pci_device)) {
    node.kind = PciNode::Kind::gpu;
    // A device without a name in the repository has only its number; a made-up product would mislead.
    if (const std::string product = product_in_name(name);
        !product.starts_with("NVIDIA") || !holds(product, " Device "))
      node.part.name = node.part.pci_device == name.substr(0, 9) ? "" : product;
    return;
  }
  const bool has_other_class = !device.pci_class.empty() && !is_adapter_class(device.pci_class) &&
                               !holds(device.pci_class, "controller");
  const std::string number = adapter_number(name, words);
  if (has_other_class || adapter_of(number) == nullptr || is_next_to_gpu(words)) return;
  node.kind = PciNode::Kind::adapter;
  node.part.pci_device = number;
}

}  // namespace foretrain
