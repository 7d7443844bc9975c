// NCCL's channels of a job as text: what its search found on each kind of node, what runs, and the trees
// between nodes.
#pragma once

#include <string>
#include <vector>

#include "sim/collective/nccl/job.hpp"

namespace foretrain {

/// Channels of one path.
struct ChannelGroup {
  nccl::ChannelPath path;
  std::vector<int> channels;  ///< of the search, ascending
};

/// Equal paths are one, in the order of their first channels.
std::vector<ChannelGroup> group_channels(const std::vector<nccl::ChannelPath>& paths);

/// "0-3, 8".
std::string number_ranges(const std::vector<int>& numbers);

/// Trees are written out for at most kMostTreeNodes nodes. `cluster`: its name.
std::string write_channels(const std::string& cluster, const nccl::Job& job);

inline constexpr int kMostTreeNodes = 32;

}  // namespace foretrain
