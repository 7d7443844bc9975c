// The two models of a step behind one table: which answers, and that callers hear the same kind of answer
// from both.
#include "sim/analysis/step/step_model.hpp"

#include <set>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/epoch.hpp"
#include "sim/analysis/step/lower_limit.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/scenario/job.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace step_model_test {

using namespace foretrain;

namespace {

/// 1,000 samples, which no global batch below divides.
SourceText text_of(const std::string& more) {
  return {"s.toml",
          "[model]\nname = \"llama3_2_1b\"\nprecision = \"bf16\"\n[cluster]\nname = \"hgx-h100-400g\"\n"
          "[data]\nsamples = 1000\n[run]\ngpus = [8]\n" +
              more};
}

Scenario read(const std::string& more) {
  test::use_source_catalogs();
  return read_scenario(text_of(more), {});
}

const Scenario& replicated() {
  static const Scenario kScenario = read("[strategy]\nname = \"ddp\"\n");
  return kScenario;
}

const Scenario& cut() {
  static const Scenario kScenario =
      read("[parallel]\nsequence = 4096\ntensor = 2\npipeline = 2\nglobal_batch = 64\n");
  return kScenario;
}

}  // namespace

TEST_CASE("a scenario without a layout is answered by replicated ranks, one with it by the cut network") {
  CHECK(step_model_of(replicated()).name == "replicated");
  CHECK(step_model_of(cut()).name == "cut");
  CHECK(StepSimulator(cut(), 8).model().name == "cut");
}

TEST_CASE("every model of a step answers every question") {
  std::set<std::string_view> names;
  for (const StepModel& m : step_models()) {
    INFO(m.name);
    CHECK(names.insert(m.name).second);
    CHECK((m.simulate && m.evaluate && m.record && m.batch_per_gpu && m.lower_limit));
    CHECK((m.add_memory && m.memory_advice && m.why_not && m.may_be_answer && m.label && m.framework));
    CHECK((m.read_compared && m.weighed_beside && m.recommend));
    CHECK_FALSE(m.baseline.empty());
  }
  CHECK(names.size() == 4);
}

TEST_CASE("both models fill a step, its memory and its limit from below") {
  for (const Scenario* scenario : {&replicated(), &cut()}) {
    INFO(step_model_of(*scenario).name);
    const StepSimulator simulator(*scenario, 8);
    const DeviceModel device = default_device_model(*scenario);
    const SimulatedStep step = simulator.simulate(8, device);
    CHECK(step.step_s > 0);
    CHECK_FALSE(step.parts.empty());
    CHECK(simulator.simulate_evaluation(8, simulator.batch_per_gpu(8), device) < step.step_s);
    CHECK(step_limit(simulator, 8, device).step_s() <= step.step_s);
    PredictionPoint point;
    point.gpus = 8, point.batch_per_gpu = simulator.batch_per_gpu(8);
    add_memory(point, *scenario, step.memory);
    CHECK(point.memory.total().count > 0);
    CHECK(point.memory_capacity.count > 0);
  }
}

TEST_CASE("a cut network is recorded by stages, replicated ranks rank by rank") {
  const StepRecording ranks = recording_of(replicated(), {}), stages = recording_of(cut(), {});
  CHECK(ranks.ranks.size() == 1);
  CHECK_FALSE(ranks.stages);
  CHECK(stages.ranks.empty());
  REQUIRE(stages.stages);
  CHECK(stages.stages->ends.size() == 2);
}

TEST_CASE("whoever needs the steps of a single rank is told that a cut network has none") {
  CHECK(record_steps(replicated(), {}).size() == 1);
  CHECK_THROWS_WITH(record_steps(cut(), {}),
                    ContainsSubstring("the stages of [parallel] are recorded, not single ranks"));
}

TEST_CASE("only replicated ranks have a smaller last step") {
  CHECK(epoch_shape(replicated(), 8).partial_batch > 0);
  CHECK(epoch_shape(cut(), 8).partial_batch == 0);
  CHECK(epoch_shape(cut(), 8).steps == 16);  // 1000 / 64, rounded up
}

TEST_CASE("fewer GPUs than a layout needs have their share of the step, and do not run it") {
  CHECK(fewest_gpus_of(replicated()) == 1);
  CHECK(fewest_gpus_of(cut()) == 4);
  const DeviceModel device = default_device_model(cut());
  const StepSimulator simulator(cut(), 8);
  CHECK(simulator.step_s(1, device) == Approx(4 * simulator.step_s(4, device)));
  CHECK(step_model_of(cut()).why_not(cut(), 1) == "needs 4 GPUs");
  CHECK(step_model_of(cut()).why_not(cut(), 8).empty());
  CHECK_FALSE(step_model_of(cut()).why_not(cut(), 6).empty());
  CHECK_FALSE(step_model_of(cut()).may_be_answer(cut(), 6));
  CHECK(step_model_of(replicated()).may_be_answer(replicated(), 6));
}

TEST_CASE("a recommendation weighs strategies of replicated ranks, and layouts of a cut network") {
  test::use_source_catalogs();
  CHECK_FALSE(read_recommended(text_of("[strategy]\nname = \"ddp\"\n"), {}).strategies.empty());
  const ComparedScenarios scenarios =
      read_recommended(text_of("[parallel]\nsequence = 4096\nglobal_batch = 64\n"), {});
  CHECK(scenarios.strategies.empty());
  RecommendationRequest request;
  request.only_gpus = {8};
  const Recommendation found = recommend(scenarios, request);
  REQUIRE(found.best);
  CHECK(found.best->layout);
}

}  // namespace step_model_test
