// Comparisons with [parallel]: what is compared, ties, and verdicts that agree with their table.
#include <algorithm>

#include "sim/analysis/search/compare.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace compared_layouts_test {

using namespace foretrain;

namespace {

Comparison compared(const std::string& parallel, const std::vector<std::string>& strategies,
                    const std::string& study = "", std::vector<int> gpus = {8}) {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.gpus = std::move(gpus);
  const std::string text =
      "[model]\nname = \"llama3_2_1b\"\nprecision = \"bf16\"\n[cluster]\nname = \"hgx-h100-400g\"\n"
      "[parallel]\nsequence = 4096\nglobal_batch = 32\n" +
      parallel + study;
  return compare(read_compared({"s.toml", text}, overrides, strategies));
}

const ComparedStrategy& row_of(const ComparedGpus& numbers, const std::string& name) {
  const auto found = std::ranges::find(numbers.strategies, name, &ComparedStrategy::strategy);
  REQUIRE(found != numbers.strategies.end());
  return *found;
}

/// The fastest that fits is as fast as any other that does, and whoever is called slower is.
void check_order(const ComparedGpus& numbers) {
  const ComparedStrategy* best = numbers.best();
  REQUIRE(best != nullptr);
  for (const ComparedStrategy& row : numbers.strategies) {
    INFO(row.strategy);
    if (!row.why_not.empty() || !row.point.fits()) continue;
    CHECK(row.point.step_s >= best->point.step_s * (1 - 1e-9));
    if (row.standing == Standing::as_fast) CHECK(row.ratio >= 0.98);
    if (row.standing == Standing::slower) CHECK(row.ratio_range.high < 1);
    if (row.standing == Standing::not_told_apart) CHECK(row.ratio_range.high >= 1);
  }
}

}  // namespace

TEST_CASE("under the same degrees the rows are what data-parallel ranks share out") {
  const Comparison c = compared("tensor = 2\n", {});
  CHECK(c.strategies ==
        std::vector<std::string>{"shard none", "shard optimizer", "shard gradients", "shard parameters"});
  CHECK(c.own_strategy == "shard optimizer");
  const ComparedGpus& numbers = c.numbers.front();
  check_order(numbers);
  CHECK(row_of(numbers, "shard parameters").point.memory.total() <
        row_of(numbers, "shard none").point.memory.total());
  CHECK_THAT(comparison_verdict(numbers, c.own_strategy), ContainsSubstring("shard"));
}

TEST_CASE("strategies of small models name their like, and others are refused") {
  const Comparison c = compared("tensor = 2\n", {"fsdp", "zero1"});
  CHECK(c.strategies == std::vector<std::string>{"shard optimizer", "shard parameters"});
  CHECK_THROWS_WITH(compared("", {"horovod"}), ContainsSubstring("horovod has no place beside [parallel]"));
}

TEST_CASE("combinations of a study are compared as layouts, and one that divides nothing has its reason") {
  const Comparison c =
      compared("", {}, "[study]\n\"parallel.tensor\" = [1, 2, 8]\n\"parallel.pipeline\" = [1, 2]\n");
  const ComparedGpus& numbers = c.numbers.front();
  CHECK(numbers.strategies.size() == 6);
  CHECK(c.own_strategy == "tensor 1, pipeline 1");
  check_order(numbers);
  CHECK(row_of(numbers, "tensor 2, pipeline 2").why_not.empty());
  CHECK_THAT(row_of(numbers, "tensor 8, pipeline 2").why_not, ContainsSubstring("16 GPUs"));
}

TEST_CASE("layouts that take the same are ties, the scenario's own first") {
  const Comparison c = compared("imbalance = 1.0\n", {}, "[study]\n\"parallel.imbalance\" = [1.0, 1.3]\n");
  const ComparedGpus& numbers = c.numbers.front();  // without experts the router does nothing
  CHECK(numbers.strategies[0].standing == Standing::as_fast);
  CHECK(numbers.strategies[1].standing == Standing::as_fast);
  CHECK(numbers.strategies[1].ratio == Approx(1));
}

}  // namespace compared_layouts_test
