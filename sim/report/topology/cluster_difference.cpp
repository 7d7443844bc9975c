// Compares two clusters subject by subject. Each subject is described in words for both, and equal words mean
// that the clusters are alike in it.
//
// Readers are administrators who compare a cluster file with a detected one, so equal subjects are only
// named.
#include "sim/report/topology/cluster_difference.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/report/topology/cluster_words.hpp"
#include "sim/report/topology/node_view.hpp"

namespace foretrain {

namespace {

// Largest number of devices or pairs that are named; the others are counted.
constexpr std::size_t kMostNamed = 6;

// Description of each device of a subject; the key is empty for a subject without devices.
using SaidOf = std::map<std::string, std::string>;  ///< by device or pair

// Collects differences and the subjects without any.
class DifferenceText {
 public:
  /// Compares a subject that has one description for each cluster.
  void compare(const std::string& subject, const std::string& a, const std::string& b) {
    compare(subject, SaidOf{{"", a}}, SaidOf{{"", b}});
  }

  /// Compares the devices of a subject. Devices with the same difference share a line.
  void compare(const std::string& subject, const SaidOf& a, const SaidOf& b) {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    for (const auto& [device, said] : a) {
      const auto other = b.find(device);
      const std::string& of_b = other == b.end() ? kNothing : other->second;
      if (said != of_b) groups[{said, of_b}].push_back(device);
    }
    for (const auto& [device, said] : b) {
      if (!a.contains(device)) groups[{kNothing, said}].push_back(device);
    }
    // Both clusters describe every device in the same words.
    if (groups.empty()) return alike_.push_back(subject);
    for (const auto& [said, devices] : groups)
      text_ += fmt::format("  {}{}: {} | {}\n", subject, named(devices), said.first, said.second);
  }

  /// Returns true when any subject differs.
  bool has_differences() const { return !text_.empty(); }

  /// Returns the differences, followed by the subjects that are alike.
  std::string text() const {
    return alike_.empty() ? text_ : text_ + fmt::format("  alike: {}\n", fmt::join(alike_, ", "));
  }

 private:
  // Description of a device that one cluster lacks.
  inline static const std::string kNothing = "not there";

  /// Returns the devices of a line, such as " of gpu0, gpu1 and 6 more".
  static std::string named(const std::vector<std::string>& devices) {
    if (devices.front().empty()) return "";
    const std::size_t count = std::min(devices.size(), kMostNamed);
    const std::string more =
        devices.size() > count ? fmt::format(" and {} more", devices.size() - count) : "";
    return fmt::format(" of {}{}",
                       fmt::join(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count), ", "),
                       more);
  }

  std::string text_;
  std::vector<std::string> alike_;
};

/// Returns the name of a pair of GPUs.
std::string pair_name(int a, int b) { return fmt::format("{}-{}", gpu_name(a), gpu_name(b)); }

/// Returns the figures of a GPU's data sheet.
std::string gpu_figures(const Gpu& gpu) {
  return fmt::format("{} fp32, {} fp16, {} at {}", to_string(gpu.fp32), to_string(gpu.fp16),
                     to_string(gpu.memory), to_string(gpu.memory_bandwidth));
}

/// Returns the CPUs, cores, memory and slowdown of the host.
std::string host_words(const NodeSpec& node) {
  const Host& host = node.host;
  return fmt::format("{}{}, {}, {}, slowdown {:g}", host.cpu.empty() ? "" : host.cpu + ", ",
                     counted(node.cpus, "CPU"), counted(host.cores, "core"), to_string(host.memory),
                     host.slowdown);
}

/// Returns the NVLinks of each pair of GPUs, direct or through NVSwitches. Pairs without any are left out.
SaidOf nvlink_pairs(const NodeSpec& node) {
  const NvlinkCounts counts = nvlink_counts(node);
  SaidOf out;
  for (int a = 0; a < node.gpus; ++a) {
    for (int b = a + 1; b < node.gpus; ++b) {
      const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
      const int direct = counts.between[first][second];
      const int switched = std::min(counts.to_switches[first], counts.to_switches[second]);
      if (direct > 0) out[pair_name(a, b)] = counted(direct, "NVLink");
      if (direct == 0 && switched > 0)
        out[pair_name(a, b)] = fmt::format("{} through NVSwitches", counted(switched, "NVLink"));
    }
  }
  return out;
}

/// Returns where each device is attached, such as "switch0 by pcie4_x16".
SaidOf attachments(const NodeSpec& node, std::string (*name)(int), int count) {
  SaidOf out;
  for (int i = 0; i < count; ++i) {
    const std::string device = name(i);
    const NodeLink* link = host_link_at(node, device);
    out[device] = link == nullptr ? "nothing"
                                  : fmt::format("{} by {}{}", other_end(*link, device),
                                                link->count > 1 ? fmt::format("{} x ", link->count) : "",
                                                link->type.name);
  }
  return out;
}

/// Returns the name of a PCIe switch.
std::string switch_name(int index) { return fmt::format("switch{}", index); }

/// Returns the bandwidth of the narrowest link on the route between each two GPUs.
SaidOf routes(const ClusterSpec& spec) {
  const Cluster cluster = Cluster::build(spec, 1);
  SaidOf out;
  for (int a = 0; a < spec.node.gpus; ++a) {
    for (int b = a + 1; b < spec.node.gpus; ++b) {
      const Route route = cluster.route(cluster.gpu(0, a), cluster.gpu(0, b));
      out[pair_name(a, b)] = to_string(route.bandwidth) + (route.staged ? " through host memory" : "");
    }
  }
  return out;
}

/// Returns the nearest adapter of each GPU, with the path class to it.
SaidOf nics_of_gpus(const ClusterSpec& spec) {
  const Cluster cluster = Cluster::build(spec, 1);
  SaidOf out;
  for (int gpu = 0; gpu < spec.node.gpus && spec.node.nics > 0; ++gpu) {
    const int nic = nearest_nic(cluster, gpu);
    const PathClass path = path_class(cluster, cluster.gpu(0, gpu), cluster.nic(0, nic));
    out[gpu_name(gpu)] = fmt::format("{} ({})", nic_name(nic), name_of(path));
  }
  return out;
}

/// Returns the fabric with the latency of a switch.
std::string network_words(const ClusterSpec& spec) {
  return fmt::format("{}, {} a switch", fabric_in_words(spec), to_string(spec.fabric.switch_latency));
}

/// Returns the limits of a partition: nodes, GPUs and time.
std::string partition_words(const Partition& partition) {
  std::string out =
      fmt::format("up to {}", partition.most_nodes > 0 ? counted(partition.most_nodes, "node") : "any nodes");
  if (partition.most_gpus > 0) out += ", " + counted(partition.most_gpus, "GPU");
  if (partition.longest > Time::zero()) out += ", " + to_string(partition.longest);
  return out;
}

/// Returns the limits of all partitions.
SaidOf partitions_of(const Site& site) {
  SaidOf out;
  for (const Partition& partition : site.partitions) out[partition.name] = partition_words(partition);
  return out;
}

/// Compares everything inside a node.
void compare_nodes(DifferenceText& text, const NodeSpec& a, const NodeSpec& b) {
  text.compare("GPUs of a node", std::to_string(a.gpus), std::to_string(b.gpus));
  text.compare("GPU", a.gpu.name, b.gpu.name);
  text.compare("figures of the GPU", gpu_figures(a.gpu), gpu_figures(b.gpu));
  text.compare("shape of NVLinks", nvlinks_in_words(a), nvlinks_in_words(b));
  text.compare("NVLinks", nvlink_pairs(a), nvlink_pairs(b));
  text.compare("host", host_words(a), host_words(b));
  text.compare("places of GPUs", attachments(a, gpu_name, a.gpus), attachments(b, gpu_name, b.gpus));
  text.compare("places of PCIe switches", attachments(a, switch_name, a.switches),
               attachments(b, switch_name, b.switches));
  text.compare("places of NICs", attachments(a, nic_name, a.nics), attachments(b, nic_name, b.nics));
}

}  // namespace

// The order is from the node outwards to the batch system.
std::string difference_in_words(const ClusterSpec& a, const ClusterSpec& b) {
  DifferenceText text;
  text.compare("nodes", std::to_string(a.nodes), std::to_string(b.nodes));
  compare_nodes(text, a.node, b.node);
  text.compare("routes", routes(a), routes(b));
  text.compare("NICs of GPUs", nics_of_gpus(a), nics_of_gpus(b));
  text.compare("fabric", network_words(a), network_words(b));
  text.compare("batch system", std::string(name_of(a.site.system)), std::string(name_of(b.site.system)));
  text.compare("partitions", partitions_of(a.site), partitions_of(b.site));
  if (!text.has_differences()) return fmt::format("{} and {} are alike\n", a.name, b.name);
  return fmt::format("{} | {}\n{}", a.name, b.name, text.text());
}

}  // namespace foretrain
