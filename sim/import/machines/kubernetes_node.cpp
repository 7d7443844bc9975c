// Reader of Kubernetes nodes: kubectl describe node as text, kubectl get node as YAML or JSON.
// "Capacity:" holds "nvidia.com/gpu: 8", and "Labels:" holds "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB".
// GPUs are a resource of the node; labels of GPU feature discovery or of the cloud tell the product. CPUs and
// memory are taken too; links between devices are in none of it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/yaml.hpp"
#include "sim/import/logs/log_lines.hpp"
#include "sim/import/machines/readers.hpp"
#include "sim/import/sites/node_records.hpp"

namespace foretrain {

namespace {

/// Limit of nodes.
constexpr std::size_t kMostKubernetesNodes = 10'000;
/// Limits of YAML: nodes list every image that they hold, which takes about 20 kB each.
constexpr YamlLimits kNodeYaml{16u << 20, 1'000'000};

/// Keys and values of one section of a node.
using KeyValues = std::map<std::string, std::string, std::less<>>;

/// A node as either tool prints it; `line` is where it begins.
struct KubernetesNode {
  int line = 0;
  KeyValues labels, capacity, info;
};

/// Returns the value of a key; empty when it is not there.
std::string_view value_of(const KeyValues& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string_view() : found->second;
}

/// Reads a quantity of Kubernetes, such as "1176329828Ki", "96" or "64G"; 0 when the text is none. At most
/// 10^15.
double quantity_of(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0},
      {"k", 1e3},     {"M", 1e6},        {"G", 1e9},           {"T", 1e12},
      {"m", 1e-3}};
  const std::string copy(trimmed(text).substr(0, 40));
  char* rest = nullptr;
  const double value = std::strtod(copy.c_str(), &rest);
  const auto unit =
      // The text behind the number must be one of the units as a whole.
      std::ranges::find(kUnits, std::string_view(rest), &std::pair<std::string_view, double>::first);
  if (*rest != '\0' && unit == std::end(kUnits)) return 0;
  const double out = *rest == '\0' ? value : value * unit->second;
  return std::isfinite(out) && out > 0 ? std::min(out, 1e15) : 0;
}

/// Returns a quantity as a whole number from 0 to 10^6.
int whole(std::string_view text) { return static_cast<int>(std::clamp(quantity_of(text), 0.0, 1e6)); }

/// Returns the number of physical GPUs. The label counts them; the resource counts shares where GPUs are
/// shared or cut up.
int gpus_of_kubernetes(const KubernetesNode& node) {
  for (const std::string_view label :
       {"nvidia.com/gpu.count", "amd.com/gpu.count", "beta.amd.com/gpu.count"}) {
    if (const int count = whole(value_of(node.labels, label)); count > 0) return std::min(count, 1000);
  }
  for (const std::string_view resource : {"nvidia.com/gpu", "amd.com/gpu", "nvidia.com/gpu.shared"}) {
    if (const int count = whole(value_of(node.capacity, resource)); count > 0) return std::min(count, 1000);
  }
  return 0;
}

/// Returns the product of the GPUs from the first label that has it: "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb",
/// "Tesla-T4-SHARED" and "nvidia-tesla-v100" without what follows the product.
std::string product_of_kubernetes(const KubernetesNode& node) {
  for (const std::string_view label :
       {"nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator",
        "k8s.amazonaws.com/accelerator", "gpu.nvidia.com/class", "accelerator"}) {
    std::string product(value_of(node.labels, label));
    if (product.empty()) continue;
    for (const std::string_view tail : {"-MIG-", "-SHARED"}) {
      if (const std::size_t at = product.find(tail); at != std::string::npos) product.erase(at);
    }
    return product.substr(0, 200);
  }
  return "";
}

/// Returns the number of cores. Kubernetes counts hardware threads; they are halved only where a label says
/// that there are two in a core.
int cores_of_kubernetes(const KubernetesNode& node) {
  const int cpus = std::min(whole(value_of(node.capacity, "cpu")), 100'000);
  return value_of(node.labels, "feature.node.kubernetes.io/cpu-hardware_multithreading") == "true" ? cpus / 2
                                                                                                   : cpus;
}

/// Reads `kubectl describe node`: sections stand at the margin, their entries are indented below them.
class DescribedNodes {
 public:
  void take(const LogLine& line) {
    const std::string_view text = trimmed(line.text);
    if (text.empty()) return;
    const bool is_margin = line.text.front() != ' ' && line.text.front() != '\t';
    std::string_view entry = text;
    if (is_margin) {
      const std::size_t colon = text.find(':');
      if (colon == std::string_view::npos) return;
      section_ = std::string(text.substr(0, colon));
      entry = trimmed(text.substr(colon + 1));
      if (section_ == "Name" && nodes_.size() < kMostKubernetesNodes)
        nodes_.push_back({line.number, {}, {}, {}});
    }
    if (!nodes_.empty() && !entry.empty()) take_entry(entry);
  }
  std::vector<KubernetesNode> nodes() { return std::move(nodes_); }

 private:
  /// Takes an entry of the current section; sections without facts are skipped.
  void take_entry(std::string_view entry) {
    KubernetesNode& node = nodes_.back();
    if (section_ == "Labels") put(node.labels, entry, '=');
    if (section_ == "Capacity") put(node.capacity, entry, ':');
    if (section_ == "System Info") put(node.info, entry, ':');
  }
  /// Cuts an entry at the first sign and adds it, unless the key is known.
  static void put(KeyValues& values, std::string_view entry, char sign) {
    const std::size_t at = entry.rfind(sign, entry.find(sign));
    if (at == std::string_view::npos || values.size() >= 1000) return;
    values.emplace(std::string(trimmed(entry.substr(0, at))),
                   std::string(trimmed(entry.substr(at + 1)).substr(0, 300)));
  }

  std::string section_;
  std::vector<KubernetesNode> nodes_;
};

/// Returns the entries of a map with texts of at most 300 bytes.
KeyValues key_values(const YamlNode& map) {
  KeyValues out;
  for (const auto& [key, value] : map.entries) out.emplace(key, value.text.substr(0, 300));
  return out;
}

/// Adds the nodes of an object, which may be a list of others.
void add_yaml_node(const YamlNode& object, std::vector<KubernetesNode>& nodes) {
  for (const YamlNode& item : object.at("items").items) add_yaml_node(item, nodes);
  if (object.at("kind").text != "Node" || nodes.size() >= kMostKubernetesNodes) return;
  nodes.push_back({object.span.line, key_values(object.path("metadata/labels")),
                   key_values(object.path("status/capacity")), key_values(object.path("status/nodeInfo"))});
}

/// Says whether a text is of kubectl describe node.
bool is_described(std::string_view text) {
  return holds(text, "\nCapacity:") && (holds(text, "\nAllocatable:") || holds(text, "\nSystem Info:"));
}

/// Reads all nodes of a file in either form.
std::vector<KubernetesNode> kubernetes_nodes(const SourceText& source) {
  if (is_described(source.text)) {
    DescribedNodes described;
    LogLines lines(source.text);
    for (LogLine line; lines.next(line);) described.take(line);
    return described.nodes();
  }
  std::vector<KubernetesNode> nodes;
  for (const YamlNode& document : read_yaml(source, kNodeYaml)) add_yaml_node(document, nodes);
  return nodes;
}

/// Adds remarks about MIG slices, at most five in all.
void take_shares(const KubernetesNode& node, Machine& machine) {
  for (const auto& [resource, count] : node.capacity) {
    if (resource.starts_with("nvidia.com/mig-") && whole(count) > 0 && machine.remarks.size() < 5)
      machine.remarks.push_back(
          fmt::format("{} of {}: GPUs that are cut up are described as whole ones", count, resource));
  }
}

/// Adds the instance type as a remark, since it tells more than the numbers, and the processor of other
/// architectures than x86.
void take_instance(const KubernetesNode& node, Machine& machine) {
  const std::string_view type = value_of(node.labels, "node.kubernetes.io/instance-type");
  if (!type.empty()) machine.remarks.push_back(fmt::format("instance type {}", type));
  const std::string_view arch = value_of(node.labels, "kubernetes.io/arch");
  if (arch == "arm64") machine.family = HostFamily::arm;
  if (arch == "ppc64le") machine.family = HostFamily::power9;
}

/// Returns the node as a record for machine_of_records(), which groups nodes into kinds.
NodeRecord record_of_kubernetes(const KubernetesNode& node, std::size_t number) {
  NodeRecord record;
  record.line = node.line;
  // Every record is a node of its own, whatever its name is.
  record.hosts = {std::to_string(number)};
  record.gpus = gpus_of_kubernetes(node);
  record.gpu_product = product_of_kubernetes(node);
  record.cores = cores_of_kubernetes(node);
  record.memory = Bytes{static_cast<std::int64_t>(quantity_of(value_of(node.capacity, "memory")))};
  return record;
}

/// Adds to a kind what its first node says beyond numbers.
void complete_kind(Machine& kind, const std::vector<KubernetesNode>& nodes) {
  const auto first = std::ranges::find_if(nodes, [&kind](const KubernetesNode& node) {
    return gpus_of_kubernetes(node) == kind.gpu_count && product_of_kubernetes(node) == kind.gpu_product;
  });
  if (first == nodes.end()) return;
  take_instance(*first, kind);
  take_shares(*first, kind);
}

}  // namespace

bool is_kubernetes_node(std::string_view text) {
  if (is_described(text)) return true;
  const bool is_yaml = holds(text, "kind: Node") && (holds(text, "capacity:") || holds(text, "nodeInfo:"));
  return is_yaml || (holds(text, "\"kind\"") && holds(text, "\"Node\"") && holds(text, "\"capacity\""));
}

/// Makes a kind of node for each product and number of GPUs.
Machine read_kubernetes_node(const SourceText& source, Diagnostics& diagnostics) {
  const std::vector<KubernetesNode> nodes = kubernetes_nodes(source);
  Machine machine;
  if (nodes.empty()) {
    diagnostics.report({1, 1, 1}, "no node in it",
                       "kubectl describe node NAME, or kubectl get node NAME -o yaml");
    return machine;
  }
  std::vector<NodeRecord> records;
  for (const KubernetesNode& node : nodes) records.push_back(record_of_kubernetes(node, records.size()));
  machine = machine_of_records(records, source.name, BatchSystem::none);
  machine.has_no_gpu = machine.gpu_count == 0;
  complete_kind(machine, nodes);
  for (Machine& kind : machine.other_kinds) complete_kind(kind, nodes);
  if (!machine.other_kinds.empty()) machine.site.system = BatchSystem::kubernetes;
  // A single node was asked for by name, which says nothing of how many there are.
  if (nodes.size() < 2) machine.fabric.nodes = 0;
  return machine;
}

}  // namespace foretrain
