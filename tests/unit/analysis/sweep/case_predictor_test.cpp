// Cases that share a machine, whatever each of them needs of it.
#include "sim/analysis/sweep/case_predictor.hpp"

#include "sim/analysis/evidence/applied.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace case_predictor_test {

using namespace foretrain;

TEST_CASE("a layout that needs more GPUs than are asked for gets its own graph") {
  test::use_source_catalogs();
  const SourceText text{"s.toml",
                        "[model]\nname = \"gpt2\"\n[cluster]\nname = \"mahti\"\n[parallel]\ntensor = 2\n"
                        "pipeline = 4\nglobal_batch = 64\n"};
  const SweptScenario swept = swept_scenario(text);
  CasePredictor predictor(swept);
  const SourceSpan nowhere;
  const auto with_stages = [&](std::int64_t stages) {
    return std::vector<StudySetting>{{"parallel.pipeline", {stages, nowhere}, nowhere}};
  };
  // The second case finds the graph of the first, which has one node.
  CHECK(predictor.predict(with_stages(2), {4}).front().why_not.empty());
  CHECK(predictor.predict(with_stages(6), {12}).front().why_not.empty());
}

TEST_CASE("runs of the scenario in evidence scale the model for all cases, as its own measured step does") {
  test::use_source_catalogs();
  const SourceText text{"s.toml", "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n"};
  const SweptScenario plain = swept_scenario(text);
  const double simulated = CasePredictor(plain).predict({}, {1}).front().point.step_s;
  Observation row = step_question(plain.own, plain.own.workload.batch_per_gpu);
  row.source = "lab", row.run = "a", row.predicted = simulated, row.measured = 1.1 * simulated;
  const ResidualField field(std::vector<Observation>{row});
  const SweptScenario swept = swept_scenario(text, {&field, "own"});
  CHECK(CasePredictor(swept).predict({}, {1}).front().point.step_s == Approx(1.1 * simulated).epsilon(1e-4));
  const SourceSpan nowhere;
  const std::vector<StudySetting> other{{"model.batch_per_gpu", {std::int64_t{48}, nowhere}, nowhere}};
  CHECK(CasePredictor(swept).predict(other, {1}).front().point.step_s >
        CasePredictor(plain).predict(other, {1}).front().point.step_s);
  REQUIRE(swept.measured.size() == 1);
  CHECK(swept.measured.front().source == "lab");
  CHECK(plain.measured.empty());
}

}  // namespace case_predictor_test
