// Tests of the time budget: shares, the second pass, what is kept, skipped and wrong.
#include <map>

#include "calibrate/micro/plan/run.hpp"
#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace bench_run_test {

using namespace foretrain;
using namespace foretrain::micro;

namespace {

/// Points that each take `seconds` of a clock that only they move.
struct FakeBench {
  double now = 0;
  std::map<std::string, int> measured;

  FamilyRun run_of(const char* family, int points, double seconds) {
    FamilyRun run{find_family(family), {}, nullptr};
    for (int i = 0; i < points; ++i) {
      Point point;
      point.sample.kind = run.family->kind;
      point.sample.what = family;
      point.sample.bytes = i + 1;
      run.points.push_back(point);
    }
    run.measure = [this, seconds](const Point& point, const RepeatRule&) {
      now += seconds;
      ++measured[point.sample.what];
      return Measured{{1e-6, 0.01, 9}, {{"clock_mhz", "1410"}}};
    };
    return run;
  }
  TimeBudget budget(double seconds) {
    return TimeBudget(seconds, [this] { return now; });
  }
};

}  // namespace

TEST_CASE("a family that ends early leaves its time to the others") {
  FakeBench bench;
  std::vector<Sample> samples;
  // Equal weights: each gets 50 s. cpu needs 10, so host's 90 points of 1 s all fit.
  const RunReport report = measure_families({bench.run_of("cpu", 10, 1), bench.run_of("host", 90, 1)},
                                            samples, bench.budget(100), {});
  CHECK(report.measured == 100);
  CHECK(report.out_of_time == 0);
  CHECK(samples.size() == 100);
}

TEST_CASE("time that later families leave goes back to the first ones") {
  FakeBench bench;
  std::vector<Sample> samples;
  const RunReport report = measure_families({bench.run_of("host", 90, 1), bench.run_of("cpu", 10, 1)},
                                            samples, bench.budget(100), {});
  CHECK(report.measured == 100);
}

TEST_CASE("too many points are cut by weight, the first ones first") {
  FakeBench bench;
  std::vector<Sample> samples;
  // gemm has weight 3, memory 1.
  const RunReport report = measure_families({bench.run_of("gemm", 1000, 1), bench.run_of("memory", 1000, 1)},
                                            samples, bench.budget(40), {});
  CHECK(bench.measured["gemm"] == 30);
  CHECK(bench.measured["memory"] == 10);
  CHECK(report.out_of_time == 2000 - 40);
  CHECK(samples.front().bytes == 1);
  CHECK(samples[29].bytes == 30);
}

TEST_CASE("a sample says what was measured, in its unit, with what was observed") {
  FakeBench bench;
  std::vector<Sample> samples;
  measure_families({bench.run_of("copy", 1, 1)}, samples, bench.budget(10), {});
  CHECK(samples[0].value == Approx(1));
  CHECK(samples[0].unit == SampleUnit::us);
  CHECK(samples[0].spread == 0.01);
  CHECK(samples[0].repeats == 9);
  CHECK(setting_of(samples[0], "clock_mhz") == "1410");
}

TEST_CASE("rates are the amount by the median") {
  Point point;
  point.amount = 6e9;
  const Measured measured{{2, 0, 1}, {}};
  point.sample.unit = SampleUnit::gigabytes_per_s;
  CHECK(sample_of(point, measured).value == 3);
  point.sample.unit = SampleUnit::per_s;
  CHECK(sample_of(point, measured).value == 3e9);
  point.sample.unit = SampleUnit::teraflops;
  CHECK(sample_of(point, measured).value == 0.003);
  point.sample.unit = SampleUnit::share;
  CHECK(sample_of(point, measured).value == 2);
}

TEST_CASE("skipped and wrong points give no sample, and the run goes on") {
  FakeBench bench;
  FamilyRun run = bench.run_of("gemm", 3, 1);
  run.measure = [](const Point& point, const RepeatRule&) -> Measured {
    if (point.sample.bytes == 1) throw PointSkipped("not here");
    if (point.sample.bytes == 2) throw WrongResult("element 0 is 1, expected 2");
    return {{1, 0, 1}, {}};
  };
  std::vector<Sample> samples;
  int saves = 0;
  RunHooks hooks;
  hooks.save = [&] { ++saves; };
  const RunReport report = measure_families({run}, samples, bench.budget(10), hooks);
  CHECK(samples.size() == 1);
  CHECK(report.skipped.at(0).why == "not here");
  CHECK(report.wrong.at(0).why == "element 0 is 1, expected 2");
  CHECK(saves == 1);
}

TEST_CASE("an error of a call costs its point, three in a row the family, a lost GPU the run") {
  FakeBench bench;
  FamilyRun broken = bench.run_of("gemm", 9, 1);
  broken.measure = [&](const Point& point, const RepeatRule&) -> Measured {
    ++bench.measured["tried"];
    if (point.sample.bytes != 2) throw EnvironmentError("gemm failed");
    return {{1, 0, 1}, {}};
  };
  std::vector<Sample> samples;
  RunHooks hooks;
  hooks.still_works = [] { return true; };
  const RunReport report =
      measure_families({broken, bench.run_of("memory", 4, 1)}, samples, bench.budget(100), hooks);
  CHECK(bench.measured["tried"] == 5);
  CHECK(samples.size() == 5);
  REQUIRE(report.failed.size() == 1);
  CHECK(report.failed[0].point == "gemm");
  CHECK(report.failed[0].why == "gemm failed");

  int saves = 0;
  hooks.save = [&] { ++saves; };
  hooks.still_works = [] { return false; };
  CHECK_THROWS_AS(measure_families({broken}, samples, bench.budget(100), hooks), EnvironmentError);
  CHECK(saves == 1);
}

TEST_CASE("samples are saved about every second, not only when a family ends") {
  FakeBench bench;
  std::vector<Sample> samples;
  std::vector<std::size_t> saved;
  RunHooks hooks;
  hooks.save = [&] { saved.push_back(samples.size()); };
  measure_families({bench.run_of("gemm", 8, 0.25)}, samples, bench.budget(100), hooks);
  CHECK(saved == std::vector<std::size_t>{4, 8, 8});
}

TEST_CASE("known points are dropped whatever clock they were measured at, of wanted ones only those stay") {
  FakeBench bench;
  std::vector<Point> points = bench.run_of("gemm", 3, 1).points;
  Sample known = points[1].sample;
  known.value = 5;
  known.settings = {{"temperature_c", "61"}, {"clock_mhz", "1380"}};
  drop_known(points, {known});
  CHECK(points.size() == 2);
  known.bytes = 3;
  keep_wanted(points, {known});
  REQUIRE(points.size() == 1);
  CHECK(points[0].sample.bytes == 3);
}

TEST_CASE("the order of settings does not make another point") {
  Sample a, b;
  a.settings = {{"m", "1"}, {"n", "2"}};
  b.settings = {{"n", "2"}, {"m", "1"}};
  CHECK(key_of(a) == key_of(b));
  b.settings[0].second = "3";
  CHECK(key_of(a) != key_of(b));
}

TEST_CASE("budgets are times") {
  CHECK(parse_budget("90s") == 90);
  CHECK(parse_budget("2m") == 120);
  CHECK(parse_budget("0.5h") == 1800);
  for (const char* wrong : {"", "m", "2", "-2m", "0s", "nanm", "infh", "1e9h", "2 m", "2min"})
    CHECK_FALSE(parse_budget(wrong));
}

}  // namespace bench_run_test
