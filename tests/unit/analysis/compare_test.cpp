// Comparisons: the order, the reasons, what is shared and what is left out.
#include "sim/analysis/search/compare.hpp"

#include <numeric>

#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace compare_test {

using namespace foretrain;

namespace {

const std::string kText =
    "[model]\nname = \"mnist_net\"\n[data]\nsamples = 6400\n[cluster]\nname = \"puhti\"\n";

Comparison compared(const std::string& more, const std::vector<std::string>& strategies,
                    std::vector<int> gpus, std::vector<std::string> settings = {}) {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.gpus = std::move(gpus);
  overrides.settings = std::move(settings);
  return compare(read_compared({"s.toml", kText + more}, overrides, strategies));
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("strategies stand best first, and those that cannot run last with their reason") {
  const Comparison c = compared("", {"data_parallel", "ddp"}, {4, 8});
  REQUIRE(c.numbers.size() == 2);
  const ComparedGpus& four = c.numbers[0];
  CHECK(four.nodes == 1);
  REQUIRE(four.best() != nullptr);
  CHECK(four.best()->strategy == "ddp");
  CHECK(four.strategies[1].point.step_s > four.strategies[0].point.step_s);
  const ComparedGpus& eight = c.numbers[1];
  CHECK(eight.nodes == 2);
  CHECK(eight.best()->strategy == "ddp");
  CHECK_THAT(eight.strategies[1].why_not, ContainsSubstring("cannot drive GPUs of 2 nodes"));
}

TEST_CASE("what a strategy spends more than the best sums to the difference of their steps") {
  for (const ComparedGpus& numbers : compared("", strategies_named({"all"}), {1, 4}).numbers) {
    const double best_s = numbers.best()->point.step_s;
    CHECK(numbers.best()->against_best.empty());
    for (const ComparedStrategy& row : numbers.strategies) {
      if (!row.why_not.empty() || &row == numbers.best()) continue;
      INFO(row.strategy << " on " << numbers.gpus);
      const double sum = std::accumulate(row.against_best.begin(), row.against_best.end(), 0.0,
                                         [](double s, const StepPart& p) { return s + p.seconds; });
      CHECK(sum == Approx(row.point.step_s - best_s).margin(1e-12));
      for (std::size_t i = 1; i < row.against_best.size(); ++i)
        CHECK(std::abs(row.against_best[i].seconds) <= std::abs(row.against_best[i - 1].seconds));
    }
  }
}

TEST_CASE("speedups refer to the plain loop on one GPU, whose strategy is shown there only") {
  const Comparison c = compared("", {"single", "ddp"}, {1, 4});
  for (const ComparedStrategy& row : c.numbers[0].strategies)
    CHECK(row.point.speedup == Approx(1));  // on one GPU ddp does not wrap the model
  CHECK(c.numbers[0].strategies[0].point.step_s == Approx(c.one_gpu_step_s));
  const ComparedGpus& four = c.numbers[1];
  CHECK(four.strategies[0].point.speedup == Approx(4 * c.one_gpu_step_s / four.strategies[0].point.step_s));
  CHECK(four.strategies[1].strategy == "single");
  CHECK(four.strategies[1].why_not == "single trains on one GPU");
}

TEST_CASE("a strategy that does not fit into memory stands behind those that do") {
  const Comparison c = compared("", {"ddp", "data_parallel"}, {4}, {"model.batch_per_gpu=4096"});
  for (const ComparedStrategy& row : c.numbers[0].strategies)
    INFO(row.strategy << " " << row.point.memory.total().count);
  CHECK(std::is_sorted(c.numbers[0].strategies.begin(), c.numbers[0].strategies.end(),
                       [](const ComparedStrategy& a, const ComparedStrategy& b) {
                         return a.point.fits() && !b.point.fits();
                       }));
}

TEST_CASE("an anchor is fitted to the scenario's own strategy and serves all") {
  const std::string measured = "[strategy]\nname = \"ddp\"\n[measured]\ngpus = 4\nstep = \"50 ms\"\n";
  const Comparison c = compared(measured, {"horovod", "ddp"}, {4});
  for (const ComparedStrategy& row : c.numbers[0].strategies) {
    if (row.strategy == "ddp") CHECK(row.point.step_s == Approx(0.05).epsilon(1e-4));
    if (row.strategy == "horovod") CHECK(row.point.step_s == Approx(0.05).epsilon(0.2));
  }
  CHECK_THAT(c.decisions.list().front().why, ContainsSubstring("measured with ddp"));
}

TEST_CASE("options of one strategy do not disturb the others") {
  const Comparison plain = compared("", {"horovod"}, {4});
  const Comparison set = compared("[strategy]\nname = \"ddp\"\nbucket_cap = \"1 MiB\"\n", {"horovod"}, {4},
                                  {"strategy.static_graph=true"});
  CHECK(set.numbers[0].strategies[0].point.step_s == plain.numbers[0].strategies[0].point.step_s);
  CHECK(set.warnings.empty());
}

TEST_CASE("that some run in another framework is said once") {
  const Comparison c = compared("", {"ddp", "mirrored"}, {2});
  REQUIRE(c.warnings.size() == 1);
  CHECK(c.warnings[0] == "mirrored runs in tensorflow with its defaults, the others in pytorch");
}

TEST_CASE("without names the usual strategies are compared, and the scenario's own") {
  CHECK(compared("", {}, {2}).strategies == usual_strategies(FrameworkKind::pytorch));
  const Comparison own = compared("[strategy]\nname = \"byteps\"\n", {}, {2});
  CHECK(std::ranges::count(own.strategies, "byteps") == 1);
  CHECK(own.strategies.size() == usual_strategies(FrameworkKind::pytorch).size() + 1);
}

TEST_CASE("what needs more stands behind the others, however fast, with what it needs") {
  const Comparison c = compared("", {"ddp", "data_parallel", "mirrored"}, {2});
  const ComparedStrategy& last = c.numbers[0].strategies.back();
  CHECK(last.strategy == "mirrored");
  CHECK(last.standing == Standing::needs_more);
  CHECK(last.needs == "the training written for TensorFlow");
  // Where nothing else runs, it is compared as it is.
  CHECK(compared("", {"mirrored"}, {2}).numbers[0].best()->strategy == "mirrored");
}

TEST_CASE("when none of the strategies runs on any of the GPUs the comparison says why") {
  CHECK_THAT(message_of([] { compared("", {"data_parallel"}, {8}); }),
             ContainsSubstring("none of the strategies runs on these GPUs"));
}

TEST_CASE(
    "names of strategies: none by default, all on request, in the order of the catalog, aliases too, and "
    "unknown or repeated "
    "ones are mistakes") {
  CHECK(strategies_named({}).empty());
  CHECK(strategies_named({"all"}) == strategy_names());
  CHECK(strategies_named({"horovod", "single"}) == std::vector<std::string>{"single", "horovod"});
  CHECK(strategies_named({"dp"}) == std::vector<std::string>{"data_parallel"});
  CHECK_THAT(message_of([] { strategies_named({"horovodd"}); }),
             ContainsSubstring("did you mean \"horovod\""));
  CHECK_THAT(message_of([] {
               strategies_named({"dp", "data_parallel"});
             }),
             ContainsSubstring("--strategies has data_parallel twice"));
}

TEST_CASE("the usual strategies of a framework need nothing but its own script") {
  const std::vector<std::string> torch = usual_strategies(FrameworkKind::pytorch),
                                 tensorflow = usual_strategies(FrameworkKind::tensorflow);
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has(torch, "ddp"));
  CHECK(has(torch, "single"));
  CHECK_FALSE(has(torch, "mirrored"));
  CHECK(has(tensorflow, "mirrored"));
  CHECK(has(tensorflow, "single"));
  CHECK_FALSE(has(tensorflow, "ddp"));
  CHECK_FALSE(has(torch, "parameter_server"));
  CHECK_FALSE(has(torch, "byteps"));
  CHECK(has(tensorflow, "parameter_server"));
}

}  // namespace compare_test
