// How large a batch is and how fast the loader's workers bring one.
#include "sim/strategy/training_step.hpp"

#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

using namespace foretrain;

namespace {

Workload mnist() { return test::SmallPlan(test::mnist_net(), 10).workload; }

NodeSpec node() { return test::pcie_cluster(1, 4).node; }  // 40 cores, 4 GPUs, memcpy at 10 GB/s

}  // namespace

TEST_CASE("a sample is the network's input in floats and an eight-byte label, unless the data set says otherwise") {
  Workload workload = mnist();
  CHECK(batch_bytes(workload).count == 10 * (784 * 4 + 8));
  workload.data.sample_bytes = {1000};
  CHECK(batch_bytes(workload).count == 10'000);
}

TEST_CASE("workers divide a batch's time") {
  Workload workload = mnist();
  workload.data.decode = milliseconds(2);
  workload.data.workers_per_gpu = 5;
  const LoaderPace pace = loader_pace(workload, node());
  const double one = 10 * 2e-3 + 31'440 / 10e9;  // decoding, then collating at the host's memcpy
  CHECK(to_seconds(pace.one_batch) == Approx(one));
  CHECK(to_seconds(pace.interval) == Approx(one / 5));
  CHECK(pace.workers_at_once == 5);
}

TEST_CASE("by default a rank has its share of the node's cores, at least one") {
  Workload workload = mnist();
  workload.data.workers_per_gpu = 64;
  NodeSpec few = node();
  CHECK(loader_pace(workload, few).workers_at_once == 10);  // 40 cores / 4 GPUs
  few.host.cores = 3;
  CHECK(loader_pace(workload, few).workers_at_once == 1);
  workload.data.cores_per_gpu = 7;
  CHECK(loader_pace(workload, few).workers_at_once == 7);
}

TEST_CASE("decoding takes longer on a slower host") {
  Workload workload = mnist();
  workload.data.decode = milliseconds(2);
  NodeSpec slow = node();
  slow.host.slowdown = 3;
  CHECK(to_seconds(loader_pace(workload, slow).one_batch) == Approx(3 * 0.02 + 31'440 / 10e9));
}

TEST_CASE("strategies are found by name and nothing else") {
  REQUIRE(find_strategy("ddp") != nullptr);
  CHECK(find_strategy("ddp")->name == "ddp");
  CHECK(find_strategy("DDP") == nullptr);
  CHECK(find_strategy("") == nullptr);
  CHECK(strategy_names().size() == strategy_catalog().size());
}

TEST_CASE("a node without GPUs divides by nothing") {
  NodeSpec bare = node();
  bare.gpus = 0;
  CHECK(loader_pace(mnist(), bare).workers_at_once == 4);
}
