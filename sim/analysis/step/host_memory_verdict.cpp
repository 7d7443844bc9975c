// The check that a node's host memory holds what its ranks offload to it, and the warnings about it.
#include <fmt/format.h>

#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"

namespace foretrain {

namespace {

/// Returns the common beginning of the warnings: the number of GPUs and the bytes each node needs.
std::string needed_on(const PredictionPoint& p) {
  return fmt::format("on {} the training needs {} of memory on each node for what it offloads",
                     counted(p.gpus, "GPU"), to_string(p.host_memory.total()));
}

}  // namespace

double chance_of_host(const PredictionPoint& point) {
  if (!point.host_memory.is_used() || !point.knows_host()) return 1;
  return chance_of_fitting(static_cast<double>(point.host_memory.total().count),
                           static_cast<double>(point.host_capacity.count));
}

std::string host_memory_parts(const HostMemoryUse& use) {
  return listed_parts({{"master weights", use.masters},
                       {"moments", use.moments},
                       {"gradients", use.gradients},
                       {"weights for the GPUs", use.weights},
                       {"activations", use.activations},
                       {"buffers", use.buffers},
                       {"processes", use.processes},
                       {"on NVMe", use.on_drive}});
}

/// An unknown capacity is unknown for all numbers of GPUs, so that warning is given once.
std::vector<std::string> host_memory_warnings(const std::vector<PredictionPoint>& points) {
  std::vector<std::string> out;
  for (const PredictionPoint& p : points) {
    if (!p.host_memory.is_used()) continue;
    if (!p.knows_host()) {
      out.push_back(fmt::format("{}, and the cluster does not state how much its nodes have: host.memory",
                                needed_on(p)));
      return out;
    }
    const double chance = chance_of_host(p);
    if (chance >= kSurelyFits) continue;
    out.push_back(
        fmt::format("{}, which {} {}: {}", needed_on(p),
                    chance < kHardlyFits ? "is more than the node's" : "may be too much for the node's",
                    to_string(p.host_capacity), host_memory_parts(p.host_memory)));
  }
  return out;
}

}  // namespace foretrain
