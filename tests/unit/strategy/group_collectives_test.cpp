// Groups of a job: who is in them, and that what is known is what a communicator of its own would plan.
#include "sim/strategy/process/group_collectives.hpp"

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
  nccl::NodeGraphCache searched;
};

double weights(const std::vector<PatternFlow>& flows) {
  double sum = 0;
  for (const PatternFlow& flow : flows) sum += flow.weight;
  return sum;
}

}  // namespace

TEST_CASE("a group is the job, the ranks of its first node, or those at one place of every node") {
  TwoNodes two;
  CHECK(GroupCollectives(two.cluster, two.job, {Group::world}, two.job.ranks.front(), {}, two.searched)
            .communicator()
            .size() == 8);
  CHECK(GroupCollectives(two.cluster, two.job, {Group::node}, two.job.ranks.front(), {}, two.searched)
            .communicator()
            .size() == 4);
  CHECK(GroupCollectives(two.cluster, two.job, {Group::node}, two.job.ranks.front(), {}, two.searched)
            .communicator()
            .nodes() == 1);
  CHECK(GroupCollectives(two.cluster, two.job, {Group::across}, two.job.ranks.front(), {}, two.searched)
            .communicator()
            .size() == 2);
  CHECK(GroupCollectives(two.cluster, two.job, {Group::across}, two.job.ranks.front(), {}, two.searched)
            .communicator()
            .nodes() == 2);
}

TEST_CASE(
    "a message's plan is a communicator's own, its decision says it in words, and asked again it is the "
    "same") {
  TwoNodes two;
  GroupCollectives group(two.cluster, two.job, {Group::world}, two.job.ranks.front(), {}, two.searched);
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
  TwoNodes two;
  GroupCollectives across(two.cluster, two.job, {Group::across}, two.job.ranks.front(), {}, two.searched);
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
  TwoNodes two;
  ClusterCollectives known(two.cluster);
  CollectiveSettings without_nvls;
  without_nvls.nccl.nvls = false;
  const auto world = known.of(two.job, {Group::world}, {});
  CHECK(known.of(two.job, {Group::world}, {}) == world);
  CHECK(known.of(two.job, {Group::node}, {}) != world);
  CHECK(known.of(place_packed(4, 4), {Group::world}, {}) != world);
  CHECK(known.of(two.job, {Group::world}, without_nvls) != world);
  CHECK(known.size() == 4);
}

TEST_CASE("NCCL searches a set of a node's GPUs once, whatever jobs have it") {
  const Cluster cluster = Cluster::build(test::pcie_cluster(64, 4), 64);
  ClusterCollectives known(cluster);
  for (int gpus = 1; gpus <= 256; ++gpus) known.of(place_packed(gpus, 4), {Group::world}, {});
  // 1, 2, 3 or 4 GPUs of one node that is alone, or of one of several.
  CHECK(known.searches() == 8);
}

TEST_CASE("of many large jobs only the latest are kept") {
  const Cluster cluster = Cluster::build(test::star_cluster(1000, {10e9}), 1000);
  ClusterCollectives known(cluster);
  const auto first = known.of(place_packed(1000, 1), {Group::world}, {});
  for (int processes = 1; processes < 1100; ++processes) {
    CollectiveSettings other;
    other.processes_per_node = processes;
    known.of(place_packed(1000, 1), {Group::world}, other);
  }
  CHECK(known.size() == ClusterCollectives::kMostRanks / 1000);
  CHECK(known.of(place_packed(1000, 1), {Group::world}, {}) != first);
}

}  // namespace group_collectives_test
