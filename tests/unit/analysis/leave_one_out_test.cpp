// Constants fitted again without some rows: on straight lines whose answers are known, and on collectives
// that a changed cluster would have given.
#include "sim/analysis/validation/leave_one_out.hpp"

#include <cmath>

#include "sim/analysis/validation/held_out_fit.hpp"
#include "sim/analysis/validation/held_out_scores.hpp"
#include "sim/collective/costs.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"

namespace leave_one_out_test {

using namespace foretrain;

namespace {

CollectiveMeasurement row_on(const std::string& cluster, std::int64_t bytes) {
  CollectiveMeasurement m;
  m.series = cluster, m.cluster = cluster, m.op = "all_reduce", m.gpus = 4, m.nodes = 1, m.bytes = bytes;
  m.time_us = 1, m.source = "github.com/" + cluster + " @1 log";
  return m;
}

/// What `cluster` would print if kernels of collectives started so many times as slowly.
std::vector<CollectiveMeasurement> rows_of(const std::string& cluster, double slower) {
  std::vector<CollectiveMeasurement> rows;
  for (std::int64_t bytes = 64; bytes <= 64 << 20; bytes *= 4) rows.push_back(row_on(cluster, bytes));
  const std::vector<TrialConstant> trials = collective_trials();
  const auto kernel = std::ranges::find(trials, "nccl.kernel", &TrialConstant::family);
  const CollectiveTrial trial{
      [&](ClusterSpec spec) { return moved(std::move(spec), *kernel, std::log(slower)); }};
  const CollectiveValidation v = validate_collectives(rows, {}, nullptr, trial);
  for (const ValidatedCollective& p : v.series.at(0).points)
    std::ranges::find(rows, p.bytes, &CollectiveMeasurement::bytes)->time_us = p.predicted;
  return rows;
}

std::vector<CollectiveMeasurement> joined(std::vector<CollectiveMeasurement> a,
                                          const std::vector<CollectiveMeasurement>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const HeldOutGroup& group(const LeaveOneOut& v, const std::string& name) {
  return *std::ranges::find(v.groups, name, &HeldOutGroup::name);
}

/// Off by this, with an interval of a tenth either way.
ScoredRow scored(const std::string& key, double left_out) {
  ScoredRow row;
  row.key = key, row.left_out = left_out, row.reach = {0.1, 0.1}, row.kind = "kind";
  return row;
}

}  // namespace

TEST_CASE("a refit finds what the rows that it sees were made with, and its expectation where none tell") {
  // Two rows follow the first rate, one the second: residual 0.3 and slope -1 are nulled by x = 0.3.
  RefitProblem problem{{0.3, 0.3, 0.7}, {}};
  problem.constants = {{"a", 0, 10, -5, 5, false, {-1, -1, 0}}, {"b", 0.2, 10, -5, 5, false, {0, 0, -1}}};
  const std::vector<double> all = refitted(problem, {true, true, true});
  CHECK(all[0] == Approx(0.3).epsilon(0.02));
  CHECK(all[1] == Approx(0.7).epsilon(0.05));
  const std::vector<double> without = refitted(problem, {true, true, false});
  CHECK(without[0] == Approx(0.3).epsilon(0.02));
  CHECK(without[1] == Approx(0.2));  // the centre
  CHECK(residual_at(problem, 2, without) == Approx(0.7 - 0.2));
}

TEST_CASE("a constant stays within its limits in a refit") {
  RefitProblem problem{{3, 3}, {{"a", 0, 10, -1, 1, false, {-1, -1}}}};
  CHECK(refitted(problem, {true, true})[0] == Approx(1).epsilon(1e-3));
}

TEST_CASE("a refit follows times as sums: far moves of two shares come back") {
  // Ten rows of a start-up that takes the share s of each and really takes four times as long, and of a rate
  // with the rest that is really half.
  RefitProblem problem;
  SharedConstant start{"start", 0, 10, -5, 5, false, {}}, rate{"rate", 0, 10, -5, 5, false, {}};
  for (double s = 0.05; s < 1; s += 0.1) {
    start.slope.push_back(s), rate.slope.push_back(s - 1);
    problem.residuals.push_back(-std::log(4 * s + 2 * (1 - s)));
  }
  problem.constants = {start, rate};
  const std::vector<double> x = refitted(problem, std::vector<bool>(problem.residuals.size(), true));
  CHECK(x[0] == Approx(std::log(4.0)).epsilon(0.01));
  CHECK(x[1] == Approx(-std::log(2.0)).epsilon(0.01));
}

TEST_CASE("settings of one machine are left out together") {
  const LeaveOneOut v = leave_one_out(
      joined(joined(rows_of("polaris", 1), rows_of("polaris-software-matching", 1)), rows_of("puhti", 1)),
      HoldOutUnit::cluster, {});
  REQUIRE(v.groups.size() == 2);
  CHECK(group(v, "polaris").scores.rows > group(v, "puhti").scores.rows);
}

TEST_CASE("a cluster left out is predicted by what the others say, and they by what it says") {
  // Puhti and dgx1-v100 share Volta's constants; the rows of one were made with kernels that start late.
  const std::vector<CollectiveMeasurement> late = rows_of("dgx1-v100", 12), usual = rows_of("puhti", 1);
  const LeaveOneOut v = leave_one_out(joined(late, usual), HoldOutUnit::cluster, {});
  CHECK(v.all.rows == static_cast<int>(late.size() + usual.size()));
  const HeldOutScores& puhti = group(v, "puhti").scores;
  CHECK(puhti.in_use.median < 1e-6);  // its own constants made its rows
  CHECK(puhti.left_out.p90 > 0.05);   // without it the late kernels of the other are believed
  const HeldOutScores& dgx = group(v, "dgx1-v100").scores;
  CHECK(dgx.left_out.median == Approx(dgx.in_use.median).epsilon(0.3));  // nobody else knows of them
  CHECK(dgx.of_all.median < dgx.left_out.median);                        // all rows do
}

TEST_CASE("rows are left out by cluster, GPU or publication") {
  const std::vector<CollectiveMeasurement> rows = joined(rows_of("dgx1-v100", 1), rows_of("puhti", 1));
  CHECK(leave_one_out(rows, HoldOutUnit::cluster, {}).groups.size() == 2);
  CHECK(leave_one_out(rows, HoldOutUnit::source, {}).groups.size() == 2);
  CHECK(publication_of("github.com/a/b @1 log") == "github.com/a/b");
  CHECK(publication_of("horovod/horovod docs") == "horovod/horovod");
}

TEST_CASE("coverage is the share of rows within their intervals, on both sides") {
  std::vector<ScoredRow> rows{scored("a", 0.05), scored("a", 0.15), scored("b", -0.09), scored("b", -0.11)};
  rows.push_back(scored("b", 0.15)), rows.back().reach = {0.2, 0.01};
  LeaveOneOut out;
  add_scores(rows, out);
  CHECK(group(out, "a").scores.coverage == 0.5);
  CHECK(group(out, "b").scores.coverage == Approx(2.0 / 3));
  CHECK(out.all.width == Approx(std::exp(0.1) - std::exp(-0.1)));
}

TEST_CASE(
    "rows are scored in every view they are in, with what perfect scaling comes to where there is one") {
  std::vector<ScoredRow> rows{scored("a", 0.1), scored("b", 0.1), scored("c", 0.1)};
  for (ScoredRow& row : rows) row.left_out = std::log(1.1), row.reach = {};
  rows[0].views = {"ddp", "ddp on a"}, rows[0].linear = std::log(1.3);
  rows[1].views = {"ddp", "ddp on b"};
  LeaveOneOut out;
  add_scores(rows, out);
  const auto view = [&out](const std::string& name) {
    return std::ranges::find(out.views, name, &HeldOutGroup::name)->scores;
  };
  REQUIRE(out.views.size() == 3);
  CHECK(view("ddp").rows == 2);
  CHECK(view("ddp").left_out.median == Approx(0.1));
  CHECK(view("ddp").linear.median == Approx(0.3));
  CHECK(view("ddp on b").linear.median == 0);
}

TEST_CASE("a row that a trial cannot predict has no slope and moves no other row's") {
  const std::vector<HeldOutRow> rows{{"a", nullptr, 0.1, 2}, {"b", nullptr, 0.2, 3}, {"c", nullptr, 0.3, 5}};
  CHECK(trial_residuals(rows, {{2, 0.15}, {5, 0.35}}) == std::vector<double>{0.15, 0.2, 0.35});
}

}  // namespace leave_one_out_test
