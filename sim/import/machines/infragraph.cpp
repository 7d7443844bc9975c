// Reader of InfraGraph's YAML: "devices" with components and edges describe nodes, "instances" of them with
// edges describe the network.
// A component is {name: xpu, count: 8, choice: xpu} in newer files and {name: xpu, type: xpu} in older ones.
// The device with most GPUs is taken as the node; its CPUs, switches, GPUs and adapters become a tree by a
// search from the CPUs. What joins instances becomes a fabric.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/infragraph_edges.hpp"
#include "sim/import/machines/pci_tree.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/networks/switch_graph.hpp"

namespace foretrain {

namespace {

/// A component: its name and its index.
using Component = std::pair<std::string, int>;

/// The kinds of component that matter.
enum class InfraKind : std::uint8_t { other, cpu, gpu, adapter, gpu_switch, other_switch };

/// Says whether a link or component joins GPUs, by its name: NVLink, xGMI or Infinity Fabric.
bool is_gpu_link(std::string_view text) {
  return holds(text, "nvl") || holds(text, "xgmi") || holds(text, "infinity");
}

/// Returns the kind of a component: by its choice (newer files) or type (older files), then by its name.
InfraKind infra_kind_of(const YamlNode& component) {
  const YamlNode& choice = component.at("choice");
  const std::string type = lower_case(choice.is_null() ? component.at("type").text : choice.text);
  const std::string words = lower_case(component.at("name").text + " " + component.at("description").text);
  if (type == "cpu") return InfraKind::cpu;
  if (type == "xpu" || type == "gpu") return InfraKind::gpu;
  if (type == "nic") return InfraKind::adapter;
  if (is_gpu_link(words) || holds(words, "nvsw")) return InfraKind::gpu_switch;
  return type == "switch" || holds(words, "sw") || holds(words, "pci") ? InfraKind::other_switch
                                                                       : InfraKind::other;
}

/// Returns the bandwidth of a link in Gb/s; 0 when the file gives none. Keys with "byte" are in GB/s.
double infra_gbps(const YamlNode& link) {
  const YamlNode* bandwidth = &link.at("bandwidth");
  if (bandwidth->is_null()) bandwidth = &link.path("physical/bandwidth");
  for (const auto& [key, value] : bandwidth->entries) {
    const double figure = number_of(value.text).value_or(0);
    if (key == "choice" || figure <= 0 || figure > 1e6) continue;
    return holds(key, "byte") ? 8 * figure : figure;
  }
  return 0;
}

/// Reads one infrastructure.
class InfraGraph {
 public:
  InfraGraph(const YamlNode& infrastructure, Diagnostics& diagnostics)
      : infrastructure_(infrastructure), diagnostics_(diagnostics) {}

  /// Reads the node first, because adapters that are instances of their own belong to it, then the network.
  Machine read(const std::string& file) {
    machine_.place = {file, infrastructure_.span.line};
    for (const YamlNode& link : infrastructure_.at("links").items)
      gbps_of_[link.at("name").text] = infra_gbps(link);
    find_node();
    const std::vector<InfraEdge> outer = infra_edges(infrastructure_, infrastructure_, diagnostics_);
    if (node_ != nullptr) take_node(outer);
    take_network(outer);
    if (node_ == nullptr && machine_.fabric.nodes == 0)
      diagnostics_.report(infrastructure_.span, "neither a device with an xpu nor instances that are joined",
                          "infrastructure: devices, instances, edges");
    return std::move(machine_);
  }

 private:
  /// Finds the device with most GPUs.
  void find_node() {
    int most = 0;
    for (const YamlNode& device : infrastructure_.at("devices").items) {
      const int gpus = count_of_kind(device, InfraKind::gpu);
      if (gpus > most) node_ = &device, most = gpus;
    }
  }

  /// Counts the components of a kind in a device.
  int count_of_kind(const YamlNode& device, InfraKind kind) {
    int count = 0;
    for (const YamlNode& component : device.at("components").items) {
      if (infra_kind_of(component) == kind)
        count += infra_count(device.at("components"), component.at("name").text);
    }
    return count;
  }

  /// Returns the kind of a component of the node by its name.
  InfraKind kind_in_node(const std::string& name) const {
    const auto found = kinds_.find(name);
    return found == kinds_.end() ? InfraKind::other : found->second;
  }

  /// Reads the components and edges of the node and places them.
  void take_node(const std::vector<InfraEdge>& outer) {
    for (const YamlNode& component : node_->at("components").items) {
      const InfraKind kind = infra_kind_of(component);
      const std::string& name = component.at("name").text;
      kinds_[name] = kind;
      if (kind == InfraKind::gpu) machine_.gpu_product = described(component);
      if (kind == InfraKind::cpu) machine_.cpu_model = component.at("description").text.substr(0, 200);
      for (const int index : infra_slice_of(name, infra_count(node_->at("components"), name)).numbers)
        components_.insert({name, index});
    }
    for (const InfraEdge& edge : infra_edges(infrastructure_, *node_, diagnostics_))
      join({edge.a.component, edge.a.index}, {edge.b.component, edge.b.index}, edge.link);
    for (const InfraEdge& edge : outer) take_adapter_device(edge);
    place_devices();
  }

  /// Returns the product: "Nvidia A100 GPU" without its last word, else the name of the device.
  std::string described(const YamlNode& component) const {
    std::string text = component.at("description").text;
    if (text.empty()) text = node_->at("name").text;
    for (const std::string_view word : {" GPU", " gpu", " xpu", " XPU"}) {
      if (const std::size_t at = text.find(word); at != std::string::npos) text.erase(at, word.size());
    }
    return text.substr(0, 200);
  }

  /// Notes an edge inside the node. Links of GPUs among each other and to their switches are NVLinks; all
  /// others are PCIe.
  void join(const Component& a, const Component& b, const std::string& link) {
    const bool has_gpu = kind_in_node(a.first) == InfraKind::gpu || kind_in_node(b.first) == InfraKind::gpu;
    const bool has_switch =
        kind_in_node(a.first) == InfraKind::gpu_switch || kind_in_node(b.first) == InfraKind::gpu_switch;
    components_.insert(a), components_.insert(b);
    if (has_gpu && (has_switch || is_gpu_link(lower_case(link)))) return void(gpu_links_.push_back({a, b}));
    neighbours_[a].push_back(b), neighbours_[b].push_back(a);
  }

  /// Says whether an instance is a node that trains. Where the file has no device for it, its name must be
  /// neither a switch nor an adapter.
  bool is_node_instance(const std::string& instance) const {
    const std::string device = device_of_instance(instance);
    return node_ != nullptr && (device.empty() ? !is_switch(instance) && !is_adapter(instance)
                                               : device == node_->at("name").text);
  }
  /// Returns the device that an instance is made of; empty when the file does not say.
  std::string device_of_instance(const std::string& instance) const {
    for (const YamlNode& item : infrastructure_.at("instances").items) {
      if (item.at("name").text == instance) return item.at("device").text;
    }
    return "";
  }

  /// Takes an adapter that is an instance of its own: it hangs at a component of a node. Node 0 stands for
  /// all.
  void take_adapter_device(const InfraEdge& edge) {
    for (const auto& [node, other] : {std::pair{edge.a, edge.b}, std::pair{edge.b, edge.a}}) {
      if (!is_node_instance(node.instance) || !is_adapter(other.instance)) continue;
      host_of_[{other.instance, other.number}] = fmt::format("{}.{}", node.instance, node.number);
      if (node.number != 0) continue;
      kinds_[other.instance] = InfraKind::adapter;
      join({node.component, node.index}, {other.instance, other.number}, edge.link);
    }
  }

  /// Places devices breadth first from the CPUs, so that parents stand before their children.
  void place_devices() {
    std::map<Component, int> at;
    std::deque<Component> open;
    for (const Component& component : components_) {
      if (kind_in_node(component.first) == InfraKind::cpu) place(component, -1, at, open);
    }
    while (!open.empty()) {
      const Component here = open.front();
      open.pop_front();
      for (const Component& other : neighbours_[here]) {
        if (!at.contains(other)) place(other, at.at(here), at, open);
      }
    }
    place_rest(at);
    machine_.parts = machine_parts(nodes_);
    add_gpu_links();
  }

  /// Places GPUs and adapters that no edge joins to a CPU at the first socket.
  void place_rest(std::map<Component, int>& at) {
    std::deque<Component> open;
    if (nodes_.empty()) nodes_.push_back({PciNode::Kind::socket, -1, {}});
    for (const Component& component : components_) {
      const InfraKind kind = kind_in_node(component.first);
      if (!at.contains(component) && (kind == InfraKind::gpu || kind == InfraKind::adapter))
        place(component, 0, at, open);
    }
  }

  /// Adds a component below `parent`. Switches of GPUs are no part of PCIe, and unknown components below
  /// others are left out.
  void place(const Component& component, int parent, std::map<Component, int>& at,
             std::deque<Component>& open) {
    const InfraKind kind = kind_in_node(component.first);
    if (kind == InfraKind::gpu_switch || (kind == InfraKind::other && parent >= 0)) return;
    PciNode node{PciNode::Kind::bridge, parent, {}};
    if (kind == InfraKind::cpu) node = {PciNode::Kind::socket, -1, {}};
    if (kind == InfraKind::gpu) {
      node.kind = PciNode::Kind::gpu;
      // machine_parts() sorts by address, so the number stands in its place.
      node.part.bus = fmt::format("{:06d}", component.second);
    }
    if (kind == InfraKind::adapter) {
      node.kind = PciNode::Kind::adapter;
      node.part.name = fmt::format("{}{}", component.first, component.second).substr(0, 60);
    }
    at[component] = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
    if (kind != InfraKind::gpu && kind != InfraKind::adapter) open.push_back(component);
  }

  /// Counts the links between GPUs, and to GPU switches, which count as NVSwitches.
  void add_gpu_links() {
    machine_.tells_nvlinks = true;
    std::map<std::pair<int, int>, int> counts;
    for (const auto& [a, b] : gpu_links_) {
      const bool both = kind_in_node(a.first) == InfraKind::gpu && kind_in_node(b.first) == InfraKind::gpu;
      const bool is_first = kind_in_node(a.first) == InfraKind::gpu;
      ++counts[both ? std::pair<int, int>(std::minmax(a.second, b.second))
                    : std::pair(is_first ? a.second : b.second, -1)];
    }
    const int gpus = gpus_of(machine_);
    for (const auto& [ends, count] : counts) {
      if (ends.first < gpus && ends.second < gpus && ends.first != ends.second)
        machine_.nvlinks.push_back({ends.first, ends.second, std::min(count, 64)});
    }
  }

  /// Returns the device that an instance is made of; an empty node when the file lacks it.
  const YamlNode& definition_of(const std::string& instance) const {
    static const YamlNode none;
    const std::string device = device_of_instance(instance);
    for (const YamlNode& item : infrastructure_.at("devices").items) {
      if (item.at("name").text == device) return item;
    }
    return none;
  }

  /// Says whether an instance is a switch: by the components of its device, else by its names.
  bool is_switch(const std::string& instance) const {
    for (const YamlNode& component : definition_of(instance).at("components").items) {
      const std::string type = lower_case(component.at("choice").text + component.at("type").text);
      if (type == "cpu" || type == "xpu") return false;
      if (type == "switch") return true;
    }
    const std::string words = lower_case(instance + " " + device_of_instance(instance));
    return holds(words, "switch") || holds(words, "leaf") || holds(words, "spine") || holds(words, "sw ") ||
           words.ends_with("sw");
  }
  /// Says whether an instance is a network adapter, by its names.
  bool is_adapter(const std::string& instance) const {
    const std::string words = lower_case(instance + " " + device_of_instance(instance));
    return !is_switch(instance) && (holds(words, "nic") || holds(words, "hca") || words.ends_with(" cx5"));
  }

  /// Returns the name of the node that an end of an edge belongs to; adapters that are instances stand for
  /// their node.
  std::string host_of(const InfraEnd& end) const {
    const auto found = host_of_.find({end.instance, end.number});
    return found == host_of_.end() ? fmt::format("{}.{}", end.instance, end.number) : found->second;
  }

  /// Builds the graph of switches and hosts and derives the fabric.
  void take_network(const std::vector<InfraEdge>& edges) {
    SwitchGraph graph;
    std::map<std::string, std::set<std::string>> ports_of;
    for (const InfraEdge& edge : edges) {
      const bool a = is_switch(edge.a.instance), b = is_switch(edge.b.instance);
      const auto name = [](const InfraEnd& end) { return fmt::format("{}.{}", end.instance, end.number); };
      const std::string port = fmt::format("{}.{}", edge.a.component, edge.a.index);
      if (a && b) graph.add_link(name(edge.a), name(edge.b), port);
      // An edge of two switches is done, and an edge of two hosts is no part of a switched network.
      if (a == b) continue;
      const InfraEnd &host = a ? edge.b : edge.a, &at = a ? edge.a : edge.b;
      const auto rate = gbps_of_.find(edge.link);
      const double gbps = rate == gbps_of_.end() ? 0 : rate->second;
      graph.add_host(name(at), host_of(host), gbps);
      ports_of[host_of(host)].insert(fmt::format("{}.{}.{}", host.instance, host.component, host.index));
    }
    machine_.fabric = graph.fabric();
    if (machine_.fabric.nodes == 0) machine_.fabric.nodes = instances_of_node();
    add_listed_adapters(ports_of);
  }

  /// Counts the instances of the node's device.
  int instances_of_node() const {
    int count = 0;
    for (const YamlNode& item : infrastructure_.at("instances").items) {
      if (node_ != nullptr && item.at("device").text == node_->at("name").text)
        count += infra_count(infrastructure_.at("instances"), item.at("name").text);
    }
    return count;
  }

  /// Adds adapters of a node that has none: as many as the ports that a host has at switches, on the first
  /// socket.
  void add_listed_adapters(const std::map<std::string, std::set<std::string>>& ports_of) {
    if (ports_of.empty() || !machine_.of_kind(PartKind::adapter).empty()) return;
    std::size_t most = 0;
    for (const auto& [host, ports] : ports_of) most = std::max(most, ports.size());
    if (machine_.of_kind(PartKind::socket).empty()) machine_.parts.push_back({PartKind::socket, -1});
    const int socket = machine_.of_kind(PartKind::socket).front();
    for (std::size_t i = 0; i < std::min<std::size_t>(most, 1000); ++i) {
      machine_.parts.push_back({PartKind::adapter, socket, fmt::format("nic{}", i)});
      machine_.parts.back().network_gbps = machine_.fabric.gbps;
      machine_.parts.back().is_ethernet = true;
    }
    machine_.remarks.push_back(
        "where in a node the adapters are no device of this file tells: at the first CPU");
  }

  const YamlNode& infrastructure_;
  Diagnostics& diagnostics_;
  Machine machine_;
  /// The device that trains, which is the node.
  const YamlNode* node_ = nullptr;
  /// Bandwidth in Gb/s by name of the link.
  std::map<std::string, double> gbps_of_;
  /// Kind of each component of the node, by its name.
  std::map<std::string, InfraKind> kinds_;
  std::set<Component> components_;
  /// Edges of the node that are PCIe, in both directions, and those that are NVLinks.
  std::map<Component, std::vector<Component>> neighbours_;
  std::vector<std::pair<Component, Component>> gpu_links_;
  /// Host of adapters that are instances, by instance and number.
  std::map<Component, std::string> host_of_;
  std::vector<PciNode> nodes_;
};

/// Returns the document's "infrastructure", or the document itself, which newer files begin with.
const YamlNode& infrastructure_of(const std::vector<YamlNode>& documents) {
  static const YamlNode none;
  if (documents.empty()) return none;
  const YamlNode& inner = documents.front().at("infrastructure");
  return inner.is_null() ? documents.front() : inner;
}

}  // namespace

// The text need not be parsed to be recognised: two sections of the format are enough.
bool is_infragraph(std::string_view text) {
  bool has_head = false, has_devices = false, has_edges = false;
  LogLines lines(text);
  for (LogLine line; lines.next(line);) {
    const std::string_view start = trimmed(line.text);
    has_head = has_head || line.text.starts_with("infrastructure:");
    has_devices = has_devices || start.starts_with("devices:") || start.starts_with("instances:");
    has_edges = has_edges || start.starts_with("edges:") || start.starts_with("connections:");
  }
  return has_devices && (has_head || has_edges);
}

Machine read_infragraph(const SourceText& source, Diagnostics& diagnostics) {
  const std::vector<YamlNode> documents = read_yaml(source);
  return InfraGraph(infrastructure_of(documents), diagnostics).read(source.name);
}

}  // namespace foretrain
