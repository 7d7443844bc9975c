// Machines whose links have any bandwidth from 1 kbit/s to 10^18 bit/s, drawn by a counter.
#pragma once

#include <cmath>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/cluster/fabrics/fat_tree.hpp"
#include "tests/support/test_clusters.hpp"

namespace foretrain::test {

constexpr double kSlowestLink = 1e3 / 8, kFastestLink = 1e18 / 8;  // bytes per second

/// Numbers of one case, one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint64_t limit) {
    return static_cast<std::uint32_t>(kRandom.bits(seed_, next_++) % limit);
  }
  double between(double low, double high) { return low + (high - low) * kRandom.uniform(seed_, next_++); }
  /// Every order of magnitude is as likely as any other.
  double magnitude(double low, double high) {
    return low * std::pow(high / low, kRandom.uniform(seed_, next_++));
  }
  ByteRate rate() { return {magnitude(kSlowestLink, kFastestLink)}; }
  ByteRate faster(ByteRate than) { return {magnitude(than.per_second, kFastestLink)}; }

 private:
  inline static const CounterRandom kRandom{1018};
  std::uint64_t seed_, next_ = 0;
};

/// NCCL books what it always did: its choice of channels, algorithm and protocol is not about what the links
/// reach here.
inline void keep_books(LinkType& type) {
  type.nccl_bandwidth = type.nccl_bandwidth.per_second > 0 ? type.nccl_bandwidth : type.bandwidth;
}

/// All links, every one with a bandwidth of its own.
inline std::vector<LinkType*> links_of(ClusterSpec& spec) {
  std::vector<LinkType*> links{&spec.fabric.link};
  if (spec.fabric.uplink.bandwidth.per_second > 0) links.push_back(&spec.fabric.uplink);
  for (NodeLink& link : spec.node.links) links.push_back(&link.type);
  return links;
}

inline ClusterSpec random_cluster(Draws& draws) {
  const int nodes = 2 + static_cast<int>(draws.below(3)), few = 1 + static_cast<int>(draws.below(2));
  ClusterSpec spec = draws.below(3) == 0   ? star_cluster(nodes, {12.5e9})
                     : draws.below(2) == 0 ? pcie_cluster(nodes, 1 + few)
                                           : nvlink_cluster(nodes, few);
  spec.node.peer_access = draws.below(4) > 0;
  spec.node.gpudirect = draws.below(4) > 0;
  if (draws.below(3) == 0) {
    spec.fabric.kind = "fat_tree";
    FatTree& tree = spec.fabric.edit<FatTree>();
    tree.nodes_per_leaf = 1 + static_cast<int>(draws.below(2)), tree.uplinks_per_leaf = few;
    spec.fabric.uplink = spec.fabric.link;
  }
  const double efficiency = draws.between(0.4, 1);
  for (LinkType* link : links_of(spec)) {
    keep_books(*link);
    link->bandwidth = draws.rate(), link->collective_efficiency = efficiency;
  }
  return spec;
}

}  // namespace foretrain::test
