// Predictions of every scenario, model, cluster and strategy of the catalogs: their figures follow from each
// other, and every format for programs tells the same.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include <nlohmann/json.hpp>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/table.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/csv/csv_line.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace prediction_laws {

using namespace foretrain;
using Json = nlohmann::json;

namespace {

void check_interval(const Interval& interval, double value) {
  CHECK(interval.level == 0.9);
  CHECK(interval.low_s <= value);
  CHECK(value <= interval.high_s);
}

void check_times(const PredictionPoint& q) {
  CHECK(q.step_s > 0);
  CHECK(std::accumulate(q.breakdown.begin(), q.breakdown.end(), 0.0) == Approx(q.step_s));
  for (const double part : q.breakdown) CHECK(part >= 0);
  CHECK(q.epoch_s >= 0);
  CHECK(q.total_s >= q.overhead.total_s());
  CHECK(q.samples_per_s > 0);
  CHECK(q.gpu_hours == Approx(q.gpus * q.total_s / 3600));
  CHECK(q.nodes <= q.gpus);
  CHECK(q.memory.least() <= q.memory.total());
  CHECK(q.memory.total().count > 0);
}

void check_gains(const PredictionPoint& q) {
  CHECK(q.efficiency == Approx(q.speedup / q.gpus));
  check_interval(q.interval, q.step_s);
  check_interval(q.total_interval, q.total_s);
  CHECK(q.speedup_range.low <= q.speedup);
  CHECK(q.speedup <= q.speedup_range.high);
  CHECK(q.chance_of_gain >= 0);
  CHECK(q.chance_of_gain <= 1);
  if (q.gpus == 1) CHECK(q.speedup == Approx(1));
  if (!q.fits_tightly()) CHECK(q.largest_batch >= q.batch_per_gpu);
}

void check_figures(const Prediction& p) {
  for (const PredictionPoint& q : p.points) {
    INFO(q.gpus << " GPUs");
    check_times(q);
    if (!p.cannot_run && q.fits()) check_gains(q);
  }
  CHECK(p.crossover.fastest_gpus >= 1);
  CHECK(p.crossover.fastest_gpus <= p.cluster_gpus);
  CHECK(p.crossover.simulated <= p.crossover.numbers);
}

/// Fields of the CSV's first line, then of each point's.
std::vector<std::vector<std::string>> records_of(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  CsvLines lines(text);
  for (auto fields = lines.next(); fields; fields = lines.next()) {
    records.emplace_back();
    for (const CsvField& field : *fields) records.back().push_back(field.text);
  }
  return records;
}

/// Numbers are written so that they read back to the last bit.
void check_formats(const Prediction& p) {
  const auto csv = records_of(write_csv(p, {}));
  const Json json = Json::parse(write_json(p, {}));
  REQUIRE(csv.size() == p.points.size() + 1);
  REQUIRE(json["points"].size() == p.points.size());
  const auto column = [&](const std::string& name) {
    const auto found = std::ranges::find(csv[0], name);
    REQUIRE(found != csv[0].end());
    return static_cast<std::size_t>(found - csv[0].begin());
  };
  for (std::size_t i = 0; i < p.points.size(); ++i) {
    const PredictionPoint& q = p.points[i];
    const auto same = [&](const char* name, double value) {
      INFO(name);
      CHECK(std::stod(csv[i + 1][column(name)]) == value);
      CHECK(json["points"][i][name].get<double>() == value);
    };
    REQUIRE(csv[i + 1].size() == csv[0].size());
    same("gpus", q.gpus), same("nodes", q.nodes), same("global_batch", static_cast<double>(q.global_batch));
    const auto same_if_known = [&](const char* name, const std::optional<double>& value) {
      if (value) return same(name, *value);
      INFO(name);
      CHECK(csv[i + 1][column(name)].empty());
      CHECK(json["points"][i][name].is_null());
    };
    const KnownFigures known = known_figures(q);
    same("step_s", q.step_s), same("samples_per_s", q.samples_per_s);
    same_if_known("epoch_s", known.epoch_s), same_if_known("total_s", known.total_s);
    same_if_known("gpu_hours", known.gpu_hours), same_if_known("speedup", known.speedup);
    same("startup_s", q.overhead.startup_s), same("checkpoint_s", q.overhead.checkpoint_s);
    CHECK(csv[i + 1][column("fits")] == (q.fits() ? "true" : "false"));
    CHECK(csv[i + 1][column("scaling")] == (p.strong_scaling ? "strong" : "weak"));
  }
}

/// "1 GPUs" and its like, however it came about; empty when the text has none.
std::string plural_of_one(const std::string& text) {
  for (const std::string noun :
       {"GPUs", "nodes", "channels", "processes", "workers", "switches", "links", "messages", "samples",
        "steps", "epochs", "groups", "copies", "numbers", "cores", "servers"}) {
    const std::string wrong = " 1 " + noun;
    for (std::size_t at = text.find(wrong); at != std::string::npos; at = text.find(wrong, at + 1)) {
      const std::size_t end = at + wrong.size();
      if (end == text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0)
        return text.substr(at, 60);
    }
  }
  return "";
}

void check_prediction(const Scenario& scenario) {
  INFO(scenario.name << ": " << scenario.model.name << " on " << scenario.cluster.name << " with "
                     << scenario.strategy);
  const Prediction p = predict(scenario);
  check_figures(p);
  check_formats(p);
  CHECK(plural_of_one(write_table(p, {.explain = true})).empty());
}

/// The first two numbers: what is checked is the same for all of them.
Scenario on_few(Scenario scenario) {
  if (scenario.gpus.size() > 2) scenario.gpus.resize(2);
  return scenario;
}

}  // namespace

TEST_CASE("law: figures of every scenario of the catalog follow from each other, in every format") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  for (const std::string& name : names_in(CatalogKind::scenarios))
    check_prediction(on_few(read_scenario(open_named(CatalogKind::scenarios, name).value(), {}, opened)));
}

TEST_CASE("law: figures of every model of the catalog follow from each other, on one GPU and on two") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  for (const std::string& name : names_in(CatalogKind::models)) {
    ScenarioOverrides overrides;
    overrides.model = name, overrides.cluster = "dgx-a100", overrides.batch = 2;
    overrides.gpus = {1, 2};
    overrides.settings = {"data.samples=10000", "run.epochs=2"};
    check_prediction(make_scenario(overrides, opened));
  }
}

TEST_CASE("law: figures on every cluster of the catalog follow from each other, with each strategy in turn") {
  test::use_source_catalogs();
  OpenedCatalogs opened;
  std::size_t turn = 0, predicted = 0;
  for (const std::string& name : names_in(CatalogKind::clusters)) {
    ScenarioOverrides overrides;
    overrides.model = "mnist_net", overrides.cluster = name;
    overrides.strategy = strategy_catalog()[turn++ % strategy_catalog().size()].name;
    overrides.settings = {"data.samples=60000"};
    try {
      check_prediction(on_few(make_scenario(overrides, opened)));
      ++predicted;
    } catch (const InputError& error) {
      INFO(name << " with " << overrides.strategy << ": " << error.what());
      CHECK_FALSE(error.diagnostics().empty());
    }
  }
  CHECK(4 * predicted > 3 * turn);
}

TEST_CASE("a plural of one is found where it is one") {
  CHECK(plural_of_one("ring, 1 channels of 96 threads") == " 1 channels of 96 threads");
  CHECK(plural_of_one("on 1 GPUs") == " 1 GPUs");
  CHECK(plural_of_one("1 GPU, 11 GPUs, 2.1 samples/s, 1 linksy").empty());
}

}  // namespace prediction_laws
