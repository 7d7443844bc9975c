// One spread for each path, family of operations, and longest part of the time.
#include "sim/analysis/uncertainty/collective_spread.hpp"

#include <algorithm>
#include <cmath>

#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

OpFamily family_of(CollectiveOp op) {
  using O = CollectiveOp;
  if (op == O::all_reduce || op == O::reduce_scatter || op == O::all_gather) return OpFamily::reductions;
  return op == O::broadcast || op == O::reduce ? OpFamily::rooted : OpFamily::peers;
}

LongestPart longest_part(const CollectiveTiming& timing) {
  return timing.data > timing.latency() ? LongestPart::data : LongestPart::latency;
}

CollectiveEvidence evidence_of(const Communicator& communicator, const CollectivePlan& plan) {
  const ClusterSpec& cluster = communicator.cluster().spec();
  MessagePath path = path_of(cluster, communicator.nodes());
  // No row of the tables is AMD's: RCCL on a path is known no better than anything on any path.
  if (is_amd(cluster.node.gpu.architecture))
    path = communicator.nodes() > 1 ? MessagePath::other_network : MessagePath::any;
  return {path, family_of(plan.op), longest_part(plan.timing)};
}

double spread_of(const Communicator& communicator, const CollectivePlan& plan) {
  const ClusterSpec& cluster = communicator.cluster().spec();
  const bool is_measured =
      std::ranges::any_of(cluster.calibration.collectives, [&](const CalibratedCollective& c) {
        return c.op == name_of(plan.op) && c.gpus == communicator.size() && c.nodes == communicator.nodes();
      });
  const double known = spread_of(evidence_of(communicator, plan)).of(cluster.collectives_measured);
  return is_measured ? std::min(known, kMeasuredCollectives) : known;
}

TimeRange time_range(Time time, double spread) {
  const double reach = std::exp(kReach * spread), at = to_seconds(time);
  return {seconds(at / reach), seconds(std::min(at * reach, to_seconds(kLongestTime)))};
}

}  // namespace foretrain
