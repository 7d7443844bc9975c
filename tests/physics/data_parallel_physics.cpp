// DataParallel on an idle machine has a closed form: broadcast down, sum up, shares of the batch across,
// nothing of it hidden.
#include "sim/collective/communicator.hpp"
#include "sim/strategy/ddp/coalesced_groups.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace data_parallel_physics {

using namespace foretrain;
using test::SmallPlan;

namespace {

/// One layer of 4000 x 1000 weights and a bias on V100s of one PCIe node, whose host costs next to nothing.
SmallPlan one_layer(int gpus) {
  SmallPlan small({"one_layer", "", {4000}, false, {test::linear(1000), test::plain("loss")}}, 256);
  small.spec = test::pcie_cluster(1, 4);
  small.spec.node.host.slowdown = 1e-3;
  small.gpus = gpus, small.steps = 3;
  small.workload.data.loader = LoaderKind::none;
  return small;
}

double alone(const SmallPlan& small, CollectiveOp op, Bytes size) {
  const Cluster cluster = Cluster::build(small.spec, 1);
  return to_seconds(Communicator(cluster, place_packed(small.gpus, 4)).plan(op, size).alone);
}

}  // namespace

TEST_CASE("what DataParallel exposes is its broadcast, its sum and its copies, one after the other") {
  for (const int gpus : {2, 4}) {
    const SmallPlan small = one_layer(gpus);
    const Bytes weights{
        4 * (4000 * 1000 + 1000)};  // one group of 16 MB down; up: 16 MB of weights, then the bias
    const double collectives = alone(small, CollectiveOp::broadcast, weights) +
                               alone(small, CollectiveOp::reduce, {4 * 4'000'000}) +
                               alone(small, CollectiveOp::reduce, {4 * 1000});
    // Shares of all other GPUs leave or reach GPU 0 over its one link, copies through a CPU at 0.64 of 12.3
    // GB/s. Latencies of 2 us each are within the tolerance.
    const double rate = 0.64 * 12.3e9, others = gpus - 1;
    const double inputs = 256.0 * (4 * 4000 + 8), outputs = 256.0 * 4 * 1000;
    const double copies = others * (inputs + 2 * outputs) / rate;
    const double exposed = test::run_plan(small, "data_parallel").share(Account::exposed_communication);
    INFO(gpus << " GPUs: exposed " << exposed * 1e3 << " ms, collectives " << collectives * 1e3 << ", copies "
              << copies * 1e3);
    CHECK(exposed == Approx(collectives + copies).epsilon(0.01));
  }
}

TEST_CASE("a step of DataParallel is never shorter than its bytes over GPU 0's link") {
  for (const int gpus : {2, 4}) {
    const SmallPlan small = one_layer(gpus);
    const double bytes = 2.0 * 4 * 4'001'000;  // parameters leave GPU 0, sums of gradients reach it
    CHECK(test::run_plan(small, "data_parallel").last_step_s() > bytes / 12.3e9);
  }
}

}  // namespace data_parallel_physics
