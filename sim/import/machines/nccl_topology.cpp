// Reader of NCCL_TOPO_DUMP_FILE and of the topology files that clouds inject (NVIDIA/nccl src/graph/xml.cc):
// <cpu numaid="0"><pci busid="0000:07:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu
// dev="0" sm="80"><nvlink target="0000:c4:00.0" count="2" tclass="0x068000"/></gpu></pci></cpu>.
// <pci> nests like the bridges of PCIe and ends in <gpu> or in <nic> with its <net>s. Files of clouds have
// only <pci>, where class codes tell what a device is.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/pci_tree.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/machines/xml_source.hpp"

namespace foretrain {

namespace {

/// Class of NVSwitches, a bridge of another kind.
constexpr std::string_view kNvswitchClass = "0x068000";

/// Returns vendor and device of a <pci>: "0x10de" and "0x20b0" are "10de:20b0"; empty when one is missing.
std::string device_of_nccl(const pugi::xml_node& pci) {
  const auto bare = [&](const char* name) {
    const std::string text = lower_case(attribute_of(pci, name));
    return text.starts_with("0x") ? text.substr(2) : text;
  };
  const std::string vendor = bare("vendor"), device = bare("device");
  return vendor.empty() || device.empty() ? "" : vendor + ":" + device;
}

/// Returns the family of a <cpu>; no value for makers that the model does not know.
std::optional<HostFamily> family_of_nccl(const pugi::xml_node& cpu) {
  const std::string arch = attribute_of(cpu, "arch"), vendor = attribute_of(cpu, "vendor");
  if (arch == "ppc64") return HostFamily::power9;
  if (arch == "arm64") return HostFamily::arm;
  if (vendor == "AuthenticAMD") return HostFamily::amd;
  // Broadwell is model 79 of family 6, Skylake-SP and its kin from 85 on (NCCL's src/graph/topo.cc).
  if (vendor == "GenuineIntel")
    return cpu.attribute("modelid").as_int() < 85 ? HostFamily::intel_broadwell : HostFamily::intel_skylake;
  return std::nullopt;
}

/// Returns AMD's product by its architecture, which RCCL writes as a number or as gfx90a. NCCL writes none,
/// so the text is empty for NVIDIA.
std::string amd_product(std::string_view gcn) {
  static constexpr std::pair<std::string_view, std::string_view> kProducts[] = {
      {"906", "mi50"},      {"908", "mi100"},  {"gfx908", "mi100"}, {"910", "mi250x"},
      {"gfx90a", "mi250x"}, {"940", "mi300x"}, {"942", "mi300x"},   {"gfx942", "mi300x"}};
  for (const auto& [name, product] : kProducts) {
    if (gcn.starts_with(name)) return std::string(product);
  }
  return "";
}

/// Reads one topology. Elements are gathered in one walk, since links may name GPUs that stand below them.
class NcclTopology {
 public:
  NcclTopology(const SourceText& source, Diagnostics& diagnostics)
      : xml_(source, diagnostics), diagnostics_(diagnostics) {}

  Machine read(const std::string& file) {
    const pugi::xml_node system = xml_.root("system");
    machine_.place = {file, xml_.span_of(system).line};
    xml_.walk(system, -1, [this](const pugi::xml_node& node, int parent) { return visit(node, parent); });
    make_devices();
    machine_.parts = machine_parts(nodes_);
    if (machine_.of_kind(PartKind::gpu).empty())
      diagnostics_.report(xml_.span_of(system), "no GPU in this topology",
                          "a <pci> of class 0x0302 or 0x0300, or one that holds <gpu>");
    join_gpus();
    return std::move(machine_);
  }

 private:
  /// A link of a GPU: addresses of both ends and class of the far one.
  struct Target {
    std::string from, to, target_class;
    int count;
  };

  /// Takes one element and returns the node that its children hang at.
  int visit(const pugi::xml_node& node, int parent) {
    const std::string_view name = node.name();
    if (name == "cpu") return add_cpu(node);
    if (name == "pci") return add_pci(node, parent);
    if (name == "gpu") add_gpu(node, parent);
    if (name == "net") add_net(node, parent);
    if (name == "nvlink" || name == "xgmi") add_link(node, parent);
    return parent;
  }

  /// Adds a NUMA node as a socket.
  int add_cpu(const pugi::xml_node& cpu) {
    if (!machine_.family) machine_.family = family_of_nccl(cpu);
    return add({PciNode::Kind::socket, -1, {}}, "");
  }

  /// Adds a node with the class of its device and returns its index.
  int add(PciNode node, std::string pci_class) {
    nodes_.push_back(std::move(node));
    classes_.push_back(std::move(pci_class));
    return static_cast<int>(nodes_.size()) - 1;
  }

  /// Adds a <pci> as a bridge; make_devices() finds out later what it is.
  int add_pci(const pugi::xml_node& pci, int parent) {
    PciNode node{PciNode::Kind::bridge, parent, {}};
    node.part.bus = lower_case(attribute_of(pci, "busid"));
    node.part.pci_device = device_of_nccl(pci);
    node.part.generation = pcie_generation(attribute_of(pci, "link_speed"));
    node.part.lanes = std::clamp(pci.attribute("link_width").as_int(), 0, 32);
    return add(std::move(node), attribute_of(pci, "class"));
  }

  /// Turns the <pci> of a <gpu> into a GPU.
  void add_gpu(const pugi::xml_node& gpu, int pci) {
    if (pci < 0 || is_socket(pci)) return diagnostics_.report(xml_.span_of(gpu), "a <gpu> outside a <pci>");
    PciNode& node = at(pci);
    node.kind = PciNode::Kind::gpu;
    node.part.name = amd_product(attribute_of(gpu, "gcn"));
    // "70" is capability 7.0. AMD's GPUs have the number of compute units there.
    if (gpu.attribute("gcn").empty()) node.part.compute_capability = gpu.attribute("sm").as_int() / 10.0;
    tells_gpus_ = true;
  }

  /// Adds a network port as an adapter of its own, so a card with two ports is two adapters.
  void add_net(const pugi::xml_node& net, int pci) {
    PciNode node{PciNode::Kind::adapter, pci, {}};
    if (pci >= 0 && !is_socket(pci)) node.part = at(pci).part;
    node.part.name = attribute_of(net, "name");
    // NCCL writes the rate in Mb/s.
    node.part.network_gbps = std::clamp(net.attribute("speed").as_double() / 1000, 0.0, 1e4);
    add(std::move(node), "");
    if (pci >= 0) ports_.insert(pci);
  }

  /// Notes a link of a GPU to another device; its other end may follow later.
  void add_link(const pugi::xml_node& link, int pci) {
    if (pci < 0 || is_socket(pci)) return;
    machine_.tells_nvlinks = true;
    links_.push_back({at(pci).part.bus, lower_case(attribute_of(link, "target")),
                      attribute_of(link, "tclass"), std::clamp(link.attribute("count").as_int(), 0, 64)});
  }

  /// Finds GPUs and adapters by class where no element names them. A card of network ports stays as the lanes
  /// above its ports.
  void make_devices() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      PciNode& node = nodes_[i];
      if (node.kind != PciNode::Kind::bridge || ports_.contains(static_cast<int>(i))) continue;
      if (!tells_gpus_ && is_gpu_class(classes_[i])) node.kind = PciNode::Kind::gpu;
      if (is_adapter_class(classes_[i])) node.kind = PciNode::Kind::adapter;
    }
    // A dump lists all NVLinks, so none listed means that there are none.
    if (tells_gpus_) machine_.tells_nvlinks = true;
  }

  /// Adds the NVLinks by numbers of GPUs. Both GPUs list a link between them, so it is taken at the lower
  /// one.
  void join_gpus() {
    std::map<std::string, int> gpu_at;
    const std::vector<int> gpus = machine_.of_kind(PartKind::gpu);
    for (std::size_t i = 0; i < gpus.size(); ++i)
      gpu_at[machine_.parts[static_cast<std::size_t>(gpus[i])].bus] = static_cast<int>(i);
    std::map<int, int> to_switches;
    for (const Target& link : links_) {
      const auto from = gpu_at.find(link.from), to = gpu_at.find(link.to);
      if (from == gpu_at.end()) continue;
      if (to != gpu_at.end() && from->second < to->second)
        machine_.nvlinks.push_back({from->second, to->second, link.count});
      if (to == gpu_at.end() && link.target_class == kNvswitchClass) to_switches[from->second] += link.count;
    }
    for (const auto& [gpu, count] : to_switches) machine_.nvlinks.push_back({gpu, -1, count});
  }

  PciNode& at(int index) { return nodes_[static_cast<std::size_t>(index)]; }
  bool is_socket(int index) { return at(index).kind == PciNode::Kind::socket; }

  XmlSource xml_;
  Diagnostics& diagnostics_;
  Machine machine_;
  std::vector<PciNode> nodes_;
  /// Class codes of nodes_, in the same order.
  std::vector<std::string> classes_;
  /// Nodes that hold network ports.
  std::set<int> ports_;
  std::vector<Target> links_;
  /// True if the file names GPUs by <gpu>, as NCCL's own dumps do.
  bool tells_gpus_ = false;
};

}  // namespace

bool is_nccl_topology(std::string_view text) {
  const std::string_view head = text.substr(0, 4000);
  return holds(head, "<system") && holds(head, "<cpu");
}

Machine read_nccl_topology(const SourceText& source, Diagnostics& diagnostics) {
  return NcclTopology(source, diagnostics).read(source.name);
}

}  // namespace foretrain
