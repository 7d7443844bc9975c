// How an epoch is cut into steps.
#include "sim/analysis/step/epoch.hpp"

#include "sim/strategy/process/input_pipeline.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace epoch_test {

using namespace foretrain;

namespace {

DataSet samples(std::int64_t n, bool drop_last = false) {
  DataSet data;
  data.samples = n, data.drop_last = drop_last;
  return data;
}

/// Every rank has a loader of its own.
EpochShape shape_of(const DataSet& data, std::int64_t batch_per_gpu, int accumulation, int gpus) {
  const std::int64_t parts = std::int64_t{gpus} * accumulation;
  return epoch_shape(epoch_steps(data, batch_per_gpu * parts), parts);
}

void check_shape(const EpochShape& shape, std::int64_t steps, std::int64_t partial) {
  CHECK(shape.steps == steps);
  CHECK(shape.partial_batch == partial);
}

}  // namespace

TEST_CASE("samples that divide evenly make full steps only") {
  check_shape(shape_of(samples(60'000), 100, 1, 4), 150, 0);
}

TEST_CASE("the rest of an epoch is a smaller last step") {
  // 1000 samples on 3 GPUs: padded to 334 each, 5 x 64 = 320 and 14 left.
  check_shape(shape_of(samples(1000), 64, 1, 3), 6, 14);
}

TEST_CASE("the sampler pads so that every rank has as many samples") {
  check_shape(shape_of(samples(9), 2, 1, 4), 2, 1);  // ceil(9/4) = 3 = 2 + 1
  check_shape(shape_of(samples(1), 32, 1, 8), 1, 1);
}

TEST_CASE("drop_last cuts instead of padding") {
  check_shape(shape_of(samples(1000, true), 64, 1, 3), 5, 0);  // floor(1000/3) = 333 = 5 x 64 + 13
  check_shape(shape_of(samples(10, true), 32, 1, 1), 0, 0);
}

TEST_CASE("with accumulation a step takes k batches, a partial one is spread over its micro-steps") {
  check_shape(shape_of(samples(1000), 10, 4, 1), 25, 0);
  check_shape(shape_of(samples(1010), 10, 4, 1), 26, 3);  // 10 left over 4 micro-steps: 3 each, rounded up
}

TEST_CASE("without a number of samples an epoch is one step") {
  Scenario scenario = test::mnist_scenario();
  scenario.workload.data.samples = 0;
  check_shape(epoch_shape(scenario, 1), 1, 0);
}

TEST_CASE("an epoch is its full steps, its partial step and the restart of the loader") {
  CHECK(epoch_s({6, 14}, 0.1, 0.04, 0.5) == Approx(0.5 + 5 * 0.1 + 0.04));
  CHECK(epoch_s({6, 0}, 0.1, 0.04, 0.5) == Approx(0.5 + 6 * 0.1));
  CHECK(epoch_s({0, 0}, 0.1, 0.04, 0.5) == Approx(0.5));
}

TEST_CASE("each epoch starts the workers and waits for the first batch") {
  Scenario scenario = test::mnist_scenario();
  Workload& w = scenario.workload;
  w.data.samples = 1000, w.data.workers_per_gpu = 3, w.data.decode = milliseconds(1), w.batch_per_gpu = 10;
  NodeSpec node = scenario.cluster.node;
  node.host.slowdown = 2;
  // 15 ms per worker and 10 x 1 ms of decoding, both twice as slow; what else a batch takes is the input
  // pipeline's.
  const double first_batch = to_seconds(loader_pace(w, node).one_batch);
  CHECK(first_batch > 2 * 10e-3);
  CHECK(first_batch < 2 * 10e-3 + 2e-3);
  CHECK(loader_restart_s(w, node) == Approx(2 * 3 * 15e-3 + first_batch));
  w.data.persistent_workers = true;
  CHECK(loader_restart_s(w, node) == Approx(first_batch));
  w.data.workers_per_gpu = 0;
  CHECK(loader_restart_s(w, node) == 0);
}

}  // namespace epoch_test
