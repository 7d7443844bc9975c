// The channels of NCCL and of foretrain's search need not be the same to be equally good.
// Rings are alike if one is a rotation of the other; trees are alike if they have the same GPUs in the same
// order.
#include "sim/import/machines/graph_check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/nccl/job.hpp"

namespace foretrain {

namespace {

using nccl::ChannelPath;
using nccl::GraphResult;
using nccl::Pattern;

/// Says whether the pattern is one of NCCL's trees.
bool is_tree(Pattern pattern) {
  return pattern == Pattern::tree || pattern == Pattern::split_tree || pattern == Pattern::balanced_tree;
}

/// Returns foretrain's graph for the pattern of NCCL's.
const GraphResult& ours_of(const nccl::NodeShape& shape, const GraphResult& theirs) {
  if (is_tree(theirs.pattern)) return shape.tree;
  if (theirs.pattern == Pattern::nvls) return shape.nvls;
  if (theirs.pattern == Pattern::collnet_direct) return shape.collnet_direct;
  return shape.ring;
}

/// Returns the GPUs of a channel. A ring of one node begins with its lowest GPU, so that rotations are equal.
std::vector<int> from_lowest(const ChannelPath& path, bool is_closed) {
  std::vector<int> gpus = path.gpus;
  if (is_closed && !gpus.empty()) std::rotate(gpus.begin(), std::ranges::min_element(gpus), gpus.end());
  return gpus;
}

/// Counts the channels of one graph that have an equal in the other; each channel of the other is used once.
int alike(const GraphResult& one, std::vector<ChannelPath> others, bool is_closed) {
  int count = 0;
  for (const ChannelPath& path : one.paths) {
    const auto same = std::ranges::find_if(others, [&](const ChannelPath& other) {
      return from_lowest(other, is_closed) == from_lowest(path, is_closed);
    });
    if (same == others.end()) continue;
    others.erase(same);
    ++count;
  }
  return count;
}

/// Compares a figure of NCCL with foretrain's in words. They agree within 1 %.
std::string figure(std::string_view what, double theirs, double ours, std::string_view unit) {
  const bool is_same = std::abs(theirs - ours) <= 0.01 * std::max(theirs, ours);
  return is_same ? fmt::format("{} {:g}{} alike", what, theirs, unit)
                 : fmt::format("{} {:g}{}, ours {:g}{}", what, theirs, unit, ours, unit);
}

/// Returns the GPUs of the first channel, for messages.
std::string first_path(const GraphResult& graph) {
  return graph.paths.empty() ? "none" : fmt::format("{}", fmt::join(graph.paths.front().gpus, " "));
}

/// Says how many channels agree in their order of GPUs, with the first of each where some differ.
std::string order_text(const GraphResult& theirs, const GraphResult& ours, bool is_closed) {
  const int same = alike(theirs, ours.paths, is_closed);
  std::string out =
      fmt::format("order of {} of {} alike", same, counted(std::ssize(theirs.paths), "channel"));
  if (same < std::ssize(theirs.paths))
    out += fmt::format(" (first: {}, ours {})", first_path(theirs), first_path(ours));
  return out;
}

/// Says whether a channel passes an adapter, which means several nodes.
bool has_adapters(const GraphResult& graph) {
  return std::ranges::any_of(graph.paths, [](const ChannelPath& path) { return path.nic_in >= 0; });
}

/// Returns the line for one graph.
std::string check_of(const GraphResult& theirs, const GraphResult& ours, bool several_nodes) {
  std::string out =
      fmt::format("{}: {}", name_of(theirs.pattern), figure("channels", theirs.channels, ours.channels, ""));
  if (theirs.channels == 0 || ours.channels == 0) return out;
  out += ", " + figure("rate of each", theirs.bw_intra, ours.bw_intra, " GB/s");
  if (several_nodes) out += ", " + figure("between nodes", theirs.bw_inter, ours.bw_inter, " GB/s");
  if (theirs.pattern != ours.pattern) out += fmt::format(", pattern {} in ours", name_of(ours.pattern));
  if (theirs.type_intra != ours.type_intra)
    out += fmt::format(", over {}, ours {}", name_of(theirs.type_intra), name_of(ours.type_intra));
  return out + ", " + order_text(theirs, ours, theirs.pattern == Pattern::ring && !several_nodes);
}

}  // namespace

std::vector<std::string> graph_checks(const ClusterSpec& cluster, const std::vector<GraphResult>& graphs) {
  std::vector<std::string> lines;
  if (graphs.empty() || cluster.node.gpus < 2) return lines;
  const bool several_nodes = std::ranges::any_of(graphs, has_adapters) && cluster.node.nics > 0;
  // A dump of several nodes is compared with two nodes, as the channels inside a node do not depend on their
  // number.
  ClusterSpec spec = cluster;
  if (several_nodes) spec.nodes = std::max(spec.nodes, 2);
  const int nodes = several_nodes ? 2 : 1;
  const Placement placement = place_packed(nodes * spec.node.gpus, spec.node.gpus);
  const nccl::Job job = nccl::inspect(Cluster::build(spec, nodes), placement);
  for (const GraphResult& theirs : graphs)
    lines.push_back(check_of(theirs, ours_of(job.shapes.front(), theirs), several_nodes));
  lines.push_back(fmt::format("ours is the search of NCCL {}; other versions may find others",
                              nccl::to_text(job.settings.version)));
  return lines;
}

}  // namespace foretrain
