// The case of a collective: path, family of operations, size of the job, and the share of latency in its
// time.
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
  // RCCL on any path is known no better than NCCL on a path without measurements.
  if (is_amd(cluster.node.gpu.architecture))
    path = communicator.nodes() > 1 ? MessagePath::other_network : MessagePath::any;
  return {path, family_of(plan.op), longest_part(plan.timing)};
}

SpreadCase collective_case(const Communicator& communicator, const CollectivePlan& plan) {
  const CollectiveEvidence kind = evidence_of(communicator, plan);
  const double total = to_seconds(plan.timing.total());
  SpreadCase out;
  out.what = SpreadOf::collective;
  out.path = kind.path, out.family = kind.family;
  out.nodes = communicator.nodes();
  out.doublings = std::log2(std::max(1, communicator.size()));
  out.node_doublings = std::log2(std::max(1, communicator.nodes()));
  out.latency = total > 0 ? to_seconds(plan.timing.latency()) / total : 1;
  out.is_measured = communicator.cluster().spec().collectives_measured;
  return out;
}

/// A measured curve of the same operation and job limits the reach to the error between measured sizes.
Reach reach_of(const Communicator& communicator, const CollectivePlan& plan) {
  Reach reach = reach_of(collective_case(communicator, plan));
  const bool is_measured = std::ranges::any_of(
      communicator.cluster().spec().calibration.collectives, [&](const CalibratedCollective& c) {
        return c.op == name_of(plan.op) && c.gpus == communicator.size() && c.nodes == communicator.nodes();
      });
  if (!is_measured) return reach;
  constexpr double kKnown = kReach * kMeasuredCollectives;
  return {std::min(reach.above, kKnown), std::min(reach.below, kKnown)};
}

/// The upper end is limited to the longest time that the clock can hold.
TimeRange time_range(Time time, const Reach& reach) {
  const double at = to_seconds(time);
  return {seconds(at * std::exp(-reach.below)),
          seconds(std::min(at * std::exp(reach.above), to_seconds(kLongestTime)))};
}

}  // namespace foretrain
