// Predictions of trainings whose very runs are in a store.
#include "sim/analysis/evidence/measured_calibration.hpp"

#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/evidence/further_run.hpp"
#include "sim/analysis/evidence/same_runs.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace measured_calibration_test {

using namespace foretrain;

namespace {

/// A store as text: three runs of a published training on one GPU and on four, and one of somebody else.
constexpr const char* kStore =
    "# foretrain evidence 1\n"
    "what,source,run,model,network,gpu,architecture,cluster,framework,execution,precision,strategy,op,path,"
    "size,gpus,nodes,measured,predicted,version\n"
    "step,lab,a,resnet50,convolutions,v100,volta,puhti,pytorch,eager,fp32,ddp,,,32,1,1,0.096,0.1,1\n"
    "step,lab,b,resnet50,convolutions,v100,volta,puhti,pytorch,eager,fp32,ddp,,,32,1,1,0.098,0.1,1\n"
    "step,lab,c,resnet50,convolutions,v100,volta,puhti,pytorch,,fp32,ddp,,,32,1,1,0.101,0.1,1\n"
    "ratio,lab,a,resnet50,convolutions,v100,volta,puhti,pytorch,eager,fp32,ddp,,,32,4,1,1.05,1.07,1\n"
    "step,other,d,resnet50,convolutions,v100,volta,puhti,pytorch,eager,fp32,horovod,,,32,1,1,0.2,0.15,1\n";

EvidenceTable store() {
  const SourceText text{"store.csv", kStore};
  EvidenceTable table;
  Diagnostics diagnostics(text);
  read_evidence(text, diagnostics, table);
  diagnostics.throw_if_any();
  return table;
}

Observation asked() {
  Observation q;
  q.model = "resnet50", q.network = "convolutions", q.gpu = "v100", q.architecture = "volta";
  q.cluster = "puhti", q.framework = "pytorch", q.execution = "eager", q.precision = "fp32";
  q.strategy = "ddp", q.size = 32, q.predicted = 0.1;
  return q;
}

std::size_t matches(const std::function<void(Observation&)>& change) {
  Observation q = asked();
  change(q);
  return rows_of_same_run(store(), q).size();
}

/// Runs of the scenario on one GPU by "lab", each so many times as long as simulated.
std::vector<Observation> runs_of(const Scenario& scenario, const std::vector<double>& slower) {
  std::vector<Observation> rows;
  for (const double factor : slower) {
    Observation row = step_question(scenario, scenario.workload.batch_per_gpu);
    row.source = "lab", row.run = fmt::format("run {}", rows.size());
    row.predicted = predict(scenario).points[0].step_s, row.measured = row.predicted * factor;
    rows.push_back(row);
  }
  return rows;
}

Prediction with(const Scenario& scenario, const std::vector<Observation>& rows) {
  const ResidualField field(rows);
  return predict(scenario, nullptr, {.evidence = {&field, "own"}});
}

void check_same(const Prediction& a, const Prediction& b) {
  REQUIRE(a.points.size() == b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    CHECK(a.points[i].step_s == b.points[i].step_s);
    CHECK(a.points[i].interval.low_s == b.points[i].interval.low_s);
    CHECK(a.points[i].interval.high_s == b.points[i].interval.high_s);
  }
}

}  // namespace

TEST_CASE("rows of the very training are found, whatever strategy ran on one GPU") {
  CHECK(matches([](Observation&) {}) == 3);
  CHECK(matches([](Observation& q) { q.strategy = "horovod"; }) == 3);
  CHECK(matches([](Observation& q) { q.execution = "compiled"; }) == 1);
}

TEST_CASE("another machine, network, precision, batch or framework is another training") {
  CHECK(matches([](Observation& q) { q.cluster = "mahti"; }) == 0);
  CHECK(matches([](Observation& q) { q.gpu = "a100"; }) == 0);
  CHECK(matches([](Observation& q) { q.model = "resnet18"; }) == 0);
  CHECK(matches([](Observation& q) { q.precision = "amp_fp16"; }) == 0);
  CHECK(matches([](Observation& q) { q.size = 64; }) == 0);
  CHECK(matches([](Observation& q) { q.framework = "tensorflow"; }) == 0);
}

TEST_CASE("rows whose prediction differs by more than a tenth had other settings") {
  CHECK(matches([](Observation& q) { q.predicted = 0.105; }) == 3);
  CHECK(matches([](Observation& q) { q.predicted = 0.115; }) == 0);
  CHECK(matches([](Observation& q) { q.predicted = 0.15; }) == 1);
}

TEST_CASE("on several GPUs the strategy, their number and that of nodes are the same") {
  const auto ratio = [](const std::string& strategy, int gpus, int nodes) {
    return matches([&](Observation& q) {
      q.what = Observed::ratio, q.strategy = strategy, q.gpus = gpus, q.nodes = nodes, q.predicted = 1.06;
    });
  };
  CHECK(ratio("ddp", 4, 1) == 1);
  CHECK(ratio("horovod", 4, 1) == 0);
  CHECK(ratio("ddp", 8, 1) == 0);
  CHECK(ratio("ddp", 4, 4) == 0);
}

TEST_CASE("a time that a source lists in two series counts once") {
  EvidenceTable table = store();
  Observation copy = asked();
  copy.source = "lab", copy.run = "again", copy.measured = 0.098;
  table.add(copy);
  CHECK(rows_of_same_run(table, asked()).size() == 3);
  copy.measured = 0.099;
  table.add(copy);
  CHECK(rows_of_same_run(table, asked()).size() == 4);
}

TEST_CASE("rows that a question is asked without are not found") {
  CHECK(rows_of_same_run(store(), asked(), {.run = "a"}).size() == 2);
  CHECK(rows_of_same_run(store(), asked(), {.run = "a", .measured = 0.098}).size() == 1);
  CHECK(rows_of_same_run(store(), asked(), {.source = "lab"}).empty());
  CHECK(rows_of_same_run(store(), asked(), {.cluster = "puhti"}).empty());
}

TEST_CASE("rows of one's own come before those of others") {
  EvidenceTable table = store();
  Observation own = asked();
  own.source = "own", own.measured = 0.12;
  table.add(own);
  CHECK(rows_of_same_run(table, asked()).size() == 4);
  const std::vector<const StoredRow*> rows = rows_of_same_run(table, own);
  REQUIRE(rows.size() == 1);
  CHECK(rows.front()->measured == 0.12);
}

TEST_CASE("measured runs of the very training are the prediction, and their scatter its interval") {
  const Scenario scenario = test::resnet_scenario();
  const Prediction raw = predict(scenario), p = with(scenario, runs_of(scenario, {1.09, 1.1, 1.13}));
  const double one = raw.points[0].step_s;
  const FurtherRun next = further_run({{std::log(one * 1.09), std::log(one * 1.1), std::log(one * 1.13)}});
  CHECK(p.points[0].step_s == Approx(one * 1.1).epsilon(1e-4));
  CHECK(p.points[0].interval.low_s == Approx(std::exp(next.middle - next.reach)).epsilon(1e-4));
  CHECK(p.points[0].interval.high_s == Approx(std::exp(next.middle + next.reach)).epsilon(1e-4));
  for (std::size_t i = 1; i < p.points.size(); ++i) {
    const Interval &a = raw.points[i].interval, &b = p.points[i].interval;
    CHECK(p.points[i].step_s > p.points[0].step_s);
    CHECK(std::log(b.high_s / b.low_s) < std::log(a.high_s / a.low_s));
  }
  REQUIRE(p.evidence);
  CHECK(p.evidence->calibrated_on == 1);
  REQUIRE(p.evidence->measured.size() == 1);
  const MeasuredRuns& runs = p.evidence->measured.front();
  CHECK(runs.where == scenario.cluster.name);
  CHECK(runs.source == "lab");
  CHECK(runs.runs == 3);
  CHECK(runs.gpus == 1);
  CHECK(runs.low_s == Approx(one * 1.09));
  CHECK(runs.high_s == Approx(one * 1.13));
}

TEST_CASE("what was simulated stays beside a calibrated prediction") {
  const Scenario scenario = test::resnet_scenario();
  const Prediction raw = predict(scenario), p = with(scenario, runs_of(scenario, {1.1, 1.1}));
  REQUIRE(p.evidence->raw.size() == raw.points.size());
  for (std::size_t i = 0; i < raw.points.size(); ++i) {
    CHECK(p.evidence->raw[i].step_s == raw.points[i].step_s);
    CHECK(p.evidence->raw[i].interval.low_s == Approx(raw.points[i].interval.low_s));
    CHECK(p.evidence->raw[i].interval.high_s == Approx(raw.points[i].interval.high_s));
  }
}

TEST_CASE("runs of the very training and a section measured scale the model alike") {
  const Scenario scenario = test::resnet_scenario();
  const std::vector<Observation> rows = runs_of(scenario, {1.1});
  Scenario measured = scenario;
  measured.anchor = Anchor{1, rows.front().measured};
  const Prediction by_store = with(scenario, rows), by_hand = predict(measured);
  for (std::size_t i = 0; i < by_hand.points.size(); ++i)
    CHECK(by_store.points[i].step_s == Approx(by_hand.points[i].step_s).epsilon(1e-4));
}

TEST_CASE("a section measured comes before every store") {
  Scenario scenario = test::resnet_scenario();
  const std::vector<Observation> rows = runs_of(scenario, {1.3, 1.3});
  scenario.anchor = Anchor{1, rows.front().predicted * 1.05};
  const Prediction p = with(scenario, rows);
  CHECK(p.points[0].step_s == Approx(scenario.anchor->step_s).epsilon(1e-4));
  CHECK(p.evidence->measured.empty());
}

TEST_CASE("a measured ratio makes the step on its number of GPUs, and that of larger jobs in proportion") {
  const Scenario scenario = test::resnet_scenario();
  std::vector<Observation> rows = runs_of(scenario, {1.1, 1.1});
  const Prediction without = with(scenario, rows);
  const double simulated = without.points[1].step_s / without.points[0].step_s;
  for (const int run : {0, 1}) {
    Observation ratio = ratio_question(scenario, scenario.workload.batch_per_gpu, 4, 1);
    ratio.source = "lab", ratio.run = fmt::format("run {}", run);
    ratio.predicted = simulated, ratio.measured = simulated * 1.08;
    rows.push_back(ratio);
  }
  const Prediction p = with(scenario, rows);
  CHECK(p.points[0].step_s == Approx(without.points[0].step_s));
  CHECK(p.points[1].step_s == Approx(1.08 * without.points[1].step_s));
  CHECK(p.points[2].step_s == Approx(1.08 * without.points[2].step_s));
  CHECK(p.points[1].speedup == Approx(without.points[1].speedup / 1.08));
  CHECK(p.points[1].speedup_range.low < p.points[1].speedup);
  CHECK(p.points[1].interval.high_s < without.points[1].interval.high_s * 1.08);
  REQUIRE(p.evidence->measured.size() == 2);
  CHECK(p.evidence->measured[1].gpus == 4);
  CHECK(p.evidence->measured[1].low_s == Approx(rows[0].measured * simulated * 1.08));
}

TEST_CASE("a job of several GPUs calibrates where nobody measured one") {
  const Scenario scenario = test::resnet_scenario();
  const Prediction raw = predict(scenario);
  Observation job = ratio_question(scenario, scenario.workload.batch_per_gpu, 4, 1);
  job.what = Observed::job, job.source = "own", job.run = "job 17";
  job.predicted = raw.points[1].step_s, job.measured = job.predicted * 1.2;
  const Prediction p = with(scenario, {job});
  CHECK(p.evidence->calibrated_on == 4);
  CHECK(p.points[1].step_s == Approx(1.2 * raw.points[1].step_s).epsilon(1e-4));
  CHECK(p.evidence->measured.front().source == "your own");
}

TEST_CASE("law: runs on another machine, or of another batch or precision, calibrate nothing") {
  const Scenario scenario = test::resnet_scenario();
  const Prediction raw = predict(scenario);
  for (const auto& change : std::vector<std::function<void(Observation&)>>{
           [](Observation& row) { row.cluster = "another"; }, [](Observation& row) { row.size *= 2; },
           [](Observation& row) { row.precision = "amp_fp16"; }}) {
    std::vector<Observation> rows = runs_of(scenario, {1.1, 1.1});
    for (Observation& row : rows) change(row);
    const Prediction p = with(scenario, rows);
    CHECK(p.evidence->measured.empty());
    check_same(p, raw);
  }
}

TEST_CASE("runs that contradict each other, or are not plausible, leave the prediction as simulated") {
  const Scenario scenario = test::resnet_scenario();
  const Prediction raw = predict(scenario);
  for (const std::vector<double>& slower : {std::vector<double>{0.7, 1.9}, std::vector<double>{9.0, 9.0}}) {
    const Prediction p = with(scenario, runs_of(scenario, slower));
    CHECK(p.evidence->measured.empty());
    check_same(p, raw);
  }
}

TEST_CASE("a faster machine than the measured one is not calibrated by its runs") {
  Scenario scenario = test::resnet_scenario();
  const std::vector<Observation> rows = runs_of(scenario, {1.1, 1.1});
  scenario.cluster.kernel_speed = 1.02;
  CHECK(with(scenario, rows).evidence->measured.empty());
}

TEST_CASE("law: corrections of single numbers of GPUs are met there and lie on lines between") {
  const StepCorrection c{0.1, 0, {{4, 0.2}, {16, -0.1}}};
  CHECK(c.factor(1) == Approx(std::exp(0.1)));
  CHECK(c.factor(2) == Approx(std::exp(0.1 + 0.1)));
  CHECK(c.factor(4) == Approx(std::exp(0.1 + 0.2)));
  CHECK(c.factor(8) == Approx(std::exp(0.1 + 0.05)));
  CHECK(c.factor(16) == Approx(std::exp(0.1 - 0.1)));
  CHECK(c.factor(1024) == Approx(c.factor(16)));
}

}  // namespace measured_calibration_test
