// The costs of collectives on a cluster: those of the GPU's generation, but for what was measured.
#include "sim/collective/costs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace cost_constants_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

ClusterSpec with(ClusterSpec cluster, const std::string& name, double value) {
  cluster.calibration.constants.push_back({name, value, 0.05, 0, 0, 3, 0.01});
  return cluster;
}

}  // namespace

TEST_CASE("a cluster without a calibration has the costs of its GPU's generation") {
  const CollectiveCosts costs = costs_of(nvlink_cluster(2, 2)), volta = costs_of(Architecture::volta);
  for (const ConstantOf<CollectiveCosts>& row : collective_constants()) {
    INFO(row.range.name);
    CHECK(row.get(costs) == row.get(volta));
  }
}

TEST_CASE("a measured constant replaces one cost and no other") {
  const CollectiveCosts costs = costs_of(with(nvlink_cluster(2, 2), "nccl.ring_step.ll128", 3e-6)),
                        volta = costs_of(Architecture::volta);
  CHECK(of(costs.ring_step, Protocol::ll128) == microseconds(3));
  CHECK(of(costs.ring_step, Protocol::ll) == of(volta.ring_step, Protocol::ll));
  CHECK(of(costs.ring_step, Protocol::simple) == of(volta.ring_step, Protocol::simple));
  CHECK(of(costs.tree_step, Protocol::ll128) == of(volta.tree_step, Protocol::ll128));
}

TEST_CASE("a communicator takes the measured costs of its cluster") {
  // One rank copies by one kernel: its time is nccl.kernel.
  CHECK(OneJob(with(nvlink_cluster(1, 1), "nccl.kernel", 9e-6), 1).plan(CollectiveOp::all_reduce, 8).alone ==
        microseconds(9));
  const OneJob before(nvlink_cluster(1, 1), 4), after(with(nvlink_cluster(1, 1), "nccl.kernel", 30e-6), 4);
  const Time more = microseconds(30) - before.communicator.costs().kernel;
  CHECK(after.plan(CollectiveOp::all_reduce, 8).alone - before.plan(CollectiveOp::all_reduce, 8).alone ==
        more);
}

}  // namespace cost_constants_test
