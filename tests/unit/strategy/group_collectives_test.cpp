// Groups of a job: who is in them, and that what is known is what a communicator of its own would plan.
#include "sim/strategy/group_collectives.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace group_collectives_test {

using namespace foretrain;

namespace {

constexpr Bytes kMessage{25 << 20};

/// Two nodes of four GPUs, all of them in the job.
struct TwoNodes {
  Cluster cluster = Cluster::build(test::pcie_cluster(2, 4), 2);
  Placement job = place_packed(8, 4);
};

double weights(const std::vector<PatternFlow>& flows) {
  double sum = 0;
  for (const PatternFlow& flow : flows) sum += flow.weight;
  return sum;
}

}  // namespace

TEST_CASE("a group is the job, the ranks of its first node, or those at one place of every node") {
  const TwoNodes two;
  CHECK(GroupCollectives(two.cluster, two.job, Group::world, {}).communicator().size() == 8);
  CHECK(GroupCollectives(two.cluster, two.job, Group::node, {}).communicator().size() == 4);
  CHECK(GroupCollectives(two.cluster, two.job, Group::node, {}).communicator().nodes() == 1);
  CHECK(GroupCollectives(two.cluster, two.job, Group::across, {}).communicator().size() == 2);
  CHECK(GroupCollectives(two.cluster, two.job, Group::across, {}).communicator().nodes() == 2);
}

TEST_CASE("a message's plan is a communicator's own, its decision says it in words, and asked again it is the same") {
  const TwoNodes two;
  GroupCollectives group(two.cluster, two.job, Group::world, {});
  const Communicator own(two.cluster, two.job, {});
  const GroupCollective& known = group.at(CollectiveOp::all_reduce, kMessage);
  const CollectivePlan plan = own.plan(CollectiveOp::all_reduce, kMessage);
  CHECK(known.plan.latency == plan.latency);
  CHECK(known.plan.stretch == plan.stretch);
  CHECK(known.decision.subject == "all_reduce 26.2 MB");
  CHECK(known.decision.why == plan.why);
  CHECK(&group.at(CollectiveOp::all_reduce, kMessage) == &known);
  CHECK(&group.at(CollectiveOp::broadcast, kMessage) != &known);
}

TEST_CASE("flows are found once, and those of sets across nodes are the flows of every set") {
  const TwoNodes two;
  GroupCollectives across(two.cluster, two.job, Group::across, {});
  GroupCollective& known = across.at(CollectiveOp::all_reduce, kMessage);
  const TrafficFlows& flows = across.flows(known);
  CHECK(across.flows(known).get() == flows.get());
  double sum = 0;
  for (int gpu = 0; gpu < 4; ++gpu) {
    const Communicator set(two.cluster, {{{0, gpu}, {1, gpu}}, 2}, {});
    sum += weights(set.flows(set.plan(CollectiveOp::all_reduce, kMessage)));
  }
  CHECK(weights(*flows) == Approx(sum));
}

TEST_CASE("a cluster knows each job's group once, and jobs with other ranks or settings are others") {
  const TwoNodes two;
  ClusterCollectives known(two.cluster);
  CollectiveSettings without_nvls;
  without_nvls.nccl.nvls = false;
  const auto world = known.of(two.job, Group::world, {});
  CHECK(known.of(two.job, Group::world, {}) == world);
  CHECK(known.of(two.job, Group::node, {}) != world);
  CHECK(known.of(place_packed(4, 4), Group::world, {}) != world);
  CHECK(known.of(two.job, Group::world, without_nvls) != world);
  CHECK(known.size() == 4);
}

}  // namespace group_collectives_test
