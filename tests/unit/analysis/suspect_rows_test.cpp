// What is doubted of measurements: each rule on a few rows that show it, and beside them what is no reason.
#include "sim/analysis/validation/suspect_rows.hpp"

#include "sim/analysis/fit/suspect_samples.hpp"
#include "tests/support/catch.hpp"

namespace suspect_rows_test {

using namespace foretrain;

namespace {

struct Time {
  std::int64_t bytes;
  double measured, predicted;
};

ValidatedCollectiveSeries collective(const char* name, int nodes, const std::vector<Time>& times) {
  ValidatedCollectiveSeries series;
  series.series = name, series.cluster = "c", series.op = "all_reduce", series.gpus = 8, series.nodes = nodes;
  for (const Time& time : times) {
    ValidatedCollective p;
    p.bytes = time.bytes, p.measured = time.measured, p.predicted = time.predicted;
    series.points.push_back(p);
  }
  return series;
}

std::vector<SuspectSeries> doubts(std::vector<ValidatedCollectiveSeries> series) {
  CollectiveValidation validation;
  validation.series = std::move(series);
  return suspect_series(validation);
}

constexpr std::int64_t kMiB = 1 << 20;

/// Large messages that take `times` as long as predicted.
ValidatedCollectiveSeries large(const char* name, int nodes, double times) {
  return collective(
      name, nodes,
      {{64 * kMiB, 100 * times, 100}, {128 * kMiB, 200 * times, 200}, {256 * kMiB, 400 * times, 400}});
}

ValidatedPoint point(int gpus, double efficiency, double predicted, int nodes = 1,
                     const char* cluster = "c") {
  ValidatedPoint p;
  p.gpus = gpus, p.linear = gpus, p.measured = gpus * efficiency, p.predicted = gpus * predicted;
  p.low = 0.9 * p.predicted, p.high = 1.1 * p.predicted;
  p.error = std::abs(p.predicted / p.measured - 1);
  p.row.cluster = cluster, p.row.nodes = nodes;
  return p;
}

std::vector<SuspectSeries> doubts(std::vector<ValidatedSeries> series) {
  Validation validation;
  validation.series = std::move(series);
  return suspect_series(validation);
}

}  // namespace

TEST_CASE("measurements near their prediction are not doubted") {
  CHECK(doubts({large("a", 1, 1.3), large("b", 2, 0.9)}).empty());
  CHECK(doubts({{"s", 0, 0, {point(2, 0.95, 0.97), point(4, 0.7, 0.8)}}}).empty());
  CHECK(doubts(std::vector<ValidatedCollectiveSeries>{}).empty());
}

TEST_CASE("a larger message that takes much less is told with both sizes") {
  const auto found =
      doubts({collective("a", 2, {{2 * kMiB, 1754, 80}, {4 * kMiB, 934, 85}, {8 * kMiB, 981, 99}})});
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].why, ContainsSubstring("1.9 times as long as 4.19 MB"));
  // Where another protocol is expected to be faster, and where it is a matter of microseconds, nothing is
  // odd.
  CHECK(doubts({collective("b", 2, {{1024, 100, 117}, {2048, 57, 67}})}).empty());
  CHECK(doubts({collective("c", 1, {{512, 23, 14}, {1024, 14, 14}})}).empty());
}

TEST_CASE("slow links are told apart: between nodes only, or also within them") {
  const auto network = doubts({large("inside", 1, 1.1), large("between", 2, 20)});
  REQUIRE(network.size() == 1);
  CHECK(network[0].series == "between");
  CHECK_THAT(network[0].why, ContainsSubstring("between nodes large messages take 20.0 times"));
  const auto host = doubts({large("inside", 1, 4.6), large("between", 2, 3)});
  REQUIRE(host.size() == 2);
  CHECK_THAT(host[1].why, ContainsSubstring("as within a node") && ContainsSubstring("IOMMU"));
}

TEST_CASE("links that are faster than described, and small messages that take 200 us, are told") {
  const auto fast = doubts({large("a", 1, 0.5)});
  REQUIRE(fast.size() == 1);
  CHECK_THAT(fast[0].why, ContainsSubstring("move 2.0 times what the described links carry"));
  const auto slow = doubts({collective("b", 2, {{8, 220, 33}, {1024, 221, 34}, {65536, 241, 46}})});
  REQUIRE(slow.size() == 1);
  CHECK_THAT(slow[0].why, ContainsSubstring("8 B take 220 us") && ContainsSubstring("about 33"));
  CHECK(doubts({collective("c", 1, {{8, 20, 5}, {1024, 20, 5}, {65536, 20, 5}})}).empty());  // 15 us
}

TEST_CASE("two runs of one operation on one machine that differ are told of the slower one") {
  const auto found = doubts({large("a", 2, 1.8), large("b", 2, 1)});
  REQUIRE(found.size() == 1);
  CHECK(found[0].series == "a");
  CHECK_THAT(found[0].why, ContainsSubstring("1.8 times as long as b"));
}

TEST_CASE("throughput that falls where the machine gains is a broken run") {
  const auto found = doubts({{"s", 0, 0, {point(8, 0.9, 0.9), point(16, 0.22, 0.85, 2)}}});
  REQUIRE(!found.empty());
  CHECK_THAT(found[0].why, ContainsSubstring("loses 51 % of its throughput from 8 to 16 GPUs"));
}

TEST_CASE("more than perfect scaling, and one slow run among good ones, are told") {
  const auto perfect = doubts({{"s", 0, 0, {point(4, 1.3, 0.95)}}});
  REQUIRE(perfect.size() == 1);
  CHECK_THAT(perfect[0].why, ContainsSubstring("1.30 times as fast as perfect scaling"));
  const ValidatedSeries good{"good", 0, 0, {point(4, 0.9, 0.92)}}, slow{"slow", 0, 0, {point(4, 0.4, 0.9)}};
  const auto unlike = doubts({good, good, slow});
  REQUIRE(unlike.size() == 1);
  CHECK(unlike[0].series == "slow");
  CHECK_THAT(unlike[0].why, ContainsSubstring("2 other series on this cluster are not"));
  const auto alone = doubts({slow});
  REQUIRE(alone.size() == 1);
  CHECK_THAT(alone[0].why, ContainsSubstring("measure the links with nccl-tests"));
}

TEST_CASE("samples of a calibration are doubted against each other and against the fit") {
  CalibrationFit fit;
  const auto add = [&](const char* what, const char* source, double bytes, double measured, double fitted,
                       int collective) {
    fit.residuals.push_back({what, source, 7, bytes, measured, fitted, SampleUnit::us, collective});
  };
  for (const double mebibytes : {1.0, 2.0, 4.0}) {
    add("collective all_reduce, 8 GPUs on 1 node", "a.log", mebibytes * kMiB, 100 * mebibytes,
        150 * mebibytes, 0);
    add("collective all_reduce, 8 GPUs on 1 node", "b.log", mebibytes * kMiB, 200 * mebibytes,
        150 * mebibytes, 0);
  }
  add("training step, 16 GPUs on 2 nodes", "run.csv", 0, 20e5, 1e5, -1);
  add("training step, 8 GPUs on 1 node", "run.csv", 0, 1.1e5, 1e5, -1);
  const auto found = suspect_series(fit);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0].series, ContainsSubstring("b.log"));
  CHECK_THAT(found[0].why, ContainsSubstring("2.0 times as long as"));
  CHECK_THAT(found[1].series, ContainsSubstring("16 GPUs on 2 nodes, run.csv:7"));
  CHECK_THAT(found[1].why, ContainsSubstring("20.0 times as long as its kernels"));
}

}  // namespace suspect_rows_test
