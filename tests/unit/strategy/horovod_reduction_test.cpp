// One message over two levels of the machine: what the clock expects of it is what the graph takes.
#include "sim/collective/communicator.hpp"
#include "sim/strategy/horovod/horovod_thread.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace horovod_reduction_test {

using namespace foretrain;
using test::SmallPlan;

namespace {

struct Reduced {
  double busy_s = 0;      ///< of the thread
  double expected_s = 0;  ///< held()
  double ended_s = 0;     ///< the last task
  TaskGraph graph;
  Timeline timeline;
};

/// A message whose data are there from the start, on two nodes of four.
Reduced reduced(HorovodLevels levels, Bytes size) {
  SmallPlan small;
  small.spec = test::pcie_cluster(2, 4);
  small.gpus = 8;
  const Placement placement = place_packed(8, 4);
  const Cluster cluster = Cluster::build(small.spec, 2);
  const PlanRequest request{small.workload, cluster, placement, small.knobs, small.device};
  Reduced result;
  Process process(request, result.graph);
  HorovodSettings settings;
  settings.levels = levels;
  settings.ranks_per_node = 4;
  const HostThread thread = process.add_thread("thread");
  HorovodReduction reduction(process, settings, thread);
  const TaskId ready = process.host_for(process.main_thread(), {}, Account::host);
  const TaskId last = reduction.reduce(size, result.graph.label("all_reduce"), std::span(&ready, 1));
  result.timeline = run(result.graph, *make_max_min_network(cluster.capacities()));
  result.busy_s = to_seconds(result.timeline.end_of(result.graph.last_on(thread.queue)));
  result.ended_s = to_seconds(result.timeline.end_of(last));
  result.expected_s = to_seconds(reduction.held(size));
  return result;
}

}  // namespace

TEST_CASE("a plain all-reduce keeps the thread for its call, a torus for three") {
  const Reduced plain = reduced(HorovodLevels::plain, {1 << 20}),
                torus = reduced(HorovodLevels::torus, {1 << 20});
  CHECK(plain.busy_s == Approx(plain.expected_s));
  CHECK(torus.busy_s == Approx(torus.expected_s));
  CHECK(torus.busy_s == Approx(3 * plain.busy_s));
}

TEST_CASE("a hierarchical all-reduce keeps the thread as long as the clock expects") {
  for (const std::int64_t mebibytes : {1, 16, 128}) {
    const Reduced message = reduced(HorovodLevels::hierarchical, {mebibytes << 20});
    INFO(mebibytes << " MiB");
    CHECK(message.busy_s == Approx(message.expected_s).epsilon(0.03));
  }
}

TEST_CASE("between nodes every NIC carries 2 (n - 1) / n of the whole message, whatever the level") {
  // Two nodes, one NIC each: 2 x 1/2 x 128 MiB at 12.3 GB/s. The thread block and copies come on top.
  const Reduced message = reduced(HorovodLevels::hierarchical, {128 << 20});
  const auto mpi = test::tasks_labelled(message.graph, TaskKind::copy, "MPI all_reduce between nodes");
  REQUIRE(mpi.size() == 1);
  const Span& span = message.timeline.spans[mpi.front()];
  const double wire = 134'217'728 / 12.3e9,
               sums = 134'217'728 / 4.0 / 2 / 8e9;  // half of the share of 32 MiB is added by each core
  CHECK(to_seconds(span.end - span.start) == Approx(wire + sums).epsilon(0.01));
}

TEST_CASE("torus is quicker than hierarchical: nothing passes the host's memory") {
  CHECK(reduced(HorovodLevels::torus, {64 << 20}).ended_s <
        reduced(HorovodLevels::hierarchical, {64 << 20}).ended_s);
}

}  // namespace horovod_reduction_test
