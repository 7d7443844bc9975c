// Lays channels through a node one after the other, each taking its speed from every link of its way, until
// nothing fits.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/nccl/graph.hpp"
#include "sim/collective/nccl/node_map.hpp"

namespace foretrain::nccl {

/// What channels must look like, and the speed of each.
struct ChannelRequest {
  Pattern pattern = Pattern::ring;
  Milli intra = 0, inter = 0;
  PathClass type_intra = PathClass::nvl, type_inter = PathClass::pix;
  bool same_channels = true;
  CrossNic cross_nic = CrossNic::never;
  int min_channels = 1, max_channels = 16;
  friend bool operator==(const ChannelRequest&, const ChannelRequest&) = default;
};

/// Channels found for a request.
struct ChannelSet {
  ChannelRequest request;
  int channels = 0;
  int hops = 0;
  std::vector<ChannelPath> paths;  ///< places 0, 1, … of the map, not yet GPU indices
  std::int64_t total() const { return std::int64_t{channels} * request.intra; }
};

/// What no search can exceed; one that reaches it is over.
struct Ceiling {
  int channels = 0;
  int hops_per_channel = 0;
};

/// How a search ended. NCCL stops after so many visited places; what is left of the budget steers its next
/// attempts.
struct SearchEnd {
  bool complete = false;  ///< as many channels as may be
  int budget_left = 0;
};

/// Replaces `best` whenever more of `request` fits: more bandwidth in all, or as much with fewer hops. Visits
/// at most `budget` places (and 1024 more in PCIe order).
SearchEnd search_channels(const NodeMap& map, const ChannelRequest& request, const Ceiling& ceiling,
                          int budget, ChannelSet& best);

// What the links of a node have left while channels are laid over them.

/// The bandwidth that is left on each link of a node while channels are searched. Taking a channel subtracts
/// its speed from every link of its path; giving it back restores exactly the same value, because bandwidths
/// are integers.
class LinkBudget {
 public:
  explicit LinkBudget(const std::vector<Milli>& capacities) : free_(capacities) {}

  /// Books `speed` on every link of a path, or nothing when one of them is too full.
  bool take(const NodePath& path, Milli speed);
  /// Undoes a successful take.
  void give_back(const NodePath& path, Milli speed) { give_back(path, speed, path.hops()); }
  /// Steps of all paths booked.
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
