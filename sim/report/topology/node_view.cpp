// Answers questions about a node by walking its list of links, which is short. Devices are known by their
// names: "gpu0", "cpu1", "switch0", "nvswitch2", "nic0".
#include "sim/report/topology/node_view.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_layout.hpp"

namespace foretrain {

// NVLinks of one GPU to all others, to switches and to CPUs.
int NvlinkCounts::of(std::size_t gpu) const {
  return std::accumulate(between[gpu].begin(), between[gpu].end(), to_switches[gpu] + to_cpus[gpu]);
}

bool NvlinkCounts::empty() const {
  for (std::size_t gpu = 0; gpu < between.size(); ++gpu) {
    if (of(gpu) > 0) return false;
  }
  return true;
}

// Every link is seen from both ends, so that both GPUs of a pair count it.
NvlinkCounts nvlink_counts(const NodeSpec& node) {
  const std::size_t gpus = static_cast<std::size_t>(node.gpus);
  NvlinkCounts out{std::vector<std::vector<int>>(gpus, std::vector<int>(gpus, 0)), std::vector<int>(gpus, 0),
                   std::vector<int>(gpus, 0)};
  // Returns the index of a GPU, or -1 for another device.
  const auto gpu_at = [&node](const std::string& device) -> std::ptrdiff_t {
    const auto found = find_device(node, device);
    return found && device.starts_with("gpu") ? static_cast<std::ptrdiff_t>(*found) : -1;
  };
  for (const NodeLink& link : node.links) {
    if (link.type.kind != LinkKind::nvlink) continue;
    // Both directions of the link are visited. Ends that are no GPU have no row of their own.
    for (const auto& [own, far] : {std::pair(&link.a, &link.b), std::pair(&link.b, &link.a)}) {
      const std::ptrdiff_t from = gpu_at(*own), to = gpu_at(*far);
      if (from < 0) continue;
      const auto gpu = static_cast<std::size_t>(from);
      // The far end decides in which of the three counts the links belong.
      int& count = to >= 0                        ? out.between[gpu][static_cast<std::size_t>(to)]
                   : far->starts_with("nvswitch") ? out.to_switches[gpu]
                                                  : out.to_cpus[gpu];
      count += link.count;
    }
  }
  return out;
}

// A device may have several links towards CPUs; data take the widest one.
const NodeLink* host_link_at(const NodeSpec& node, std::string_view device) {
  const NodeLink* widest = nullptr;
  // The rate of a link is in bytes per second and direction, of all its parallel links together.
  const auto rate = [](const NodeLink& link) { return link.type.bandwidth.per_second * link.count; };
  for (const NodeLink& link : node.links) {
    if (link.a != device && link.b != device) continue;
    const std::string& far = other_end(link, device);
    if (!far.starts_with("cpu") && !far.starts_with("switch")) continue;
    if (widest == nullptr || rate(link) > rate(*widest)) widest = &link;
  }
  return widest;
}

const std::string& other_end(const NodeLink& link, std::string_view device) {
  return link.a == device ? link.b : link.a;
}

std::string gpu_name(int index) { return fmt::format("gpu{}", index); }
std::string nic_name(int index) { return fmt::format("nic{}", index); }

}  // namespace foretrain
