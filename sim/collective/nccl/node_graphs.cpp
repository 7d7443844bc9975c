// The request is reduced to what NodeMap and the choice of patterns read, and the search sees nothing else.
// So input that is not in the request cannot change the result.
#include "sim/collective/nccl/node_graphs.hpp"

#include <algorithm>
#include <utility>

#include "sim/collective/nccl/channel_count.hpp"
#include "sim/collective/nccl/graph_search.hpp"
#include "sim/collective/nccl/listed_rings.hpp"

namespace foretrain::nccl {

namespace {

/// Returns the link with its kind and the assumed bandwidth alone. The bandwidth of NVLinks between GPUs
/// follows from the GPU, unless the link has a figure of its own.
LinkType booked_link(const LinkType& type, bool between_gpus = false) {
  const bool by_gpu = type.kind == LinkKind::nvlink && between_gpus;
  LinkType seen;
  seen.kind = type.kind;
  seen.nccl_bandwidth = type.nccl_bandwidth.per_second > 0 || by_gpu ? type.nccl_bandwidth : type.bandwidth;
  return seen;
}

/// Returns whether the bandwidth of NVLink follows from the GPU. NVLinks to a CPU are C2C links with a rate
/// of their own, except on POWER9.
bool is_by_gpu(const NodeSpec& node, const NodeLink& link) {
  const bool joins_cpu = link.a.starts_with("cpu") || link.b.starts_with("cpu");
  return !joins_cpu || node.host.family == HostFamily::power9;
}

/// Returns the parts of the node that the search reads.
NodeSpec seen_node(const NodeSpec& node) {
  NodeSpec seen;
  seen.gpus = node.gpus, seen.cpus = node.cpus, seen.switches = node.switches,
  seen.nvswitches = node.nvswitches, seen.nics = node.nics;
  seen.gpu.compute_capability = node.gpu.compute_capability;
  seen.host.family = node.host.family;
  seen.peer_access = node.peer_access;
  seen.gpudirect = node.gpudirect, seen.gpudirect_reach = node.gpudirect_reach;
  seen.multicast = node.multicast;
  for (const NodeLink& link : node.links)
    seen.links.push_back({link.a, link.b, booked_link(link.type, is_by_gpu(node, link)), link.count, {}});
  return seen;
}

/// Returns the settings that the search reads.
Settings seen_settings(const Settings& settings) {
  Settings seen;
  seen.version = settings.version;
  seen.nvls = settings.nvls, seen.collnet = settings.collnet;
  seen.p2p = settings.p2p, seen.pxn = settings.pxn;
  seen.p2p_level = settings.p2p_level, seen.gdr_level = settings.gdr_level;
  seen.cross_nic = settings.cross_nic;
  return seen;
}

/// Returns whether the node can run NVLS.
bool has_multicast(const NodeGraphRequest& question) {
  const bool version = question.settings.version >= Version{2, 17, 0};
  return version && question.settings.nvls && question.node.multicast && question.node.nvswitches > 0 &&
         question.node.gpu.compute_capability >= 9;
}

/// Records the NVLinks of the narrowest pair, on which the channels of sends and receives depend.
void note_peers(const NodeMap& map, const Version& version, NodeGraphs& graphs) {
  const Milli link = nvlink_bandwidth(version, map.compute_capability());
  for (int a = 0; a < map.gpus(); ++a) {
    for (int b = 0; b < map.gpus(); ++b) {
      if (a == b) continue;
      const NodePath& path = map.gpu_to_gpu(a, b);
      if (path.type != PathClass::nvl) graphs.all_on_nvlink = false;
      const int links = std::max(1, path.bandwidth / std::max(1, link));
      graphs.nvlinks = graphs.nvlinks == 0 ? links : std::min(graphs.nvlinks, links);
    }
  }
}

}  // namespace

NodeGraphRequest question_of(const ClusterSpec& cluster, std::vector<int> gpus, bool several_nodes,
                             const Settings& settings) {
  return question_of(cluster, cluster.node, cluster.fabric.link, std::move(gpus), several_nodes, settings);
}

NodeGraphRequest question_of(const ClusterSpec& cluster, const NodeSpec& node, const LinkType& nic_link,
                             std::vector<int> gpus, bool several_nodes, const Settings& settings) {
  const LinkType network = several_nodes ? booked_link(nic_link) : LinkType{};
  return {std::move(gpus),         several_nodes, several_nodes && cluster.fabric.in_network_reduction,
          seen_settings(settings), network,       seen_node(node)};
}

bool has_collnet(const NodeGraphRequest& question) {
  return question.settings.collnet && question.reduces && question.several_nodes &&
         question.settings.version >= Version{2, 7, 0};
}

NodeGraphs search_node(const NodeGraphRequest& question) {
  NodeGraphs graphs;
  const Settings& settings = question.settings;
  const NodeMap map =
      NodeMap::build({question.node, question.network, question.gpus, question.several_nodes, settings});
  const auto search = [&](Pattern pattern, int least, int most) {
    return search_graph(map, {pattern, least, most, settings.cross_nic, settings.version});
  };
  // Every ring runs twice later, so the search looks for half of the channels.
  const int most = most_channels(settings.version) / 2;
  const std::optional<GraphResult> listed = listed_rings(map, question.node);
  graphs.ring = listed ? *listed : search(Pattern::ring, 1, most);
  const int rings = std::max(1, graphs.ring.channels);
  const Pattern tree = settings.version >= Version{2, 8, 0} ? Pattern::balanced_tree : Pattern::split_tree;
  // Within one node RCCL uses the listed rings for trees as well.
  const bool takes_list = listed && !question.several_nodes;
  graphs.tree = takes_list ? *listed : search(tree, rings, rings);
  if (takes_list) graphs.tree.pattern = tree;
  if (has_collnet(question)) {
    graphs.collnet_chain = search(Pattern::tree, rings, rings);
    const bool direct = settings.version >= Version{2, 14, 0};
    graphs.collnet_direct = direct ? search(Pattern::collnet_direct, 1, 2 * most) : graphs.collnet_chain;
  }
  if (has_multicast(question) && question.gpus.size() > 1) graphs.nvls = search(Pattern::nvls, 1, 2 * most);
  note_peers(map, settings.version, graphs);
  return graphs;
}

const NodeGraphs& NodeGraphCache::graphs(NodeGraphRequest question) {
  const auto known = std::ranges::find(known_, question, &Entry::question);
  if (known != known_.end()) return known->graphs;
  NodeGraphs found = search_node(question);
  return known_.emplace_back(Entry{std::move(question), std::move(found)}).graphs;
}

}  // namespace foretrain::nccl
