// /sys/bus/pci/devices/ADDRESS is a link whose target names every bridge above the device:
// "…/pci0000:00/0000:00:01.0/0000:07:00.0" (the kernel's Documentation/ABI/testing/sysfs-bus-pci).
// From vendor, device, class, link widths and speeds, and numa_node a tree is built; machine_parts() then
// drops bridges that do not matter. Virtual functions and display controllers of management chips are
// skipped.
#include "sim/import/detection/pci_bus.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/import/detection/network_ports.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/pci_devices.hpp"
#include "sim/import/machines/pci_tree.hpp"

namespace foretrain {

namespace {

const std::string kPciFolder = "sys/bus/pci/devices/";
/// Limit of bridges above one device.
constexpr std::size_t kMostBridges = 32;
// Registers of devices without a link hold 63 or 255 lanes, which is no width.
constexpr int kMostLanes = 32;

/// Says whether a name has the form domain:bus:device.function, such as "0000:07:00.0".
bool is_pci_address(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon != std::string_view::npos && colon >= 4 && name.size() == colon + 8 &&
         name[colon + 3] == ':' && name[colon + 6] == '.';
}

/// Returns the four hexadecimal digits of "0x10de"; empty when the text is no such number.
std::string bare_number(const std::string& text) {
  const std::string digits = lower_case(text.starts_with("0x") ? text.substr(2) : text);
  return digits.size() == 4 && digits.find_first_not_of("0123456789abcdef") == std::string::npos ? digits
                                                                                                 : "";
}

/// Returns what two ends agree on: the lesser value, or the known one where only one is known.
int agreed(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// The link of a device to what is above it: lanes and PCIe generation that both ends can do, and those in
/// use. 0 means unknown.
struct PciLink {
  int lanes_can = 0, lanes = 0, generation_can = 0, generation = 0;
};

/// Builds the tree of one machine.
class PciBus {
 public:
  PciBus(Machine& machine, const FileTree& tree, const std::map<int, int>& part_of_numa,
         const std::map<std::string, int>& socket_of_bus)
      : machine_(machine),
        tree_(tree),
        part_of_numa_(part_of_numa),
        socket_of_bus_(socket_of_bus),
        ports_(network_ports(tree)) {
    // Sockets come first, so that their indices in nodes_ are those in the machine.
    for (const MachinePart& socket : machine.parts) nodes_.push_back({PciNode::Kind::socket, -1, socket});
  }

  /// Adds every device of the bus, drops GPUs of a second maker, and writes the tree into the machine.
  void add_all() {
    for (const std::string& address : tree_.entries(kPciFolder)) {
      if (is_pci_address(address)) add_device(address);
    }
    keep_one_maker(nodes_, machine_.remarks);
    const int sockets = static_cast<int>(part_of_numa_.size());
    if (unplaced_ > 0 && sockets > 1)
      machine_.remarks.push_back(fmt::format("{} PCI {} no NUMA node: put at the first socket",
                                             counted(unplaced_, "device"),
                                             unplaced_ == 1 ? "tells" : "tell"));
    machine_.parts = machine_parts(nodes_);
    judge_links();
  }

 private:
  /// Adds a device if it is a GPU or a network adapter.
  void add_device(const std::string& address) {
    const std::string real = tree_.real_path(kPciFolder + address);
    const std::string pci_class = tree_.text(real + "/class");
    const bool is_adapter = is_adapter_class(pci_class);
    if (real.empty() || (!is_adapter && !is_gpu_class(pci_class))) return;
    // Virtual functions are skipped, because the card itself is listed too.
    if (tree_.has(real + "/physfn")) return;
    MachinePart part = part_of(address, real);
    if (is_adapter) return add_adapter(real, std::move(part));
    // Class 0x0300 is a display controller: Intel's integrated graphics are skipped without a remark.
    if (part.pci_device.starts_with("8086:") && !pci_class.starts_with("0x0300"))
      machine_.remarks.push_back(
          fmt::format("Intel's GPU at {} is left out: there is no model of it", address));
    // GPUs of NVIDIA and AMD are taken. Others are screens of management controllers and virtual
    // machines.
    if (!part.pci_device.starts_with("10de:") && !part.pci_device.starts_with("1002:")) return;
    part.name = driver_product(address);
    nodes_.push_back({PciNode::Kind::gpu, parent_of(address, real), std::move(part)});
  }

  /// Reads the properties that all devices have.
  MachinePart part_of(const std::string& address, const std::string& real) {
    MachinePart part;
    part.bus = lower_case(address);
    const std::string vendor = bare_number(tree_.text(real + "/vendor"));
    const std::string device = bare_number(tree_.text(real + "/device"));
    if (!vendor.empty() && !device.empty()) part.pci_device = vendor + ":" + device;
    const PciLink link = link_of_device(real);
    links_[part.bus] = {link, real};
    part.generation = link.generation_can;
    // The lanes in use count, because they limit the bandwidth; the generation in use does not, as idle GPUs
    // lower it.
    part.lanes = link.lanes > 0 ? link.lanes : link.lanes_can;
    return part;
  }

  /// Reads the link of a device. The bridge above it is the other end of the link.
  PciLink link_of_device(const std::string& real) const {
    const auto lanes = [this](const std::string& file) {
      const std::int64_t count = integer_of(tree_.text(file)).value_or(0);
      return count > 0 && count <= kMostLanes ? static_cast<int>(count) : 0;
    };
    const auto generation = [this](const std::string& file) { return pcie_generation(tree_.text(file)); };
    const std::string above = real.substr(0, real.rfind('/'));
    return {agreed(lanes(real + "/max_link_width"), lanes(above + "/max_link_width")),
            lanes(real + "/current_link_width"),
            agreed(generation(real + "/max_link_speed"), generation(above + "/max_link_speed")),
            generation(real + "/current_link_speed")};
  }

  /// Returns the product that NVIDIA's driver gives in the first line: "Model: \t\t NVIDIA A100-SXM4-80GB".
  /// Empty when there is none.
  std::string driver_product(const std::string& address) const {
    const std::string text = tree_.text("proc/driver/nvidia/gpus/" + address + "/information");
    return std::string(text_behind(text.substr(0, text.find('\n')), "Model:")).substr(0, 200);
  }

  /// Adds a network adapter with the port that belongs to it. A port that is down and an unknown adapter
  /// without a rate are left out with a message.
  void add_adapter(const std::string& real, MachinePart part) {
    const auto port = std::ranges::find_if(ports_, [&real](const NetworkPort& candidate) {
      return candidate.device == real || candidate.device.starts_with(real + "/");
    });
    const bool is_known = adapter_of(part.pci_device) != nullptr;
    if (port != ports_.end()) {
      part.name = port->name;
      part.network_gbps = port->gbps;
      if (port->is_down && (is_known || port->is_rdma))
        machine_.doubts.push_back(
            {{tree_.shown(port->state_file), 0},
             fmt::format("{} is down ({}): left out", port->name, tree_.text(port->state_file)),
             "look at its cable and switch port; `ibstat` or `ip link` shows it up again"});
      if (port->is_down) return;
    }
    if (part.network_gbps == 0 && !is_known) {
      if (port != ports_.end())
        machine_.remarks.push_back(fmt::format("{} tells no speed and is left out", port->name));
      return;
    }
    const std::string address = part.bus;
    nodes_.push_back({PciNode::Kind::adapter, parent_of(address, real), std::move(part)});
  }

  /// Returns the node that a device hangs at: the innermost bridge of its path, which is made with those
  /// above it, or a socket.
  int parent_of(const std::string& address, const std::string& real) {
    // The ends in the path of those folders above the device that are PCI bridges.
    std::vector<std::size_t> ends;
    for (std::size_t begin = 0, slash; (slash = real.find('/', begin)) != std::string::npos;
         begin = slash + 1) {
      if (is_pci_address(std::string_view(real).substr(begin, slash - begin)) && ends.size() < kMostBridges)
        ends.push_back(slash);
    }
    int parent = socket_of(address, real, ends);
    for (const std::size_t end : ends) parent = bridge_at(real.substr(0, end), parent);
    return parent;
  }

  /// Returns the node of a bridge and adds it below `parent` when it is new.
  int bridge_at(const std::string& real, int parent) {
    const auto [found, is_new] = bridge_of_.try_emplace(real, static_cast<int>(nodes_.size()));
    if (is_new)
      nodes_.push_back({PciNode::Kind::bridge, parent, part_of(real.substr(real.rfind('/') + 1), real)});
    return found->second;
  }

  /// Returns the socket of a device: the NUMA node of the innermost folder that names one, else what hwloc
  /// says, else the first.
  int socket_of(const std::string& address, const std::string& real, const std::vector<std::size_t>& ends) {
    std::vector<std::string> folders{real};
    for (const std::size_t end : ends) folders.push_back(real.substr(0, end));
    for (const std::string& folder : folders) {
      const auto node = integer_of(tree_.text(folder + "/numa_node")).value_or(-1);
      const auto found = part_of_numa_.find(static_cast<int>(std::clamp<std::int64_t>(node, -1, 1 << 20)));
      if (found != part_of_numa_.end()) return found->second;
    }
    const auto told = socket_of_bus_.find(address);
    if (told != socket_of_bus_.end() && told->second < static_cast<int>(part_of_numa_.size()))
      return told->second;
    ++unplaced_;
    return 0;
  }

  /// Returns the name of a part for messages.
  std::string name_of_part(int index) const {
    const MachinePart& part = machine_.parts[static_cast<std::size_t>(index)];
    const auto alike = machine_.of_kind(part.kind);
    if (part.kind == PartKind::gpu)
      return fmt::format("gpu{}", std::ranges::find(alike, index) - alike.begin());
    if (part.kind == PartKind::adapter) return part.name.empty() ? "adapter " + part.bus : part.name;
    return "the PCIe switch " + part.bus;
  }

  /// Adds warnings about slow links. GPUs and switches lower their speed while nothing runs, so only adapters
  /// are judged by speed.
  void judge_links() {
    for (std::size_t i = 0; i < machine_.parts.size(); ++i) {
      const MachinePart& part = machine_.parts[i];
      const auto found = links_.find(part.bus);
      if (part.kind == PartKind::socket || found == links_.end()) continue;
      const auto& [link, folder] = found->second;
      const std::string name = name_of_part(static_cast<int>(i));
      const std::string hint = fmt::format(
          "reseat the card or its riser; `lspci -vv -s {}` shows LnkSta against LnkCap", part.bus);
      if (link.lanes > 0 && link.lanes < link.lanes_can)
        machine_.doubts.push_back(
            {{tree_.shown(folder + "/current_link_width"), 0},
             fmt::format("{} trained {} of its {} PCIe lanes", name, link.lanes, link.lanes_can),
             hint});
      if (part.kind == PartKind::adapter && link.generation > 0 && link.generation < link.generation_can)
        machine_.doubts.push_back({{tree_.shown(folder + "/current_link_speed"), 0},
                                   fmt::format("{} runs PCIe {} where both ends can {}", name,
                                               link.generation, link.generation_can),
                                   hint});
    }
  }

  Machine& machine_;
  const FileTree& tree_;
  const std::map<int, int>& part_of_numa_;
  const std::map<std::string, int>& socket_of_bus_;
  std::vector<NetworkPort> ports_;
  std::vector<PciNode> nodes_;
  /// Index in nodes_ of a bridge, by its folder.
  std::map<std::string, int> bridge_of_;
  /// Link and folder of a device or bridge, by its PCI address.
  std::map<std::string, std::pair<PciLink, std::string>> links_;
  /// Number of devices whose socket no source gives.
  int unplaced_ = 0;
};

}  // namespace

void add_pci_bus(Machine& machine, const FileTree& tree, const std::map<int, int>& part_of_numa,
                 const std::map<std::string, int>& socket_of_bus) {
  PciBus(machine, tree, part_of_numa, socket_of_bus).add_all();
}

std::string sysfs_address(std::string_view address) {
  std::string out = lower_case(address);
  // Leading zeros of the domain beyond four digits are dropped.
  const std::size_t colon = out.find(':');
  const std::size_t digits = std::min(out.find_first_not_of('0'), colon);
  if (colon == std::string::npos) return out;
  return out.substr(colon - std::min<std::size_t>(colon, std::max<std::size_t>(4, colon - digits)));
}

}  // namespace foretrain
