// Groups the ranks of a job in one pass.
#include "sim/analysis/step/representatives.hpp"

#include <algorithm>
#include <set>

#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Deals out the batches of each kind to its ranks in their order.
class BatchDealer {
 public:
  BatchDealer(std::int64_t batch, const std::vector<KindBatches>& batches)
      : batch_(batch), batches_(batches), dealt_(batches.size(), 0) {}

  std::int64_t next(int kind) {
    if (batches_.empty()) return batch_;
    const std::size_t k = static_cast<std::size_t>(kind);
    return batches_[k].batch + (dealt_[k]++ < batches_[k].one_more ? 1 : 0);
  }

 private:
  std::int64_t batch_;
  const std::vector<KindBatches>& batches_;
  std::vector<int> dealt_;
};

/// Ranks on the same machine with the same batch are alike if both or neither have a slow GPU.
bool are_alike(const Representative& a, const Representative& b) {
  return a.kind == b.kind && a.batch == b.batch && (a.clock < 1) == (b.clock < 1);
}

}  // namespace

std::vector<Representative> representatives_of(const Scenario& scenario, const Placement& ranks,
                                               std::int64_t batch, const std::vector<KindBatches>& batches) {
  const ClusterSpec& cluster = scenario.cluster;
  const bool slow = has_slow_gpus(scenario);
  std::vector<int> like;
  for (int kind = 0; kind < kind_count(cluster); ++kind) like.push_back(first_kind_like(cluster, kind));
  std::vector<Representative> found;
  std::vector<std::set<int>> nodes;
  BatchDealer dealer(batch, batches);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const GpuPlace& place = ranks.ranks[static_cast<std::size_t>(rank)];
    const int kind = kind_of_node(cluster, place.node);
    const Representative own{like[static_cast<std::size_t>(kind)],
                             dealer.next(kind),
                             slow ? clock_of(scenario, place) : 1,
                             0,
                             0,
                             rank};
    // There are only a few groups, so a linear search is enough.
    auto known = std::ranges::find_if(found, [&](const Representative& r) { return are_alike(r, own); });
    if (known == found.end()) found.push_back(own), nodes.emplace_back(), known = found.end() - 1;
    // The slowest of a group represents it.
    if (own.clock < known->clock) known->clock = own.clock, known->first = rank;
    ++known->ranks;
    nodes[static_cast<std::size_t>(known - found.begin())].insert(place.node);
  }
  for (std::size_t i = 0; i < found.size(); ++i) found[i].nodes = static_cast<int>(nodes[i].size());
  return found;
}

/// Finds the node of `first`, turns that node, then turns the whole job so that the node leads.
Placement seen_from(const Placement& ranks, int first) {
  Placement turned = ranks;
  const auto own = turned.ranks.begin() + first;
  const auto is_elsewhere = [node = own->node](const GpuPlace& place) { return place.node != node; };
  const auto node_end = std::find_if(own, turned.ranks.end(), is_elsewhere);
  const auto node_begin =
      std::find_if(std::make_reverse_iterator(own), turned.ranks.rend(), is_elsewhere).base();
  // The rank comes first within its node, then the node first within the job.
  std::rotate(node_begin, own, node_end);
  std::rotate(turned.ranks.begin(), node_begin, turned.ranks.end());
  return turned;
}

}  // namespace foretrain
