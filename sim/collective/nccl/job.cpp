// Inspection of a job: group the ranks by node, search every distinct set of GPUs once, and take the slowest
// node's figures for the forecast.
//
// A communicator may have thousands of nodes but has few different ones: nodes with the same GPUs, links and
// NICs have the same graphs. The forecast uses the slowest node's figures, because NCCL makes all ranks agree
// on the minimum.
#include "sim/collective/nccl/job.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/collective/nccl/channel_count.hpp"
#include "sim/collective/nccl/link_bandwidth.hpp"
#include "sim/collective/nccl/nvlink_domain.hpp"

namespace foretrain::nccl {

namespace {

/// aws-ofi-nccl since 1.6 of early 2023 (unverified, from memory) leaves only Simple to NCCL where LL's lines
/// may come out of order. Since 1.7 of July 2023 it reports a latency. The NCCL version that was current then
/// stands for the plug-in's version. Logs with NCCL 2.4 and 2.9 show the times of LL.
constexpr Version kPluginSetsProtocol{2, 16, 0}, kPluginTellsLatency{2, 18, 0};

CpuVendor vendor_of(HostFamily family) {
  if (is_intel(family)) return CpuVendor::intel;
  if (family == HostFamily::amd) return CpuVendor::amd;
  return family == HostFamily::power9 ? CpuVendor::power : CpuVendor::arm;
}

/// Keeps in every figure the value of the slowest node. If a node has no channels, there are none at all.
void take_slower(std::optional<GraphResult>& slowest, const GraphResult& graph) {
  if (!slowest) {
    slowest = graph;
    slowest->paths.clear();
    return;
  }
  slowest->channels = std::min(slowest->channels, graph.channels);
  slowest->bw_intra = std::min(slowest->bw_intra, graph.bw_intra),
  slowest->bw_inter = std::min(slowest->bw_inter, graph.bw_inter);
  slowest->type_intra = std::max(slowest->type_intra, graph.type_intra),
  slowest->type_inter = std::max(slowest->type_inter, graph.type_inter);
  slowest->same_channels = slowest->same_channels && graph.same_channels;
  slowest->cross_nic = slowest->cross_nic || graph.cross_nic;
  if (graph.pattern == Pattern::tree) slowest->pattern = Pattern::tree;
}

/// Builder of a Job. With several hosts per domain it works on a cluster whose domains are nodes.
class Inspector {
 public:
  Inspector(int hosts, const Cluster& cluster, const Placement& placement, const Settings& settings,
            NodeGraphCache& searched)
      : domains_(hosts == 1 ? std::nullopt : std::optional(as_domains(cluster.spec(), hosts))),
        in_domains_(hosts == 1 ? std::nullopt
                               : std::optional(as_domains(placement, hosts, cluster.spec().node.gpus))),
        cluster_(cluster),
        spec_(domains_ ? *domains_ : cluster.spec()),
        placement_(in_domains_ ? *in_domains_ : placement),
        searched_(searched) {
    job_.settings = settings;
    job_.hosts = hosts, job_.gpus_per_host = std::max(1, cluster.spec().node.gpus);
  }

  Job inspect() {
    group();
    describe();
    obey_plugin();
    for (NodeShape& shape : job_.shapes) search(shape);
    merge();
    count();
    job_.table = tuning_table(job_.input);
    return std::move(job_);
  }

 private:
  /// Groups the ranks by node. In most placements the ranks of a node stand together; otherwise they are
  /// brought together first.
  void group() {
    const std::vector<GpuPlace>& ranks = placement_.ranks;
    std::vector<int> order(ranks.size());
    std::iota(order.begin(), order.end(), 0);
    if (job_.settings.isolation != Isolation::none) return group_by_rank(std::move(order));
    if (!ascend_by_node()) sort_by_node(order);
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      const int node = ranks[static_cast<std::size_t>(order[begin])].node;
      while (end < order.size() && ranks[static_cast<std::size_t>(order[end])].node == node) ++end;
      add_node(node, std::span(order).subspan(begin, end - begin));
    }
    job_.ranks = std::move(order);
  }

  /// Makes every rank a node of its own.
  void group_by_rank(std::vector<int> order) {
    for (std::size_t rank = 0; rank < order.size(); ++rank)
      add_node(placement_.ranks[rank].node, std::span(order).subspan(rank, 1));
    job_.ranks = std::move(order);
  }

  bool ascend_by_node() const { return std::ranges::is_sorted(placement_.ranks, {}, &GpuPlace::node); }

  /// Sorts the ranks by node, with nodes in the order of their lowest ranks.
  void sort_by_node(std::vector<int>& order) const {
    std::map<int, int> lowest;
    for (std::size_t rank = 0; rank < placement_.ranks.size(); ++rank)
      lowest.try_emplace(placement_.ranks[rank].node, static_cast<int>(rank));
    std::ranges::stable_sort(order, {}, [&](int rank) {
      return lowest.at(placement_.ranks[static_cast<std::size_t>(rank)].node);
    });
  }

  /// Adds a node and puts its ranks into the order of their GPUs.
  void add_node(int node, std::span<int> ranks) {
    const auto gpu_of = [this](int rank) { return placement_.ranks[static_cast<std::size_t>(rank)].gpu; };
    if (!std::ranges::is_sorted(ranks, {}, gpu_of)) std::ranges::stable_sort(ranks, {}, gpu_of);
    job_.nodes.push_back(
        {node, shape_with(cluster_.type_of_node(node), ranks, gpu_of), static_cast<int>(places_)});
    places_ += ranks.size();
  }

  /// Returns the shape of this type and these GPUs; adds it if it is new. The newest shapes are compared
  /// first.
  int shape_with(int type, std::span<const int> ranks, const auto& gpu_of) {
    const auto is_like = [&](const NodeShape& shape) {
      return shape.type == type && std::ranges::equal(shape.gpus, ranks, {}, {}, gpu_of);
    };
    for (std::size_t shape = job_.shapes.size(); shape > 0; --shape) {
      if (is_like(job_.shapes[shape - 1])) return static_cast<int>(shape - 1);
    }
    std::ranges::transform(ranks, std::back_inserter(job_.shapes.emplace_back().gpus), gpu_of);
    job_.shapes.back().type = type;
    return static_cast<int>(job_.shapes.size()) - 1;
  }

  /// Fills in the facts of the job that the forecast needs.
  void describe() {
    JobFacts& job = job_.input.job;
    const Settings& settings = job_.settings;
    job.version = settings.version;
    job.ranks = placement_.size(), job.nodes = static_cast<int>(job_.nodes.size());
    describe(node_of(job_.shapes.front()));
    for (const NodeShape& shape : job_.shapes) add(node_of(shape));
    job.cuda_11_8 = settings.cuda_11_8;
  }

  const NodeSpec& node_of(const NodeShape& shape) const {
    return cluster_.type_count() > 1 ? cluster_.node_spec(node_with(shape)) : spec_.node;
  }

  /// Returns the first node of the shape.
  int node_with(const NodeShape& shape) const {
    const int number = static_cast<int>(&shape - job_.shapes.data());
    return std::ranges::find(job_.nodes, number, &JobNode::shape)->node;
  }

  static int capability_of(const NodeSpec& node) {
    return static_cast<int>(std::lround(node.gpu.compute_capability * 10));
  }

  /// Sets the facts as the first rank sees its own node.
  void describe(const NodeSpec& node) {
    JobFacts& job = job_.input.job;
    job.min_compute_capability = job.max_compute_capability = capability_of(node);
    job.cpu = vendor_of(node.host.family);
    job.nvswitch = node.nvswitches > 0;
  }

  /// Combines the facts of nodes that differ, as ranks do when they exchange them.
  void add(const NodeSpec& node) {
    JobFacts& job = job_.input.job;
    job.min_compute_capability = std::min(job.min_compute_capability, capability_of(node));
    job.max_compute_capability = std::max(job.max_compute_capability, capability_of(node));
    job.nvswitch = job.nvswitch && node.nvswitches > 0;
  }

  const LinkType& nic_link_of(const NodeShape& shape) const {
    return cluster_.type_count() > 1 ? cluster_.nic_link(node_with(shape)) : spec_.fabric.link;
  }

  /// Applies the settings of the network plug-in where the user set nothing.
  void obey_plugin() {
    if (job_.input.job.nodes < 2) return;
    Settings& settings = job_.settings;
    for (const NodeShape& shape : job_.shapes) {
      const LinkType& link = nic_link_of(shape);
      const bool sets = settings.version >= kPluginSetsProtocol;
      if (link.simple_only && sets && !settings.protocol) settings.protocol = Protocol::simple;
      if (link.ring_only && !settings.algorithm) settings.algorithm = Algorithm::ring;
      if (settings.buffer_bytes == 0) settings.buffer_bytes = link.nccl_buffer.count;
    }
  }

  /// Searches the graphs of a shape, or takes them from the cache.
  void search(NodeShape& shape) {
    NodeGraphRequest question = question_of(spec_, node_of(shape), nic_link_of(shape), shape.gpus,
                                            job_.input.job.nodes > 1, job_.settings);
    job_.input.job.collnet = has_collnet(question);
    static_cast<NodeGraphs&>(shape) = searched_.graphs(std::move(question));
    all_on_nvlink_ = all_on_nvlink_ && shape.all_on_nvlink;
    if (shape.nvlinks > 0) nvlinks_ = nvlinks_ == 0 ? shape.nvlinks : std::min(nvlinks_, shape.nvlinks);
  }

  /// Merges the graphs of all shapes to those of the slowest node, and fixes the number of search channels.
  void merge() {
    std::optional<GraphResult> ring, tree, nvls, chain, direct;
    for (const NodeShape& shape : job_.shapes) {
      take_slower(ring, shape.ring), take_slower(tree, shape.tree), take_slower(nvls, shape.nvls);
      take_slower(chain, shape.collnet_chain), take_slower(direct, shape.collnet_direct);
    }
    TuningInput& input = job_.input;
    input.ring = *ring, input.tree = *tree, input.nvls = *nvls, input.collnet_chain = *chain,
    input.collnet_direct = *direct;
    if (input.job.nodes > 1) {
      double told = 0;
      const bool tells = job_.settings.version >= kPluginTellsLatency;
      for (const NodeShape& shape : job_.shapes)
        told = tells ? std::max(told, to_seconds(nic_link_of(shape).nccl_latency) * 1e6) : 0;
      for (GraphResult* graph :
           {&input.ring, &input.tree, &input.nvls, &input.collnet_chain, &input.collnet_direct})
        graph->nic_latency_us = told;
    }
    int channels = std::max(1, std::min(input.ring.channels, input.tree.channels));
    if (job_.settings.max_channels > 0)
      channels = std::clamp(channels, 1, std::max(1, job_.settings.max_channels / 2));
    input.ring.channels = input.tree.channels = job_.search_channels = channels;
    job_.swaps_ring_pairs = swaps_ring_pairs();
  }

  /// Returns whether rings are exchanged in pairs on odd nodes. It holds if the search found rings in pairs,
  /// each of which leaves by the rail by which the other comes in.
  bool swaps_ring_pairs() const {
    const int rings = job_.search_channels;
    if (job_.settings.version < kSwapsRingPairs || job_.settings.cross_nic != CrossNic::automatic ||
        job_.input.job.nodes < 2 || rings % 2 != 0)
      return false;
    return std::ranges::all_of(job_.shapes, [rings](const NodeShape& shape) {
      const std::vector<ChannelPath>& paths = shape.ring.paths;
      if (!shape.ring.cross_nic || paths.size() < static_cast<std::size_t>(rings)) return false;
      for (std::size_t r = 0; r < static_cast<std::size_t>(rings); ++r) {
        if (paths[r].nic_out != paths[r ^ 1U].nic_in) return false;
      }
      return true;
    });
  }

  /// Sets the numbers of channels that run: collectives, NVLS, sends and receives.
  void count() {
    const Settings& settings = job_.settings;
    JobFacts& job = job_.input.job;
    job_.coll_channels = running_channels(
        {job, job_.input.ring, job_.input.collnet_direct, settings.min_channels, settings.max_channels});
    job.channels = job_.coll_channels;
    const bool nvls = job_.input.nvls.channels > 0;
    job_.nvls_channels = nvls ? nvls_running_channels(job) : 0;
    if (nvls && settings.max_channels > 0)
      job_.nvls_channels = std::min(job_.nvls_channels, settings.max_channels);
    const P2pChannels peers =
        p2p_channels(settings.version, job_.coll_channels, {job.ranks, job.nodes, nvlinks_, all_on_nvlink_});
    job_.p2p_channels = peers.total, job_.p2p_per_peer = peers.per_peer;
  }

  /// The cluster with the hosts of a domain as one node.
  const std::optional<ClusterSpec> domains_;
  const std::optional<Placement> in_domains_;
  const Cluster& cluster_;
  const ClusterSpec& spec_;
  const Placement& placement_;
  NodeGraphCache& searched_;
  Job job_;
  /// Number of job_.ranks that belong to nodes so far.
  std::size_t places_ = 0;
  int nvlinks_ = 0;
  bool all_on_nvlink_ = true;
};

}  // namespace

Job inspect(const Cluster& cluster, const Placement& placement, const Settings& settings) {
  NodeGraphCache none;
  return inspect(cluster, placement, settings, none);
}

Job inspect(const Cluster& cluster, const Placement& placement, const Settings& settings,
            NodeGraphCache& searched) {
  return Inspector(hosts_per_domain(cluster.spec(), placement), cluster, placement, settings, searched)
      .inspect();
}

Job inspect_hosts(const Cluster& cluster, const Placement& placement, const Settings& settings,
                  NodeGraphCache& searched) {
  return Inspector(1, cluster, placement, settings, searched).inspect();
}

}  // namespace foretrain::nccl
