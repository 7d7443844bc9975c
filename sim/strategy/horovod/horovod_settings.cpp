// Resolution of Horovod's options. Defaults changed in 0.21 (CHANGELOG, 2468 and 2435), the wait for data
// moved to the GPU in 0.23 (2963), and torus came in 0.26. NCCL's all-gather came in 0.20 (1952).
#include "sim/strategy/horovod/horovod_settings.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/horovod/horovod_fusion.hpp"
#include "sim/strategy/horovod/horovod_options.hpp"
#include "sim/strategy/process/gradient_options.hpp"

namespace foretrain {

namespace {

constexpr FrameworkVersion kUsual{0, 28}, kNewDefaults{0, 21}, kGathersByNccl{0, 20}, kWaitsOnGpu{0, 23},
    kTorus{0, 26};
constexpr Bytes kThreshold{128LL << 20}, kOldThreshold{64LL << 20};
constexpr Time kCycle = Time{1'000'000'000}, kOldCycle = Time{5'000'000'000};  ///< 1 ms, 5 ms

/// Returns the number of ranks on every node; 0 when nodes differ.
int ranks_per_node(const Placement& placement) {
  std::map<int, int> ranks_on;
  for (const GpuPlace& place : placement.ranks) ++ranks_on[place.node];
  const int first = ranks_on.begin()->second;
  const bool even =
      std::all_of(ranks_on.begin(), ranks_on.end(), [&](const auto& node) { return node.second == first; });
  return even ? first : 0;
}

/// Returns the levels that are in effect. Options that the job's shape or Horovod's version does not allow
/// are ignored, and the decision says why.
HorovodLevels levels_of(const PlanRequest& request, FrameworkVersion version, Decisions& decisions) {
  const HorovodOptions& options = request.options<HorovodOptions>();
  if (!options.hierarchical_allreduce && !options.torus_allreduce) return HorovodLevels::plain;
  const int local = ranks_per_node(request.placement);
  const auto ignored = [&](std::string why) {
    decisions.add("all-reduce", "plain", std::move(why));
    return HorovodLevels::plain;
  };
  if (request.placement.nodes == 1)
    return ignored("there is one node: hierarchical and torus all-reduce are ignored");
  if (local <= 1) return ignored("two levels need the same number of GPUs, and more than one, on every node");
  if (options.hierarchical_allreduce) {
    decisions.add("all-reduce", "hierarchical",
                  "NCCL inside nodes, MPI between CPUs across; the background thread waits for it");
    return HorovodLevels::hierarchical;
  }
  if (version < kTorus) return ignored("torus all-reduce came with Horovod 0.26");
  decisions.add("all-reduce", "torus",
                "NCCL reduce-scatter inside nodes, all-reduce across, all-gather inside");
  return HorovodLevels::torus;
}

void explain_horovod_settings(const HorovodSettings& settings, FrameworkVersion version, std::size_t tensors,
                              const HorovodOptions& options, Decisions& decisions) {
  decisions.add("Horovod", to_text(version),
                fmt::format("cycles of {}, {}", to_string(settings.cycle_time),
                            settings.threshold.count == 0
                                ? "fusion off (threshold 0): every gradient is a message of its own"
                                : "fusion up to " + to_string(settings.threshold)));
  if (settings.waits_for_data)
    decisions.add("background thread", "waits for data",
                  "before 0.23 it polls the gradients' events itself, and launches nothing meanwhile");
  if (settings.cache == ResponseCache::off)
    decisions.add("negotiation", "through rank 0", "the response cache is off");
  if (settings.cache == ResponseCache::holds_none) {
    decisions.add(
        "negotiation", "through rank 0",
        fmt::format(
            "{} tensors do not fit into a response cache of {}: each is evicted before it comes again",
            tensors, options.cache_capacity));
  }
}

}  // namespace

// Gradients of 16 bits are not compressed again. Nodes of different sizes leave the threshold unrounded.
HorovodSettings horovod_settings(const PlanRequest& request, Decisions& decisions) {
  const HorovodOptions& options = request.options<HorovodOptions>();
  const FrameworkVersion version = options.horovod_version.value_or(kUsual);
  const bool old = version < kNewDefaults;
  const std::size_t tensors = request.workload.model->parameters.size();
  HorovodSettings settings;
  settings.ranks_per_node = std::max(1, ranks_per_node(request.placement));
  settings.cycle_time = options.cycle_time.value_or(old ? kOldCycle : kCycle);
  const Bytes asked = options.fusion_threshold.value_or(old ? kOldThreshold : kThreshold);
  settings.threshold =
      ranks_per_node(request.placement) == 0 ? asked : rounded_threshold(asked, settings.ranks_per_node);
  settings.batched_copies = options.batch_copies && !old;
  settings.waits_for_data = version < kWaitsOnGpu;
  const std::int64_t own_bytes = gradient_element_bytes(request.workload);
  settings.compresses = request.options<GradientOptions>().compression == Compression::fp16 && own_bytes > 2;
  settings.element_bytes = settings.compresses ? 2 : own_bytes;
  settings.gathers_over_hosts = version < kGathersByNccl;
  settings.levels = levels_of(request, version, decisions);
  settings.cache = response_cache(options.cache_capacity, tensors);
  explain_horovod_settings(settings, version, tensors, options, decisions);
  return settings;
}

}  // namespace foretrain
