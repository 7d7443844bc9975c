// Groups the ranks by node, searches every distinct set of GPUs once, and takes the slowest node's figures for the forecast.
#include "sim/collective/nccl/job.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sim/collective/nccl/channel_count.hpp"
#include "sim/collective/nccl/graph_search.hpp"

namespace foretrain::nccl {

namespace {

CpuVendor vendor_of(HostFamily family) {
  if (is_intel(family)) return CpuVendor::intel;
  if (family == HostFamily::amd) return CpuVendor::amd;
  return family == HostFamily::power9 ? CpuVendor::power : CpuVendor::arm;
}

/// Every figure of a graph is that of the slowest node; no channels anywhere: none at all.
void take_slower(std::optional<GraphResult>& slowest, const GraphResult& graph) {
  if (!slowest) {
    slowest = graph;
    slowest->paths.clear();
    return;
  }
  slowest->channels = std::min(slowest->channels, graph.channels);
  slowest->bw_intra = std::min(slowest->bw_intra, graph.bw_intra), slowest->bw_inter = std::min(slowest->bw_inter, graph.bw_inter);
  slowest->type_intra = std::max(slowest->type_intra, graph.type_intra),
  slowest->type_inter = std::max(slowest->type_inter, graph.type_inter);
  slowest->same_channels = slowest->same_channels && graph.same_channels;
  slowest->cross_nic = slowest->cross_nic || graph.cross_nic;
  if (graph.pattern == Pattern::tree) slowest->pattern = Pattern::tree;
}

class Inspector {
 public:
  Inspector(const Cluster& cluster, const Placement& placement, const Settings& settings) : spec_(cluster.spec()), placement_(placement) {
    job_.settings = settings;
  }

  Job inspect() {
    group();
    describe();
    for (std::size_t i = 0; i < job_.shapes.size(); ++i) search(job_.shapes[i]);
    merge();
    count();
    job_.table = tuning_table(job_.input);
    return std::move(job_);
  }

 private:
  void group() {
    std::map<int, std::vector<std::pair<int, int>>> by_node;
    std::vector<int> order;
    for (int rank = 0; rank < placement_.size(); ++rank) {
      const GpuPlace& place = placement_.ranks[static_cast<std::size_t>(rank)];
      std::vector<std::pair<int, int>>& on_node = by_node[place.node];
      if (on_node.empty()) order.push_back(place.node);
      on_node.emplace_back(place.gpu, rank);
    }
    std::map<std::vector<int>, int> known;
    for (const int node : order) add_node(node, by_node[node], known);
  }

  void add_node(int node, std::vector<std::pair<int, int>>& places, std::map<std::vector<int>, int>& known) {
    std::ranges::sort(places);
    std::vector<int> gpus;
    JobNode& entry = job_.nodes.emplace_back();
    entry.node = node;
    for (const auto& [gpu, rank] : places) {
      gpus.push_back(gpu);
      entry.ranks.push_back(rank);
    }
    const auto [row, is_new] = known.try_emplace(gpus, static_cast<int>(job_.shapes.size()));
    if (is_new) job_.shapes.emplace_back().gpus = gpus;
    entry.shape = row->second;
  }

  void describe() {
    JobFacts& job = job_.input.job;
    const Settings& settings = job_.settings;
    job.version = settings.version;
    job.ranks = placement_.size(), job.nodes = static_cast<int>(job_.nodes.size());
    job.min_compute_capability = static_cast<int>(std::lround(spec_.node.gpu.compute_capability * 10));
    job.max_compute_capability = job.min_compute_capability;
    job.cpu = vendor_of(spec_.node.host.family);
    job.nvswitch = spec_.node.nvswitches > 0;
    job.collnet = settings.collnet && spec_.fabric.in_network_reduction && job.nodes > 1 && settings.version >= Version{2, 7, 0};
    job.cuda_11_8 = settings.cuda_11_8;
  }

  bool multicast() const {
    const bool version = job_.settings.version >= Version{2, 17, 0};
    return version && job_.settings.nvls && spec_.node.multicast && spec_.node.nvswitches > 0 && spec_.node.gpu.compute_capability >= 9;
  }

  void search(NodeShape& shape) {
    const JobFacts& job = job_.input.job;
    const Settings& settings = job_.settings;
    const NodeMap map = NodeMap::build({spec_.node, spec_.fabric.link, shape.gpus, job.nodes > 1, settings});
    const int most = most_channels(settings.version) / 2;
    GraphRequest request{Pattern::ring, 1, most, settings.cross_nic, settings.version};
    shape.ring = search_graph(map, request);
    const int rings = std::max(1, shape.ring.channels);
    const Pattern tree = settings.version >= Version{2, 8, 0} ? Pattern::balanced_tree : Pattern::split_tree;
    shape.tree = search_graph(map, {tree, rings, rings, settings.cross_nic, settings.version});
    if (job.collnet) {
      shape.collnet_chain = search_graph(map, {Pattern::tree, rings, rings, settings.cross_nic, settings.version});
      const bool direct = settings.version >= Version{2, 14, 0};
      shape.collnet_direct =
          direct ? search_graph(map, {Pattern::collnet_direct, 1, 2 * most, settings.cross_nic, settings.version}) : shape.collnet_chain;
    }
    if (multicast() && shape.gpus.size() > 1) {
      shape.nvls = search_graph(map, {Pattern::nvls, 1, 2 * most, settings.cross_nic, settings.version});
    }
    note_peers(map);
  }

  /// Sends and receives: the NVLinks of the narrowest pair.
  void note_peers(const NodeMap& map) {
    const Milli link = nvlink_booked(job_.settings.version, map.compute_capability());
    for (int a = 0; a < map.gpus(); ++a) {
      for (int b = 0; b < map.gpus(); ++b) {
        if (a == b) continue;
        const NodePath& path = map.gpu_to_gpu(a, b);
        if (path.type != PathClass::nvl) all_on_nvlink_ = false;
        const int links = std::max(1, path.bandwidth / std::max(1, link));
        nvlinks_ = nvlinks_ == 0 ? links : std::min(nvlinks_, links);
      }
    }
  }

  void merge() {
    std::optional<GraphResult> ring, tree, nvls, chain, direct;
    for (const NodeShape& shape : job_.shapes) {
      take_slower(ring, shape.ring), take_slower(tree, shape.tree), take_slower(nvls, shape.nvls);
      take_slower(chain, shape.collnet_chain), take_slower(direct, shape.collnet_direct);
    }
    TuningInput& input = job_.input;
    input.ring = *ring, input.tree = *tree, input.nvls = *nvls, input.collnet_chain = *chain, input.collnet_direct = *direct;
    int channels = std::max(1, std::min(input.ring.channels, input.tree.channels));
    if (job_.settings.max_channels > 0) channels = std::clamp(channels, 1, std::max(1, job_.settings.max_channels / 2));
    input.ring.channels = input.tree.channels = job_.search_channels = channels;
  }

  void count() {
    const Settings& settings = job_.settings;
    JobFacts& job = job_.input.job;
    job_.coll_channels = running_channels({job, job_.input.ring, job_.input.collnet_direct, settings.min_channels, settings.max_channels});
    job.channels = job_.coll_channels;
    const bool nvls = job_.input.nvls.channels > 0;
    job_.nvls_channels = nvls ? nvls_running_channels(job) : 0;
    if (nvls && settings.max_channels > 0) job_.nvls_channels = std::min(job_.nvls_channels, settings.max_channels);
    const PeerChannels peers = peer_channels(settings.version, job_.coll_channels, job.nodes, nvlinks_, all_on_nvlink_);
    job_.p2p_channels = peers.total, job_.p2p_per_peer = peers.per_peer;
  }

  const ClusterSpec& spec_;
  const Placement& placement_;
  Job job_;
  int nvlinks_ = 0;
  bool all_on_nvlink_ = true;
};

}  // namespace

Job inspect(const Cluster& cluster, const Placement& placement, const Settings& settings) {
  return Inspector(cluster, placement, settings).inspect();
}

}  // namespace foretrain::nccl
