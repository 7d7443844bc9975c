// The verdict on memory, and the advice that goes with it.
#include "sim/analysis/step/memory_verdict.hpp"

#include "sim/base/quantity.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace memory_verdict_test {

using namespace foretrain;

namespace {

PredictionPoint point_of(const Scenario& scenario, std::int64_t batch) {
  PredictionPoint point;
  point.batch_per_gpu = batch;
  add_memory(point, scenario, {});
  return point;
}

Scenario with_memory(std::int64_t bytes) {
  Scenario scenario = test::resnet_scenario();
  scenario.cluster.node.gpu.memory = {bytes};
  scenario.cluster.node.gpu.usable_memory = {};
  return scenario;
}

}  // namespace

TEST_CASE("a batch that fits says how large it could be") {
  const PredictionPoint point = point_of(with_memory(16'000'000'000), 32);
  CHECK(point.fits());
  CHECK(point.largest_batch > 200);
  CHECK(point_of(with_memory(16'000'000'000), point.largest_batch).fits());
  const PredictionPoint more = point_of(with_memory(16'000'000'000), point.largest_batch + 1);
  CHECK(more.fits_tightly());  // the convolutions have to do with less scratch
  CHECK(memory_verdict(more) == "fits tightly");
  CHECK(more.memory.total() == more.memory_capacity);  // they take what is left
  CHECK_THAT(tightness_warning(more),
             ContainsSubstring("batch " + std::to_string(point.largest_batch) + " leaves enough"));
  CHECK(memory_verdict(point_of(with_memory(16'000'000'000), 2 * point.largest_batch)) == "does not fit");
}

TEST_CASE("memory above the GPU's does not fit, and the warning has the number of the table") {
  const Scenario scenario = with_memory(16'000'000'000);
  const std::int64_t most = point_of(scenario, 1).largest_batch;
  for (const std::int64_t batch : {most, most + 1, most + 5, most + most / 8, 2 * most, 10 * most}) {
    const PredictionPoint p = point_of(scenario, batch);
    INFO("batch " << batch);
    CHECK(p.fits() == (p.memory.total() <= p.memory_capacity));
    const std::string warning = p.fits() ? tightness_warning(p) : memory_warnings({{0, p, "no"}}).front();
    CHECK_THAT(warning, ContainsSubstring(to_string(p.memory.total())));
  }
}

TEST_CASE("the largest batch is the same whatever batch is asked about, and no more than may be asked for") {
  for (const std::int64_t batch : {1, 50, 5000})
    CHECK(point_of(with_memory(16'000'000'000), batch).largest_batch ==
          point_of(with_memory(16'000'000'000), 7).largest_batch);
  Scenario tiny = test::mnist_scenario();
  tiny.cluster.node.gpu.memory = {std::int64_t{1} << 50}, tiny.cluster.node.gpu.usable_memory = {};
  CHECK(point_of(tiny, 1).largest_batch == 1'000'000);
}

TEST_CASE("what the driver leaves counts, not the data sheet") {
  Scenario scenario = with_memory(16'000'000'000);
  scenario.cluster.node.gpu.usable_memory = {8'000'000'000};
  CHECK(point_of(scenario, 32).memory_capacity.count == 8'000'000'000);
}

TEST_CASE("a batch that does not fit is told which one does, and that 16 bit would") {
  const Scenario scenario = with_memory(16'000'000'000);
  const std::int64_t most = point_of(scenario, 1).largest_batch;
  const PredictionPoint point = point_of(scenario, most + most * 2 / 5);
  REQUIRE_FALSE(point.fits());
  const std::string warning = memory_warnings({{0, point, memory_advice(point, scenario, {})}}).front();
  CHECK_THAT(warning, ContainsSubstring("1 GPU: about "));
  CHECK_THAT(warning, ContainsSubstring("it has 16 GB: a batch of " + std::to_string(most) +
                                        " per GPU fits, with strategy.accumulation = 2"));
  CHECK_THAT(warning, ContainsSubstring("; model.precision = \"amp_fp16\" fits"));
}

TEST_CASE("a network whose weights do not fit is told so") {
  const Scenario scenario = with_memory(700'000'000);
  const PredictionPoint point = point_of(scenario, 1);
  REQUIRE_FALSE(point.fits());
  CHECK(point.largest_batch == 0);
  CHECK(memory_advice(point, scenario, {}) == "not even one sample fits");
}

TEST_CASE("numbers of GPUs with the same advice share a warning, with the range of what is needed") {
  const auto shortage = [](std::size_t place, int gpus, std::int64_t bytes, const char* advice) {
    MemoryShortage out;
    out.place = place;
    out.point.gpus = gpus, out.point.memory.parameters = {bytes};
    out.point.memory_capacity = {1'000'000'000}, out.advice = advice;
    return out;
  };
  CHECK(memory_warnings({}).empty());
  CHECK(memory_warnings({shortage(0, 1, 5'000'000'000, "no"), shortage(1, 2, 4'000'000'000, "no"),
                         shortage(2, 4, 2'000'000'000, "less")}) ==
        std::vector<std::string>{"1 to 2 GPUs: about 4 GB to 5 GB are needed per GPU, it has 1 GB: no",
                                 "4 GPUs: about 2 GB are needed per GPU, it has 1 GB: less"});
  // Two GPUs fit in between.
  CHECK(memory_warnings({shortage(0, 1, 5'000'000'000, "no"), shortage(2, 4, 4'000'000'000, "no")}) ==
        std::vector<std::string>{"1 GPU: about 5 GB are needed per GPU, it has 1 GB: no",
                                 "4 GPUs: about 4 GB are needed per GPU, it has 1 GB: no"});
}

TEST_CASE("parts are named, those that are not there are left out") {
  MemoryUse use;
  use.parameters = {100'000'000}, use.activations = {2'000'000'000};
  CHECK(memory_parts(use) == "weights 100 MB, activations 2 GB");
}

}  // namespace memory_verdict_test
