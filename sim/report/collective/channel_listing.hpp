// NCCL's channels of a job as text: the result of its search on each kind of node, the channels that run, and
// the trees between nodes.
#pragma once

#include <string>
#include <vector>

#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// The channels that take the same path.
struct ChannelGroup {
  nccl::ChannelPath path;
  /// Numbers of the search's channels, ascending.
  std::vector<int> channels;
};

/// Groups channels with equal paths. Groups are in the order of their first channels.
std::vector<ChannelGroup> group_channels(const std::vector<nccl::ChannelPath>& paths);

/// Returns ascending numbers as ranges, such as "0-3, 8".
std::string number_ranges(const std::vector<int>& numbers);

/// Returns the output of `topology show --channels`. `cluster` is the cluster's name. Trees are written for
/// at most kMostTreeNodes nodes.
std::string write_channels(const std::string& cluster, const nccl::Job& job);

/// Largest number of nodes whose trees are written out.
inline constexpr int kMostTreeNodes = 32;

}  // namespace foretrain
