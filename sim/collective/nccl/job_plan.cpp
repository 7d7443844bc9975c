// The plan of a job for a message, and the ranks along its channels: the search's paths through single nodes,
// joined over the network.
#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/collective/nccl/double_tree.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/collective/nccl/size_thresholds.hpp"

namespace foretrain::nccl {

namespace {

const ChannelPath& path_of(const GraphResult& graph, int channel) {
  assert(!graph.paths.empty());
  return graph.paths[static_cast<std::size_t>(channel) % graph.paths.size()];
}

/// Returns the rank of a GPU of the node.
int rank_of(const Job& job, const JobNode& node, int gpu) {
  const std::vector<int>& gpus = job.shape_of(node).gpus;
  return job.ranks_of(node)[static_cast<std::size_t>(std::ranges::find(gpus, gpu) - gpus.begin())];
}

/// Returns the index of the GPU of a tree's path that exchanges data with the parent (0), the first child (1)
/// or the second child (2) on another node.
std::size_t network_place(Pattern pattern, int partner, std::size_t gpus) {
  const bool second =
      (pattern == Pattern::balanced_tree && partner == 2) || (pattern == Pattern::split_tree && partner > 0);
  return second && gpus > 1 ? 1 : 0;
}

/// Returns the algorithm that settings force, or in versions without forecasts the one that the size decides.
std::optional<Algorithm> algorithm_by_size(const Settings& settings, const GraphResult& ring,
                                           const RunSetting& run, CollectiveOp op, std::int64_t bytes) {
  if (settings.algorithm || settings.version >= kFirstForecasts || op != CollectiveOp::all_reduce)
    return settings.algorithm;
  const bool nvlink = ring.type_intra > PathClass::loc && ring.type_intra <= PathClass::nvb;
  return bytes <= tree_threshold(run, nvlink) ? Algorithm::tree : Algorithm::ring;
}

/// Enters a child in the first free slot.
void hang_below(TreeLinks& links, int child) {
  for (int& slot : links.down) {
    if (slot >= 0) continue;
    slot = child;
    return;
  }
}

}  // namespace

RunSetting Job::run_setting() const {
  RunSetting run;
  run.version = settings.version;
  run.ranks = input.job.ranks, run.nodes = input.job.nodes;
  run.channels = coll_channels, run.nvls_channels = nvls_channels;
  run.ring_gbps = input.ring.channels * input.ring.bw_intra;
  run.arm_host = input.job.cpu == CpuVendor::arm;
  run.simple_threads = settings.simple_threads, run.ll128_threads = settings.ll128_threads;
  run.simple_buffer = settings.buffer_bytes;
  run.heads = std::max({1, input.nvls.channels, input.collnet_direct.channels});
  run.nvls_algbw = table.at(CollectiveOp::all_reduce, Algorithm::nvls, Protocol::simple).algbw;
  return run;
}

Plan Job::plan(CollectiveOp op, std::int64_t bytes, int grouped) const {
  Plan plan;
  const RunSetting run = run_setting();
  const Forced forced{algorithm_by_size(settings, input.ring, run, op, bytes), settings.protocol};
  plan.choice = choose(table, op, bytes, forced, grouped);
  if (!plan.choice.available) plan.choice = choose(table, op, bytes, {}, grouped);
  plan.run = run_shape(run, op, plan.choice.algorithm, plan.choice.protocol, bytes);
  if (settings.version < kFirstForecasts && !settings.protocol) {
    const ThresholdChoice taken = choose_by_size(run, op, plan.choice.algorithm, bytes);
    plan.choice.protocol = taken.protocol, plan.run = taken.run;
  }
  plan.chunk = chunk_shape(run, op, plan.choice.algorithm, plan.choice.protocol, bytes, plan.run);
  return plan;
}

std::string Job::reason(CollectiveOp op, std::int64_t bytes, const Plan& plan) const {
  return fmt::format("{}; {} of {} threads", nccl::reason(table, op, bytes, plan.choice),
                     counted(plan.run.channels, "channel"), plan.run.threads);
}

const ChannelPath& Job::ring_path(int channel, int node) const {
  const std::size_t place = static_cast<std::size_t>(node);
  return path_of(shape_of(nodes[place]).ring, ring_on(channel % search_channels, place));
}

const ChannelPath& Job::tree_path(int channel, int node) const {
  return path_of(shape_of(nodes[static_cast<std::size_t>(node)]).tree, channel % search_channels);
}

std::vector<int> Job::ring_order(int channel) const {
  std::vector<int> order;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const int gpu : ring_path(channel, static_cast<int>(n)).gpus)
      order.push_back(rank_of(*this, nodes[n], gpu));
  }
  return order;
}

/// First the chains inside the nodes, then the edges of the tree between nodes.
std::vector<TreeLinks> Job::tree_links(int channel) const {
  const int count = static_cast<int>(nodes.size());
  const bool second = channel >= std::max(1, coll_channels / 2);
  std::vector<TreeLinks> links(static_cast<std::size_t>(input.job.ranks));
  const auto at = [&](int rank) -> TreeLinks& { return links[static_cast<std::size_t>(rank)]; };
  const auto contact = [&](int node, int partner) {
    const JobNode& place = nodes[static_cast<std::size_t>(node)];
    const ChannelPath& path = tree_path(channel, node);
    return rank_of(*this, place,
                   path.gpus[network_place(shape_of(place).tree.pattern, partner, path.gpus.size())]);
  };
  for (int node = 0; node < count; ++node) {
    const JobNode& place = nodes[static_cast<std::size_t>(node)];
    const ChannelPath& path = tree_path(channel, node);
    for (std::size_t i = 0; i + 1 < path.gpus.size(); ++i) {
      const int upper = rank_of(*this, place, path.gpus[i]), lower = rank_of(*this, place, path.gpus[i + 1]);
      at(lower).up = upper;
      hang_below(at(upper), lower);
    }
  }
  for (int node = 0; node < count; ++node) {
    const DoubleTreePlace both = double_tree_place(node, count);
    const TreePlace& place = second ? both.second : both.first;
    for (std::size_t c = 0; c < place.children.size(); ++c) {
      if (place.children[c] < 0) continue;
      const int upper = contact(node, static_cast<int>(c) + 1), lower = contact(place.children[c], 0);
      at(lower).up = upper;
      hang_below(at(upper), lower);
    }
  }
  return links;
}

}  // namespace foretrain::nccl
