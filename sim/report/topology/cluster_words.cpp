// Describes a cluster in sentences. All numbers come from the graph that predictions use.
//
// Path classes are those of sim/cluster/path_class.hpp, such as NVL for NVLink and SYS for a path to the
// other socket.
#include "sim/report/topology/cluster_words.hpp"

#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/report/topology/node_view.hpp"

namespace foretrain {

namespace {

/// Returns how many devices of a kind are attached to each place, such as "switch0" → 2.
std::map<std::string, int> places_of(const NodeSpec& node, std::string_view kind, int count) {
  std::map<std::string, int> out;
  for (int i = 0; i < count; ++i) {
    const std::string device = fmt::format("{}{}", kind, i);
    const NodeLink* link = host_link_at(node, device);
    ++out[link == nullptr ? "nothing" : other_end(*link, device)];
  }
  return out;
}

/// Returns the distribution in words, such as "one per PCIe switch", "2 per CPU" or "at cpu0 and switch1".
std::string spread_in_words(const NodeSpec& node, const std::map<std::string, int>& places) {
  // The distribution is even when every place of one kind has the same number of devices.
  const auto& [first, count] = *places.begin();
  bool is_even = true;
  for (const auto& [place, number] : places)
    is_even = is_even && number == count && place.starts_with(first.substr(0, 3));
  const bool at_switches = first.starts_with("switch");
  const int all = at_switches ? node.switches : node.cpus;
  if (is_even && static_cast<int>(places.size()) == all && (all > 1 || count > 1))
    return fmt::format("{} per {}", count == 1 ? "one" : std::to_string(count),
                       at_switches ? "PCIe switch" : "CPU");
  std::string out;
  for (const auto& [place, number] : places)
    out += fmt::format("{}{}{}", out.empty() ? "at " : ", ", place,
                       number > 1 ? fmt::format(" ({})", number) : "");
  return out;
}

/// Returns how many pairs there are of each path class, such as "28 NVL"; few pairs are listed by name.
std::string counted_classes(const std::map<PathClass, std::vector<std::string>>& classes) {
  std::string out;
  for (const auto& [path, devices] : classes) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", devices.size(), name_of(path));
    if (classes.size() == 1 || devices.size() > 8) continue;
    out += fmt::format(" ({})", fmt::join(devices, ", "));
  }
  return out;
}

/// Returns how GPUs reach each other and their adapters, in NCCL's path classes.
std::string routes_in_words(const ClusterSpec& spec) {
  const NodeSpec& node = spec.node;
  const Cluster cluster = Cluster::build(spec, 1);
  std::map<PathClass, std::vector<std::string>> pairs, nics;
  for (int a = 0; a < node.gpus; ++a) {
    for (int b = a + 1; b < node.gpus; ++b)
      pairs[path_class(cluster, cluster.gpu(0, a), cluster.gpu(0, b))].push_back(
          fmt::format("{}-{}", gpu_name(a), gpu_name(b)));
    if (node.nics == 0) continue;
    const int nic = nearest_nic(cluster, a);
    nics[path_class(cluster, cluster.gpu(0, a), cluster.nic(0, nic))].push_back(
        fmt::format("{} to {}", gpu_name(a), nic_name(nic)));
  }
  std::string out;
  if (!pairs.empty()) out += "pairs of GPUs: " + counted_classes(pairs);
  if (!nics.empty())
    out += fmt::format("{}GPUs to their NICs: {}", out.empty() ? "" : "; ", counted_classes(nics));
  if (node.gpus > 1 && !node.peer_access) out += "; no peer access over PCIe";
  return out;
}

/// Returns the GPUs, links, switches and adapters of a node.
std::string node_in_words(const NodeSpec& node) {
  std::string out = fmt::format(
      "{} {}, {}", node.gpus, node.gpu.name,
      node.gpu.architecture == Architecture::cpu ? "in the place of GPUs" : nvlinks_in_words(node));
  if (node.switches > 0) out += "; " + counted(node.switches, "PCIe switch");
  return out + "; " + nics_in_words(node);
}

/// Returns the CPUs, cores and memory of a node.
std::string host_in_words(const NodeSpec& node) {
  return fmt::format("{}, {}, {}", counted(node.cpus, "CPU"), counted(node.host.cores, "core"),
                     to_string(node.host.memory));
}

}  // namespace

std::string nics_in_words(const NodeSpec& node) {
  if (node.nics == 0) return "no NIC";
  return fmt::format("{}, {}", counted(node.nics, "NIC"),
                     spread_in_words(node, places_of(node, "nic", node.nics)));
}

std::string cluster_in_words(const ClusterSpec& spec) {
  std::string out = fmt::format("  node    {}\n", node_in_words(spec.node));
  if (const std::string routes = routes_in_words(spec); !routes.empty())
    out += fmt::format("  routes  {}\n", routes);
  out += fmt::format("  host    {}\n", host_in_words(spec.node));
  if (spec.nodes > 1) out += fmt::format("  fabric  {}\n", fabric_in_words(spec));
  return out;
}

}  // namespace foretrain
