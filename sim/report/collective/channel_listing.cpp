// Writes NCCL's channels as text. Nodes with the same GPUs share a shape, which is written once.
#include "sim/report/collective/channel_listing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/collective/nccl/double_tree.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

using nccl::ChannelPath;
using nccl::GraphResult;
using nccl::Pattern;

/// Returns true for patterns that use the switches' multicast or reduction. Their GPUs are reached from a
/// head, and only heads are listed.
bool only_heads(Pattern pattern) { return pattern == Pattern::nvls || pattern == Pattern::collnet_direct; }

/// Returns "nic0 > 0 1 2 3 > nic1", or "head 0" for patterns with heads.
std::string path_text(Pattern pattern, const ChannelPath& path) {
  if (only_heads(pattern)) {
    const std::string nic = path.nic_in < 0 ? "" : fmt::format(" at nic{}", path.nic_in);
    return fmt::format("head {}{}", path.gpus.empty() ? -1 : path.gpus.front(), nic);
  }
  const std::string in = path.nic_in < 0 ? "" : fmt::format("nic{} > ", path.nic_in);
  const std::string out = path.nic_out < 0 ? "" : fmt::format(" > nic{}", path.nic_out);
  return fmt::format("{}{}{}", in, fmt::join(path.gpus, " "), out);
}

/// Returns what NCCL's search found for one pattern: number of channels, bandwidth of each within a node and
/// between nodes, kind of path, and the path of each channel.
std::string write_graph(std::string_view name, const GraphResult& graph, bool several_nodes) {
  if (graph.channels == 0) return fmt::format("  {:<15} none\n", name);
  std::string out = fmt::format("  {:<15} {} of {:g} GB/s over {}", name, counted(graph.channels, "channel"),
                                graph.bw_intra, name_of(graph.type_intra));
  if (several_nodes)
    out += fmt::format(", {:g} GB/s between nodes over {}", graph.bw_inter, name_of(graph.type_inter));
  // A ring crosses rails when it leaves a node by another adapter than it entered.
  if (several_nodes && graph.cross_nic) out += ", crossing rails";
  out += '\n';
  const std::vector<ChannelPath> paths(
      graph.paths.begin(),
      graph.paths.begin() + std::min<std::ptrdiff_t>(graph.channels, std::ssize(graph.paths)));
  for (const ChannelGroup& group : group_channels(paths))
    out += fmt::format("    {:<14}{}\n", number_ranges(group.channels), path_text(graph.pattern, group.path));
  return out;
}

/// Returns a heading such as "4 GPUs (0-3) of node 0" or "8 GPUs (0-7) of each of 4 nodes".
std::string shape_heading(const nccl::Job& job, std::size_t shape) {
  std::vector<int> nodes;
  for (const nccl::JobNode& node : job.nodes) {
    if (node.shape == static_cast<int>(shape)) nodes.push_back(node.node);
  }
  const std::vector<int>& gpus = job.shapes[shape].gpus;
  const std::string where = nodes.size() == 1 ? fmt::format("node {}", nodes.front())
                                              : fmt::format("each of {} nodes", nodes.size());
  return fmt::format("\n{} ({}) of {}\n", counted(static_cast<int>(gpus.size()), "GPU"), number_ranges(gpus),
                     where);
}

/// Writes a node of a tree and, indented below it, its children.
void write_tree_place(std::string& out, const nccl::Job& job, bool second, int node, int depth) {
  const int nodes = static_cast<int>(job.nodes.size());
  out += fmt::format("{:>{}}node {}\n", "", 4 + 2 * depth, job.nodes[static_cast<std::size_t>(node)].node);
  const nccl::DoubleTreePlace place = nccl::double_tree_place(node, nodes);
  for (const int child : (second ? place.second : place.first).children) {
    if (child >= 0) write_tree_place(out, job, second, child, depth + 1);
  }
}

/// Returns the two trees between nodes, or a sentence when there are too
/// many nodes.
std::string write_trees(const nccl::Job& job) {
  const int nodes = static_cast<int>(job.nodes.size());
  if (nodes < 2) return {};
  if (nodes > kMostTreeNodes)
    return fmt::format("\nThe two trees between {} nodes are not written out beyond {} nodes\n", nodes,
                       kMostTreeNodes);
  std::string out = "\nTrees between nodes: one half of the channels takes the first, the other the second\n";
  for (const bool second : {false, true}) {
    out += second ? "  second\n" : "  first\n";
    // The root is the node without a parent.
    for (int node = 0; node < nodes; ++node) {
      const nccl::DoubleTreePlace place = nccl::double_tree_place(node, nodes);
      if ((second ? place.second : place.first).parent < 0) write_tree_place(out, job, second, node, 0);
    }
  }
  return out;
}

}  // namespace

// There are at most some dozens of channels, so a linear search is enough.
std::vector<ChannelGroup> group_channels(const std::vector<ChannelPath>& paths) {
  std::vector<ChannelGroup> groups;
  for (std::size_t channel = 0; channel < paths.size(); ++channel) {
    auto group = std::ranges::find(groups, paths[channel], &ChannelGroup::path);
    if (group == groups.end()) group = groups.insert(group, {paths[channel], {}});
    group->channels.push_back(static_cast<int>(channel));
  }
  return groups;
}

std::string number_ranges(const std::vector<int>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    // `last` is the last of consecutive numbers from i on.
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out += i == 0 ? "" : ", ";
    out += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

// Sections: the channels of each shape of node, what runs, and the trees between nodes.
std::string write_channels(const std::string& cluster, const nccl::Job& job) {
  const int nodes = static_cast<int>(job.nodes.size());
  std::string out =
      fmt::format("Channels of NCCL {} for {} on {} of {}\n", nccl::to_text(job.settings.version),
                  counted(job.input.job.ranks, "GPU"), counted(nodes, "node"), cluster);
  for (std::size_t i = 0; i < job.shapes.size(); ++i) {
    const nccl::NodeShape& shape = job.shapes[i];
    out += shape_heading(job, i);
    out += write_graph("ring", shape.ring, nodes > 1);
    out += write_graph(name_of(shape.tree.pattern), shape.tree, nodes > 1);
    out += write_graph("NVLS", shape.nvls, nodes > 1);
    out += write_graph("CollNet chain", shape.collnet_chain, nodes > 1);
    out += write_graph("CollNet direct", shape.collnet_direct, nodes > 1);
  }
  const int rings = job.search_channels;
  out += fmt::format(
      "\nRunning: {} (channel c takes ring c mod {}), {} for NVLS, {} for sends, {} for each peer\n",
      counted(job.coll_channels, "channel"), rings, job.nvls_channels, job.p2p_channels, job.p2p_per_peer);
  return out + write_trees(job);
}

}  // namespace foretrain
