// Published steps with offload: DeepSpeed's issues 3901, 6695 and 6834 and its pull request 7474. Shares of
// the host's memory bandwidth were fixed with these four reports (docs/models/memory.md); everything else
// was not.
#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"

namespace offload_measured {

using namespace foretrain;

namespace {

using Keys = std::vector<std::string>;

Prediction predicted(const std::string& model, const std::string& strategy, int gpus, Keys more,
                     const std::string& cluster = "dgx-a100") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = cluster, overrides.strategy = strategy;
  overrides.gpus = {gpus}, overrides.batch = 1;
  overrides.settings = {"model.precision=\"bf16\"", "model.half_weights=true", "model.optimizer=\"adamw\"",
                        "model.recompute=true"};
  overrides.settings.insert(overrides.settings.end(), more.begin(), more.end());
  return predict(make_scenario(overrides));
}

double step_of(const Prediction& prediction) { return prediction.points.front().step_s; }

const std::string kOptimizer = "strategy.offload_optimizer=\"cpu\"",
                  kParam = "strategy.offload_param=\"cpu\"", kLong = "model.sequence_length=4096";

}  // namespace

TEST_CASE("3901: parameters, then the optimizer as well, make ZeRO-3 two and five times as long") {
  const double plain = step_of(predicted("falcon_7b", "zero3", 8, {kLong}));
  const double param = step_of(predicted("falcon_7b", "zero3", 8, {kLong, kParam}));
  const double both = step_of(predicted("falcon_7b", "zero3", 8, {kLong, kParam, kOptimizer}));
  const double two = step_of(predicted("falcon_7b", "zero2", 8, {kLong, kOptimizer}));
  // 2.86, 6.05, 13.70 and 9.60 s were measured, with a batch that the report does not tell.
  CHECK(param / plain == Approx(6.05 / 2.86).epsilon(0.3));
  CHECK(both / plain == Approx(13.70 / 2.86).epsilon(0.3));
  CHECK(two / plain == Approx(9.60 / 2.86).epsilon(0.35));  // a third too long
}

TEST_CASE("7474: both steps of Qwen2.5-3B lie in the interval, and bound cores are faster") {
  const Prediction free = predicted("qwen2_5_3b", "zero3", 2, {kOptimizer});
  const Prediction bound =
      predicted("qwen2_5_3b", "zero3", 2, {kOptimizer, "strategy.bind_cores_to_rank=true"});
  CHECK((free.points.front().interval.low_s < 3.084 && 3.084 < free.points.front().interval.high_s));
  CHECK((bound.points.front().interval.low_s < 2.383 && 2.383 < bound.points.front().interval.high_s));
  CHECK(step_of(bound) < step_of(free));
}

TEST_CASE("6834: the update of a 72B network on four nodes takes ten seconds, within a half") {
  const Prediction with = predicted("qwen2_5_72b", "zero3", 32, {kOptimizer, kParam}, "dgx-a100-80gb");
  const double optimizer = with.points.front().breakdown[static_cast<std::size_t>(Account::optimizer)];
  CHECK(optimizer == Approx(10).epsilon(0.5));
  CHECK(with.answer.causes->largest()->what == std::vector{Removable::optimizer});
}

TEST_CASE("3448: LLaMA-33B needs 750 to 800 GB of host memory, within a sixth, and does not fit into 600") {
  const Prediction both = predicted("llama_33b", "zero3", 8, {kOptimizer, kParam});
  const PredictionPoint& p = both.points.front();
  CHECK(static_cast<double>(p.host_memory.total().count) == Approx(775e9).epsilon(0.17));
  PredictionPoint smaller = p;
  smaller.host_capacity = {600'000'000'000};
  CHECK_FALSE(smaller.fits());
}

}  // namespace offload_measured
