// Cases that share a machine, whatever each of them needs of it.
#include "sim/analysis/sweep/case_predictor.hpp"

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

}  // namespace case_predictor_test
