// Copies between the GPUs of one process on idle links.
#include "sim/strategy/process/process.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace process_test {

using namespace foretrain;
using test::SmallPlan;

namespace {

constexpr Bytes kCopy{123'000'000};  ///< 10 ms at 12.3 GB/s

/// Seconds of one copy from GPU 0 to another of the node, its latency too.
double copy_s(const ClusterSpec& spec, int to) {
  SmallPlan small;
  small.spec = spec;
  const Placement placement = place_packed(spec.node.gpus, spec.node.gpus);
  const Cluster cluster = Cluster::build(spec, 1);
  const PlanRequest request{small.workload, cluster, placement, small.knobs, small.device};
  TaskGraph graph;
  Process process(request, graph);
  const std::size_t other = process.add_gpu(to);
  const TaskId copy =
      process.copy_between(process.main_thread(), 0, other, kCopy, Account::other, graph.label("copy"));
  const Timeline timeline = run(graph, *make_max_min_network(cluster.capacities()));
  return to_seconds(timeline.spans[copy].end - timeline.spans[copy].start);
}

}  // namespace

TEST_CASE("a copy to a GPU behind the same PCIe switch takes its bytes over the link's rate") {
  CHECK(copy_s(test::two_socket_node(2), 1) == Approx(10e-3 + 2e-6));  // two links of 1 us
}

TEST_CASE("a copy to a GPU of the same CPU takes 1 / 0.64 of that, as measured through root complexes") {
  CHECK(copy_s(test::pcie_cluster(1, 2), 1) == Approx(10e-3 / 0.64 + 2e-6));
}

TEST_CASE("a copy through host memory takes as long") {
  ClusterSpec spec = test::pcie_cluster(1, 2);
  spec.node.peer_access = false;
  CHECK(copy_s(spec, 1) == Approx(10e-3 / 0.64 + 2e-6));
}

TEST_CASE("a copy over two NVLinks takes its bytes over their rate") {
  CHECK(copy_s(test::nvlink_cluster(1, 1), 3) == Approx(123e6 / 48.5e9 + 1.8e-6));
}

TEST_CASE(
    "a copy between GPUs and a transfer along the same route keep their own rates, whichever comes first") {
  const ClusterSpec spec = test::pcie_cluster(1, 2);
  SmallPlan small;
  small.spec = spec;
  const Placement placement = place_packed(spec.node.gpus, spec.node.gpus);
  const Cluster cluster = Cluster::build(spec, 1);
  const PlanRequest request{small.workload, cluster, placement, small.knobs, small.device};
  const Route route = cluster.route(cluster.gpu(0, 0), cluster.gpu(0, 1));
  for (const bool transfer_is_first : {true, false}) {
    TaskGraph graph;
    Process process(request, graph);
    const std::size_t other = process.add_gpu(1);
    const LabelId label = graph.label("bytes");
    const auto copy = [&] {
      return process.copy_between(process.main_thread(), 0, other, kCopy, Account::other, label);
    };
    const auto transfer = [&] {
      return process.transfer(process.loader().queue, route, kCopy, Account::other, label, {});
    };
    const TaskId first = transfer_is_first ? transfer() : copy(),
                 second = transfer_is_first ? copy() : transfer();
    const auto weight = [&](TaskId task) {
      return graph.pattern(graph.tasks()[task].pattern).front().weight;
    };
    CHECK(weight(transfer_is_first ? first : second) == 1);
    CHECK(weight(transfer_is_first ? second : first) == Approx(1 / 0.64));
  }
}

}  // namespace process_test
