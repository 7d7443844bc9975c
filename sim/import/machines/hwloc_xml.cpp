// Reader of the XML that lstopo writes (hwloc 1, 2 and 3): nested <object>s from the machine down to PCI
// devices, such as
// <object type="PCIDev" pci_busid="0000:07:00.0" pci_type="0302 [10de:20b0] [10de:144f] a1"
// pci_link_speed="31.508">.
// Operating-system devices below them tell names. NVLinks stand, where the file has them, as a matrix of
// bandwidths between GPUs and NVSwitches.
// Sockets, cores, memory, PCI devices and their links are taken; caches and processing units are not.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/pci_tree.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/machines/xml_source.hpp"

namespace foretrain {

namespace {

/// MB/s of one NVLink as hwloc writes it: NVLink 2 and later, and NVLink 1.
constexpr std::int64_t kNvlinkMegabytes = 25'000, kFirstNvlinkMegabytes = 20'000;
/// Limit of devices in a matrix.
constexpr std::size_t kMostMatrixDevices = 256;

/// Class code, and vendor with device, of a PCI object.
struct PciType {
  std::string pci_class, device;
};

/// Reads "0302 [10de:1db8] [10de:131d] a1" as 0302 and 10de:1db8.
PciType pci_type_of(const pugi::xml_node& object) {
  const std::string text = lower_case(attribute_of(object, "pci_type"));
  const std::size_t open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {text.substr(0, 4), ""};
  return {text.substr(0, 4), text.substr(open + 1, close - open - 1)};
}

/// Sets lanes and generation from the rate of a link in GB/s, which hwloc computes from both.
/// A rate may have several solutions, such as 8 lanes of generation 4 or 16 of generation 3. More lanes are
/// likelier than a newer generation.
void set_lanes(MachinePart& part, double gigabytes) {
  // GB/s of one lane, from generation 1 on.
  constexpr std::array<double, 5> kPerLane{0.25, 0.5, 0.984615, 1.969231, 3.938462};
  for (const int lanes : {16, 8, 4, 2, 1}) {
    for (std::size_t i = 0; i < kPerLane.size(); ++i) {
      if (std::abs(gigabytes - kPerLane[i] * lanes) > 0.01 * gigabytes) continue;
      part.generation = static_cast<int>(i) + 1;
      part.lanes = lanes;
      return;
    }
  }
}

/// Returns the family that an <info> of hwloc tells; Intel's generation is not in it, so Skylake stands for
/// all.
std::optional<HostFamily> family_of_hwloc(const std::string& key, const std::string& value) {
  if (key == "Architecture" && value.starts_with("ppc64")) return HostFamily::power9;
  if (key == "Architecture" && value.starts_with("aarch64")) return HostFamily::arm;
  if (key == "CPUVendor" && value == "AuthenticAMD") return HostFamily::amd;
  if (key == "CPUVendor" && value == "GenuineIntel") return HostFamily::intel_skylake;
  return std::nullopt;
}

/// Returns the GPU of a board whose GPU is part of the chip and no PCI device, by the firmware's name of the
/// board.
std::string_view gpu_of_board(std::string_view product) {
  for (const std::string_view board : {"DGX_Spark", "DGX Spark", "GB10", "GX10"}) {
    if (holds(product, board)) return "gb10";
  }
  return "";
}

/// Reads one topology. The tree of PCI is gathered in nodes_ during one walk and collapsed at the end.
class HwlocXml {
 public:
  HwlocXml(const SourceText& source, Diagnostics& diagnostics)
      : xml_(source, diagnostics), diagnostics_(diagnostics) {}

  Machine read(const std::string& file) {
    const pugi::xml_node topology = xml_.root("topology");
    machine_.place = {file, xml_.span_of(topology).line};
    xml_.walk(topology, -1, [this](const pugi::xml_node& node, int parent) { return visit(node, parent); });
    keep_one_maker(nodes_, machine_.remarks);
    drop_coreless_sockets();
    add_gpu_of_board();
    machine_.parts = machine_parts(nodes_);
    machine_.sockets = static_cast<int>(machine_.of_kind(PartKind::socket).size());
    if (machine_.sockets == 0) diagnostics_.report(xml_.span_of(topology), "no CPU in this topology");
    read_nvlinks(topology);
    return std::move(machine_);
  }

 private:
  /// Adds the GPU of the board at the first socket, if no PCI device is a GPU.
  void add_gpu_of_board() {
    const auto is_gpu = [](const PciNode& node) { return node.kind == PciNode::Kind::gpu; };
    if (board_gpu_.empty() || nodes_.empty() || std::ranges::any_of(nodes_, is_gpu)) return;
    PciNode gpu{PciNode::Kind::gpu, 0, {}};
    gpu.part.name = board_gpu_;
    nodes_.push_back(std::move(gpu));
    machine_.remarks.push_back(fmt::format("the GPU is that of the board: {}", board_gpu_));
  }

  /// Takes one element and returns the node that its children hang at.
  int visit(const pugi::xml_node& node, int parent) {
    const std::string_view element = node.name();
    if (element == "info") take_info(node, parent);
    if (element != "object") return parent;
    const std::string type = attribute_of(node, "type");
    add_memory(node);
    if (type == "Core") count_core(parent);
    // NUMA nodes and packages nest in either order, by version; the outermost one becomes the socket.
    if (type == "NUMANode" || type == "Package" || type == "Socket")
      return parent >= 0 ? parent : add({PciNode::Kind::socket, -1, {}});
    // A host bridge is the socket's own: what hangs at it hangs at the socket.
    if (type == "Bridge" && attribute_of(node, "bridge_type") == "0-1")
      return parent >= 0 ? parent : some_socket();
    if (type == "Bridge" || type == "PCIDev") return add_pci(node, type == "PCIDev", parent);
    if (type == "OSDev") take_name(node, parent);
    return parent;
  }

  /// Adds the memory of a NUMA node, bounded so that the sum stays defined.
  void add_memory(const pugi::xml_node& node) {
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    const std::int64_t bytes = node.attribute("local_memory").as_llong();
    machine_.memory.count =
        std::clamp<std::int64_t>(machine_.memory.count + std::clamp<std::int64_t>(bytes, 0, kMost), 0, kMost);
  }

  /// Counts a core, and marks the socket that it belongs to.
  void count_core(int parent) {
    ++machine_.cores;
    for (int i = parent; i >= 0; i = at(i).parent) {
      if (at(i).kind == PciNode::Kind::socket) has_cores_[i] = true;
    }
  }

  /// Adds a node and returns its index.
  int add(PciNode node) {
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  /// Adds a bridge or PCI device. A device is a GPU or an adapter by its class and number, else it counts as
  /// a bridge.
  int add_pci(const pugi::xml_node& object, bool is_device, int parent) {
    const PciType type = pci_type_of(object);
    PciNode node{PciNode::Kind::bridge, parent >= 0 ? parent : some_socket(), {}};
    node.part.bus = lower_case(attribute_of(object, "pci_busid"));
    node.part.pci_device = type.device;
    set_lanes(node.part, object.attribute("pci_link_speed").as_double());
    if (is_device && is_gpu_class(type.pci_class) && !is_console(type.device)) node.kind = PciNode::Kind::gpu;
    if (is_device && (type.pci_class == "0207" || adapter_of(type.device) != nullptr))
      node.kind = PciNode::Kind::adapter;
    const int index = add(std::move(node));
    if (is_device) device_at_[attribute_of(object, "gp_index")] = index;
    return index;
  }

  /// Says whether a GPU is the screen of a management controller: of ASPEED (1a03) or Matrox (102b).
  static bool is_console(const std::string& device) {
    return device.starts_with("1a03:") || device.starts_with("102b:");
  }

  /// Returns the first socket, where PCI devices that hang at the machine itself belong; -1 before any
  /// socket.
  int some_socket() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].kind == PciNode::Kind::socket) return static_cast<int>(i);
    }
    return -1;
  }

  /// Takes an operating-system device: the name of an adapter is that of its OpenFabrics device (type 3),
  /// such as mlx5_0.
  void take_name(const pugi::xml_node& device, int parent) {
    const std::string name = attribute_of(device, "name");
    if (parent < 0) return;
    device_at_["OSDev:" + attribute_of(device, "gp_index")] = parent;
    if (at(parent).kind == PciNode::Kind::adapter && attribute_of(device, "osdev_type") == "3")
      at(parent).part.name = name;
  }

  /// Takes an <info> of the machine or of a device.
  void take_info(const pugi::xml_node& info, int parent) {
    const std::string key = attribute_of(info, "name"), value = attribute_of(info, "value");
    if (const auto family = family_of_hwloc(key, value); family && !machine_.family) machine_.family = family;
    if (key == "DMIProductName" || key == "DMIBoardName") {
      if (board_gpu_.empty()) board_gpu_ = gpu_of_board(value);
    }
    if (key == "CPUModel" && machine_.cpu_model.empty()) machine_.cpu_model = value;
    if (parent < 0 || at(parent).kind != PciNode::Kind::gpu) return;
    if (key == "PCIDevice" && at(parent).part.name.empty()) at(parent).part.name = value;
    if (key == "GPUModel") at(parent).part.name = value;
  }

  /// Drops NUMA nodes without cores: the memory of a GPU may appear as a NUMA node. Indices of nodes change.
  void drop_coreless_sockets() {
    std::vector<int> moved(nodes_.size(), -1);
    std::vector<PciNode> kept;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      PciNode& node = nodes_[i];
      const bool is_socket = node.kind == PciNode::Kind::socket;
      if (is_socket && !has_cores_.contains(static_cast<int>(i))) continue;
      if (!is_socket && node.parent >= 0) node.parent = moved[static_cast<std::size_t>(node.parent)];
      moved[i] = static_cast<int>(kept.size());
      kept.push_back(std::move(node));
    }
    nodes_ = std::move(kept);
    for (auto& [name, index] : device_at_) index = moved[static_cast<std::size_t>(index)];
  }

  /// Returns the words of a matrix, at most as many as the limit of devices allows.
  static Words all_words(const std::string& text) {
    return words_of(text, kMostMatrixDevices * kMostMatrixDevices);
  }

  /// Joins the texts of elements that hwloc splits into several, such as <u64values>.
  static std::string text_of(const pugi::xml_node& matrix, const char* element) {
    std::string out;
    for (const pugi::xml_node part : matrix.children(element)) out += std::string(part.text().get()) + " ";
    return out.substr(0, 8 * kMostMatrixDevices * kMostMatrixDevices);
  }

  /// Reads the matrices named NVLinkBandwidth.
  void read_nvlinks(const pugi::xml_node& topology) {
    for (const pugi::xml_node matrix : topology.children("distances2hetero")) {
      if (attribute_of(matrix, "name") != "NVLinkBandwidth") continue;
      const std::string indexes = text_of(matrix, "indexes"), values = text_of(matrix, "u64values");
      add_nvlinks(all_words(indexes), all_words(values), xml_.span_of(matrix));
    }
  }

  /// Adds the NVLinks of a square matrix in MB/s. Each pair of GPUs is taken once; links to devices that are
  /// no GPU go to NVSwitches.
  void add_nvlinks(const Words& names, const Words& values, SourceSpan span) {
    const std::size_t n = names.size();
    if (n > kMostMatrixDevices || values.size() != n * n)
      return diagnostics_.report(span, fmt::format("{} values for {} devices", values.size(), n),
                                 "a square matrix");
    machine_.tells_nvlinks = true;
    const std::vector<int> gpus = gpu_numbers(names);
    for (std::size_t i = 0; i < n; ++i) {
      int to_switches = 0;
      for (std::size_t j = 0; j < n && gpus[i] >= 0; ++j) {
        const int count = links_in(integer_of(values[i * n + j]).value_or(0));
        if (gpus[j] < 0) to_switches += count;
        if (gpus[j] > gpus[i] && count > 0) machine_.nvlinks.push_back({gpus[i], gpus[j], count});
      }
      if (to_switches > 0) machine_.nvlinks.push_back({gpus[i], -1, std::min(to_switches, 64)});
    }
  }

  /// Returns the number of NVLinks for a bandwidth in MB/s: a multiple of 25,000 is of NVLink 2 or later,
  /// else of NVLink 1.
  static int links_in(std::int64_t megabytes) {
    const std::int64_t one = megabytes % kNvlinkMegabytes == 0 ? kNvlinkMegabytes : kFirstNvlinkMegabytes;
    return static_cast<int>(std::clamp<std::int64_t>(megabytes / one, 0, 64));
  }

  /// Returns, for each name of the matrix, the number of the GPU by its PCI address; -1 stands for an
  /// NVSwitch.
  std::vector<int> gpu_numbers(const Words& names) {
    std::map<std::string, int> gpu_at;
    const std::vector<int> gpus = machine_.of_kind(PartKind::gpu);
    for (std::size_t i = 0; i < gpus.size(); ++i)
      gpu_at[machine_.parts[static_cast<std::size_t>(gpus[i])].bus] = static_cast<int>(i);
    std::vector<int> out;
    for (const std::string_view name : names) {
      const auto device = device_at_.find(std::string(name));
      const auto gpu = device == device_at_.end() || device->second < 0
                           ? gpu_at.end()
                           : gpu_at.find(at(device->second).part.bus);
      out.push_back(gpu == gpu_at.end() ? -1 : gpu->second);
    }
    return out;
  }

  PciNode& at(int index) { return nodes_[static_cast<std::size_t>(index)]; }

  XmlSource xml_;
  Diagnostics& diagnostics_;
  Machine machine_;
  std::vector<PciNode> nodes_;
  /// The catalog's GPU of this board; empty for boards whose GPUs are PCI devices.
  std::string board_gpu_;
  /// Sockets that have cores, by index in nodes_.
  std::map<int, bool> has_cores_;
  /// Index in nodes_ by gp_index, and of operating-system devices by "OSDev:" and gp_index.
  std::map<std::string, int> device_at_;
};

}  // namespace

bool is_hwloc_xml(std::string_view text) {
  const std::string_view head = text.substr(0, 4000);
  return holds(head, "<topology") && holds(head, "type=\"Machine\"");
}

Machine read_hwloc_xml(const SourceText& source, Diagnostics& diagnostics) {
  return HwlocXml(source, diagnostics).read(source.name);
}

}  // namespace foretrain
