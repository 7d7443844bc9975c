// NCCL's XML: <cpu> holds <pci>, which holds <pci>, <gpu> with its <nvlink>s, or <nic> with its <net>s. Files
// that clouds inject have PCI alone, where class codes tell what a device is (NVIDIA/nccl src/graph/xml.cc).
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

constexpr std::string_view kNvswitchClass = "0x068000";

/// "0x10de", "0x20b0" → "10de:20b0"
std::string device_of_nccl(const pugi::xml_node& pci) {
  const auto bare = [&](const char* name) {
    const std::string text = lower_case(attribute_of(pci, name));
    return text.starts_with("0x") ? text.substr(2) : text;
  };
  const std::string vendor = bare("vendor"), device = bare("device");
  return vendor.empty() || device.empty() ? "" : vendor + ":" + device;
}

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

/// RCCL writes AMD's architecture, as a number or as gfx90a, where NCCL writes nothing.
std::string amd_product(std::string_view gcn) {
  static constexpr std::pair<std::string_view, std::string_view> kProducts[] = {
      {"906", "mi50"},      {"908", "mi100"},  {"gfx908", "mi100"}, {"910", "mi250x"},
      {"gfx90a", "mi250x"}, {"940", "mi300x"}, {"942", "mi300x"},   {"gfx942", "mi300x"}};
  for (const auto& [name, product] : kProducts) {
    if (gcn.starts_with(name)) return std::string(product);
  }
  return "";
}

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
  struct Target {
    std::string from, to, target_class;
    int count;
  };

  int visit(const pugi::xml_node& node, int parent) {
    const std::string_view name = node.name();
    if (name == "cpu") return add_cpu(node);
    if (name == "pci") return add_pci(node, parent);
    if (name == "gpu") add_gpu(node, parent);
    if (name == "net") add_net(node, parent);
    if (name == "nvlink" || name == "xgmi") add_link(node, parent);
    return parent;
  }

  int add_cpu(const pugi::xml_node& cpu) {
    if (!machine_.family) machine_.family = family_of_nccl(cpu);
    return add({PciNode::Kind::socket, -1, {}}, "");
  }

  int add(PciNode node, std::string pci_class) {
    nodes_.push_back(std::move(node));
    classes_.push_back(std::move(pci_class));
    return static_cast<int>(nodes_.size()) - 1;
  }

  int add_pci(const pugi::xml_node& pci, int parent) {
    PciNode node{PciNode::Kind::bridge, parent, {}};
    node.part.bus = lower_case(attribute_of(pci, "busid"));
    node.part.pci_device = device_of_nccl(pci);
    node.part.generation = pcie_generation(attribute_of(pci, "link_speed"));
    node.part.lanes = std::clamp(pci.attribute("link_width").as_int(), 0, 32);
    return add(std::move(node), attribute_of(pci, "class"));
  }

  void add_gpu(const pugi::xml_node& gpu, int pci) {
    if (pci < 0 || is_socket(pci)) return diagnostics_.report(xml_.span_of(gpu), "a <gpu> outside a <pci>");
    PciNode& node = at(pci);
    node.kind = PciNode::Kind::gpu;
    node.part.name = amd_product(attribute_of(gpu, "gcn"));
    // "70" is 7.0; AMD's GPUs have compute units there.
    if (gpu.attribute("gcn").empty()) node.part.compute_capability = gpu.attribute("sm").as_int() / 10.0;
    tells_gpus_ = true;
  }

  /// A network port: an adapter of its own, so a card with two ports is two.
  void add_net(const pugi::xml_node& net, int pci) {
    PciNode node{PciNode::Kind::adapter, pci, {}};
    if (pci >= 0 && !is_socket(pci)) node.part = at(pci).part;
    node.part.name = attribute_of(net, "name");
    node.part.network_gbps = std::clamp(net.attribute("speed").as_double() / 1000, 0.0, 1e4);  // Mb/s
    add(std::move(node), "");
    if (pci >= 0) ports_.insert(pci);
  }

  void add_link(const pugi::xml_node& link, int pci) {
    if (pci < 0 || is_socket(pci)) return;
    machine_.tells_nvlinks = true;
    links_.push_back({at(pci).part.bus, lower_case(attribute_of(link, "target")),
                      attribute_of(link, "tclass"), std::clamp(link.attribute("count").as_int(), 0, 64)});
  }

  /// What is no bridge: by class, where no element says it. A card of network ports stays as the lanes above
  /// them.
  void make_devices() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      PciNode& node = nodes_[i];
      if (node.kind != PciNode::Kind::bridge || ports_.contains(static_cast<int>(i))) continue;
      if (!tells_gpus_ && is_gpu_class(classes_[i])) node.kind = PciNode::Kind::gpu;
      if (is_adapter_class(classes_[i])) node.kind = PciNode::Kind::adapter;
    }
    if (tells_gpus_) machine_.tells_nvlinks = true;  // a dump lists them all: none is none
  }

  /// Links between two GPUs are told by both of them.
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
  std::vector<std::string> classes_;
  std::set<int> ports_;
  std::vector<Target> links_;
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
