// The search finds what enumeration finds, with less; the limits that it trusts hold.
#include "sim/analysis/sweep/tune.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/step/lower_limit.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/scenario/sweep/tuned_axes.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace tune_test {

using namespace foretrain;

namespace {

/// A space over MNIST on a few GPUs of Mahti.
struct Space {
  explicit Space(const std::string& axes)
      : source{"--axis", "[axes]\n" + axes},
        scenario(swept_scenario({"s.toml",
                                 "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"mahti\"\n"
                                 "[data]\nname = \"mnist\"\ndecode = \"0.4 ms\"\n"})),
        sweep(read_or_throw(source, read_sweep)),
        cases(sweep, "ddp", source),
        predictor(scenario) {}

  TuneResult search(const std::string& goal = "total_s") {
    TuneQuestion question;
    question.goal = *find_row(kTuneGoals, goal);
    return tune(predictor, cases, question);
  }

  /// The best total time of all cases.
  double enumerated() {
    double best = 1e300;
    for (std::int64_t number = 0; number < cases.numbers(); ++number) {
      const std::vector<Value> values = cases.values(number);
      if (!cases.is_case(number, values)) continue;
      const int gpus = static_cast<int>(std::get<std::int64_t>(values.back().data));
      const CaseResult result = predictor.predict(cases.settings(values), {gpus}).front();
      if (result.why_not.empty() && result.point.fits()) best = std::min(best, result.point.total_s);
    }
    return best;
  }

  SourceText source;
  SweptScenario scenario;
  Sweep sweep;
  SweepCases cases;
  CasePredictor predictor;
};

constexpr const char* kSmallSpace =
    "strategy = [\"ddp\", \"horovod\", \"zero1\"]\n\"strategy.bucket_cap\" = [\"1 MiB\", \"25 MiB\"]\n"
    "batch = [32, 64, 256]\nworkers = [1, 4]\ngpus = [1, 2, 4]\n";

}  // namespace

TEST_CASE("a search finds what enumeration finds, and predicts only a part of the cases") {
  Space space(kSmallSpace);
  const TuneResult found = space.search();
  REQUIRE(found.found());
  CHECK(found.tried[found.best].figure == space.enumerated());
  CHECK(found.cases.cases == 72);
  CHECK(found.tried.size() < 50);
  CHECK(found.share_known > 0.5);
}

TEST_CASE("the same seed searches the same cases") {
  const TuneResult once = Space(kSmallSpace).search("gpu_hours"),
                   again = Space(kSmallSpace).search("gpu_hours");
  REQUIRE(once.tried.size() == again.tried.size());
  for (std::size_t i = 0; i < once.tried.size(); ++i) CHECK(once.tried[i].number == again.tried[i].number);
}

TEST_CASE("beside the best stands every other value of every axis, with what is known of it") {
  Space space("batch = [64, 1000000000]\nworkers = [1, 4]\ngpus = [2]\n");
  const TuneResult found = space.search();
  REQUIRE(found.axes.size() == 2);
  CHECK(found.axes[0].name == "batch");
  REQUIRE(found.axes[0].others.size() == 1);
  CHECK(found.axes[0].others[0].known == ComparisonCertainty::cannot_run);
  CHECK_FALSE(found.axes[0].others[0].why_not.empty());
  CHECK(found.share_known == 1);
}

TEST_CASE("where no case runs nothing is best") {
  Space space(
      "batch = [64]\ngpus = [7]\n\"launch.with\" = [\"python\"]\nstrategy = [\"ddp\"]\n"
      "\"strategy.accumulation\" = [0]\n");
  const TuneResult found = space.search();
  CHECK_FALSE(found.found());
  CHECK_FALSE(found.why_none.empty());
}

TEST_CASE("a space of one value is that case") {
  Space space("gpus = [2]\n");
  const TuneResult found = space.search();
  REQUIRE(found.found());
  CHECK(found.tried.size() == 1);
  CHECK(found.axes.empty());
  CHECK(found.share_known == 1);
}

TEST_CASE("no strategy's step is shorter than its limit") {
  for (const StrategyEntry& strategy : strategy_catalog()) {
    Scenario scenario = test::resnet_scenario({1, 2, 4});
    scenario.strategy = strategy.name;
    if (strategy.framework) scenario.workload.framework.kind = *strategy.framework;
    for (const int gpus : {1, 2, 4}) {
      if (strategy.one_gpu && gpus > 1) continue;
      PointPredictor points(scenario, 4);
      INFO(strategy.name << " on " << gpus);
      const StepLimit limit = step_limit(points.simulator(), gpus, points.device());
      CHECK(limit.kernels_s > 0);
      CHECK(limit.step_s() <= points.step(gpus).step_s);
    }
  }
}

TEST_CASE("a step that waits for its loader is hardly longer than the limit of the loader") {
  Scenario scenario = test::mnist_scenario();
  scenario.workload.data.loader = LoaderKind::torch;
  scenario.workload.data.decode = seconds(0.01);
  for (const int workers : {0, 1, 4}) {
    scenario.workload.data.workers_per_gpu = workers;
    PointPredictor points(scenario, 4);
    const double limit = step_limit(points.simulator(), 2, points.device()).input_s;
    CHECK(limit <= points.step(2).step_s);
    CHECK(points.step(2).step_s < 1.2 * limit);
  }
}

TEST_CASE("names without values get usual ones, and names that are none are refused, all at once") {
  const Scenario own = test::mnist_scenario({1, 2, 4, 8});
  const std::string text =
      tuned_sweep({"strategy", "bucket_cap", "batch", "workers", "gpus", "precision"}, {}, {}, own).text;
  CHECK_THAT(text, ContainsSubstring("\"batch\" = [4, 8, 16, 32, 64, 128, 256]"));
  CHECK_THAT(text, ContainsSubstring("\"gpus\" = [1, 2, 4, 8]"));
  CHECK_THAT(text, ContainsSubstring("\"ddp\", \"horovod\""));
  CHECK_THAT(text, !ContainsSubstring("mirrored"));
  try {
    tuned_sweep({"bucket_capp", "loss_item_every"}, {"batch = [1]\n[sample]"}, {}, own);
    FAIL("not refused");
  } catch (const InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("bucket_capp") && ContainsSubstring("no usual values") &&
                                 ContainsSubstring("several lines"));
  }
}

TEST_CASE("an axis that is written out wins over the usual values of its name") {
  const std::string text =
      tuned_sweep({"batch", "workers"}, {"batch = [5, 7]"}, {"batch > 5"}, test::mnist_scenario()).text;
  CHECK_THAT(text, ContainsSubstring("batch = [5, 7]") && !ContainsSubstring("32") &&
                       ContainsSubstring("where = ["));
}

}  // namespace tune_test
