// Search of channels: it lays them through a node one after the other. Each takes its speed from every link
// of its path, until nothing fits.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/nccl/graph.hpp"
#include "sim/collective/nccl/node_map.hpp"

namespace foretrain::nccl {

/// A request: the shape of channels, and the speed of each.
struct ChannelRequest {
  Pattern pattern = Pattern::ring;
  /// Speed of a channel inside the node and between nodes, in thousandths of a GB/s.
  Milli intra = 0, inter = 0;
  /// Farthest classes of path that are allowed between GPUs, and between GPUs and NICs.
  PathClass type_intra = PathClass::nvl, type_inter = PathClass::pix;
  /// Every channel visits the GPUs in the order of the first one.
  bool same_channels = true;
  CrossNic cross_nic = CrossNic::never;
  int min_channels = 1, max_channels = 16;
  friend bool operator==(const ChannelRequest&, const ChannelRequest&) = default;
};

/// The channels that were found for a request.
struct ChannelSet {
  ChannelRequest request;
  int channels = 0;
  /// Steps of all paths of the channels.
  int hops = 0;
  /// Paths by place 0, 1, … in the map, not by GPU index.
  std::vector<ChannelPath> paths;
  std::int64_t total() const { return std::int64_t{channels} * request.intra; }
};

/// Upper bounds that no search can exceed. A search that reaches them ends.
struct Ceiling {
  int channels = 0;
  int hops_per_channel = 0;
};

/// The end of a search. NCCL stops after a number of visited places; the rest of the budget steers its next
/// attempts.
struct SearchEnd {
  /// The largest permitted number of channels was found.
  bool complete = false;
  int budget_left = 0;
};

/// Searches channels, and replaces `best` whenever more of `request` fits: more bandwidth in all, or the same
/// with fewer hops. Visits at most `budget` places, and 1024 more in PCIe order.
SearchEnd search_channels(const NodeMap& map, const ChannelRequest& request, const Ceiling& ceiling,
                          int budget, ChannelSet& best);

/// The bandwidth that is left on each link of a node during a search. A channel subtracts its speed from
/// every link of its path. Giving it back restores exactly the same value, because bandwidths are integers.
class LinkBudget {
 public:
  explicit LinkBudget(const std::vector<Milli>& capacities) : free_(capacities) {}

  /// Subtracts `speed` from every link of a path. Changes nothing and returns false if one link has too
  /// little left.
  bool take(const NodePath& path, Milli speed);
  /// Undoes a successful take.
  void give_back(const NodePath& path, Milli speed) { give_back(path, speed, path.hops()); }
  /// Returns the number of steps of all paths taken.
  int hops() const { return hops_; }

 private:
  struct Load {
    Milli forward, back;
  };
  static Load load_of(const NodePath& path, const PathStep& step, Milli speed);
  void give_back(const NodePath& path, Milli speed, int steps);

  std::vector<Milli> free_;
  int hops_ = 0;
};

}  // namespace foretrain::nccl
