// Laws of the field of residuals, on a handful of runs.
#include "sim/analysis/evidence/residual_field.hpp"

#include <algorithm>
#include <cmath>

#include "sim/analysis/evidence/residual_covariance.hpp"
#include "tests/support/catch.hpp"

namespace residual_field_test {

using namespace foretrain;

namespace {

/// A step of resnet50 on a V100, `slower` times as long as predicted.
Observation run(const std::string& source, double slower, double batch = 32) {
  Observation row;
  row.source = source, row.run = source + " run";
  row.model = "resnet50", row.network = "convolutions", row.gpu = "v100", row.architecture = "volta";
  row.cluster = source + " machine", row.framework = "pytorch", row.execution = "eager";
  row.precision = "fp32", row.strategy = "ddp", row.size = batch;
  row.predicted = 0.1, row.measured = 0.1 * slower, row.version = "1";
  return row;
}

/// What somebody else asks about the same training.
Observation question() {
  Observation q = run("", 1);
  q.cluster = "mine";
  return q;
}

std::vector<Observation> agreeing() {
  return {run("a", 1.1), run("b", 1.08), run("c", 1.12), run("d", 1.1, 64), run("e", 1.09, 16)};
}

double moved_by(const std::vector<Observation>& before, const std::vector<Observation>& after) {
  return std::expm1(ResidualField(after).at(question()).log_factor -
                    ResidualField(before).at(question()).log_factor);
}

}  // namespace

TEST_CASE("law: without rows a field says nothing, and knows nothing") {
  const Estimate e = ResidualField().at(question());
  CHECK(e.log_factor == 0);
  CHECK(e.neighbours.empty());
  CHECK(e.narrowing() == 1);
}

TEST_CASE("law: the same row twice is the row once, and repeats of a run are one run") {
  std::vector<Observation> rows = agreeing();
  const Estimate once = ResidualField(rows).at(question());
  rows.insert(rows.end(), 50, rows.front());
  const Estimate often = ResidualField(rows).at(question());
  CHECK(often.log_factor == once.log_factor);
  CHECK(often.spread == once.spread);
  CHECK(often.neighbours.size() == 5);
  const auto repeated = std::ranges::max_element(often.neighbours, {}, &Neighbour::repeats);
  CHECK(repeated->repeats == 51);
}

TEST_CASE("law: the order of rows makes no difference to the last digit") {
  std::vector<Observation> rows = agreeing();
  const Estimate one = ResidualField(rows).at(question());
  std::ranges::reverse(rows);
  const Estimate other = ResidualField(rows).at(question());
  CHECK(other.log_factor == one.log_factor);
  CHECK(other.spread == one.spread);
}

TEST_CASE("law: rows that share nothing have no effect at all") {
  std::vector<Observation> rows = agreeing();
  const Estimate near = ResidualField(rows).at(question());
  Observation far = run("z", 3);
  far.model = "bert", far.network = "products", far.gpu = "a100", far.architecture = "ampere";
  far.precision = "bf16", far.framework = "tensorflow";
  rows.push_back(far);
  const Estimate with_far = ResidualField(rows).at(question());
  CHECK(with_far.log_factor == near.log_factor);
  CHECK(with_far.spread == near.spread);
}

TEST_CASE("law: a source that is wrong by a factor of two moves the others' prediction by less than 2 %") {
  for (const double wrong : {2.0, 0.5}) {
    std::vector<Observation> rows = agreeing();
    for (const double batch : {16., 32., 64., 128.}) rows.push_back(run("liar", wrong, batch));
    INFO(wrong);
    CHECK(std::abs(moved_by(agreeing(), rows)) < 0.02);
  }
}

TEST_CASE("rows of one's own carry their bias to one's own questions, and to nobody else's") {
  const ResidualField field({run("own", 1.3), run("own", 1.3, 64), run("own", 1.3, 16)});
  Observation mine = question();
  mine.source = "own";
  const Estimate own = field.at(mine), others = field.at(question());
  CHECK(own.log_factor > others.log_factor);
  CHECK(own.spread < others.spread);
}

TEST_CASE("a row is never known to itself where its source or its machine is left out") {
  const ResidualField field({run("a", 1.4)});
  CHECK(field.at(question(), {.source = "a"}).neighbours.empty());
  CHECK(field.at(question(), {.cluster = "a machine"}).neighbours.empty());
  CHECK(field.at(question(), {.run = "a run"}).neighbours.empty());
}

TEST_CASE("a ratio says nothing about one GPU and is one slope along the curve") {
  Observation four = run("a", 1.2), query = question();
  four.what = query.what = Observed::ratio;
  four.gpus = 4, four.cluster = query.cluster;
  const ResidualField field({four});
  query.gpus = 1;
  CHECK(covariance(field.table().asked(query), field.table().rows()[0]) == 0);
  query.gpus = 2;
  const double two = field.at(query).log_factor;
  query.gpus = 16;
  CHECK(two > 0);
  CHECK(field.at(query).log_factor == Approx(4 * two));
}

TEST_CASE("a job of many GPUs tells of the step on one, less than that step itself, and nothing of ratios") {
  Observation step = run("own", 1.2), job = step, query = question();
  job.what = Observed::job, job.gpus = 4, query.source = "own", query.cluster = job.cluster;
  const Estimate by_step = ResidualField({step}).at(query), by_job = ResidualField({job}).at(query);
  CHECK(by_job.log_factor > 0);
  CHECK(by_job.log_factor < by_step.log_factor);
  CHECK(by_job.spread > by_step.spread);
  CHECK(by_job.spread < by_job.prior);
  query.what = Observed::ratio, query.gpus = 4;
  CHECK(ResidualField({job}).at(query).neighbours.empty());
}

TEST_CASE("a further run of one's own leaves less of the uncertainty than there is, and a nearer one least") {
  Observation query = question(), other = query;
  query.source = other.source = "own", other.size = 256;
  const ResidualField field(agreeing());
  const double now = field.at(query).spread;
  CHECK(field.spread_after(query, {other}) < now);
  CHECK(field.spread_after(query, {query}) < field.spread_after(query, {other}));
  CHECK(field.spread_after(query, {query, other}) < field.spread_after(query, {query}));
}

}  // namespace residual_field_test
