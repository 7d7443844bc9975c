// Accounts of random jobs: samples are counted once, what follows from them follows everywhere, and every
// writer leaves out the same figures.
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/epoch.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/table.hpp"
#include "sim/scenario/csv/csv_line.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/variation.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/fuzz/scenarios/drawn_job.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace account_laws {

using namespace foretrain;
using Json = nlohmann::json;

namespace {

/// Jobs of the usual run; FORETRAIN_ACCOUNTS=2000 asks for more.
constexpr unsigned kUsualJobs = 500;

unsigned job_count() {
  const char* asked = std::getenv("FORETRAIN_ACCOUNTS");
  return asked != nullptr ? static_cast<unsigned>(std::atoi(asked)) : kUsualJobs;
}

double samples_counted_once(const Scenario& scenario, int gpus) {
  return static_cast<double>(samples_of_step(scenario, gpus)) / readers_of_a_sample(scenario, gpus);
}

/// By the batches that ranks really have, without samples_of_step().
void check_batches(const Scenario& scenario, const PredictionPoint& p) {
  const std::int64_t parts = std::int64_t{working_gpu_count(scenario, p.gpus)} * scenario.knobs.accumulation;
  const bool has_one_loader = find_strategy(scenario.strategy)->processes == Processes::one ||
                              scenario.strategy == "multi_worker_mirrored";
  CHECK(p.global_batch == samples_of_step(scenario, p.gpus));
  if (!has_one_loader || !scenario.global_batch) {
    CHECK(p.global_batch == p.batch_per_gpu * parts);
  } else {
    CHECK(p.global_batch <= p.batch_per_gpu * parts);
    CHECK(p.global_batch < std::max(*scenario.global_batch, parts) + scenario.knobs.accumulation);
  }
  if (scenario.global_batch) CHECK(p.global_batch >= *scenario.global_batch);
}

/// What each rank goes through by itself, as a sampler deals it out.
void check_steps(const Scenario& scenario, const PredictionPoint& p) {
  const DataSet& data = scenario.workload.data;
  CHECK(p.knows_epochs == (data.samples > 0));
  if (!p.knows_epochs) return;
  const double step = scenario.sampler == Sampler::none ? samples_counted_once(scenario, p.gpus)
                                                        : static_cast<double>(p.global_batch);
  const double steps = static_cast<double>(data.samples) / std::ceil(step);
  CHECK(static_cast<double>(p.steps_per_epoch) == (data.drop_last ? std::floor(steps) : std::ceil(steps)));
}

void check_times(const Scenario& scenario, const PredictionPoint& p) {
  CHECK(p.samples_per_s * p.step_s == Approx(samples_counted_once(scenario, p.gpus)).epsilon(1e-9));
  CHECK(p.gpu_hours == Approx(p.total_s * p.gpus / 3600).epsilon(1e-9));
  const double restart_s = scenario.epochs > 0 ? p.overhead.loader_restart_s / scenario.epochs : 0;
  const double steps_s = p.epoch_s - restart_s, all_s = static_cast<double>(p.steps_per_epoch) * p.step_s;
  const double slack = 1e-9 * (p.epoch_s + p.step_s);
  CHECK(steps_s <= all_s + slack);
  CHECK(steps_s >= all_s - p.step_s - slack);
  const bool is_whole = epoch_steps(scenario, p.gpus).rest == 0;
  if (is_whole || !p.knows_epochs) CHECK(steps_s == Approx(all_s).epsilon(1e-9).margin(1e-9));
  CHECK(p.total_s == Approx(scenario.epochs * steps_s + p.overhead.total_s()).epsilon(1e-9));
}

/// Totals tell the same as samples per second: less the named parts, an epoch goes through the data set once.
void check_rate_of_epoch(const Scenario& scenario, const PredictionPoint& p) {
  if (!p.knows_epochs || scenario.sampler != Sampler::distributed || scenario.epochs <= 0) return;
  const double trained = p.samples_per_s * (p.total_s - p.overhead.total_s()) / scenario.epochs;
  const auto samples = static_cast<double>(scenario.workload.data.samples),
             step = static_cast<double>(p.global_batch);
  CHECK(trained <= (samples + step) * (1 + 1e-9));
  CHECK(trained >= (samples - step) * (1 - 1e-9));
}

void check_speedups(const Prediction& p) {
  const PredictionPoint& one = p.points.front();
  REQUIRE(one.gpus == 1);
  for (const PredictionPoint& q : p.points) {
    CHECK(q.speedup == Approx(q.samples_per_s / one.samples_per_s).epsilon(1e-9));
    CHECK(q.efficiency == Approx(q.speedup / q.gpus).epsilon(1e-9));
  }
}

void check_memory(const PredictionPoint& p) {
  CHECK(p.fits() == (p.memory.total() <= p.memory_capacity));
  CHECK(p.fits() == (p.memory.least() <= p.memory_capacity));
  if (p.unlike.empty() && p.fits()) CHECK((p.batch_per_gpu <= p.largest_batch) == !p.fits_tightly());
}

/// A figure as each writer has it: by its name in JSON, CSV and, where it has one, the sweep's database.
struct Written {
  const Json& json;
  const std::vector<std::string>& header;
  const std::vector<std::string>& line;
  const CaseResult& result;
};

void check_figure(const Written& written, const std::string& name, const Json& json,
                  const std::optional<double>& value) {
  INFO(name);
  CHECK(json.is_null() == !value);
  if (value && !json.is_null()) CHECK(json.get<double>() == *value);
  const auto column = std::ranges::find(written.header, name);
  if (column == written.header.end()) return;
  const std::string& cell = written.line[static_cast<std::size_t>(column - written.header.begin())];
  CHECK(cell.empty() == !value);
  if (value && !cell.empty()) CHECK(std::stod(cell) == *value);
}

void check_in_database(const Written& written) {
  for (const CaseFigure& figure : case_figures()) {
    if (!written.json.contains(std::string(figure.name))) continue;
    INFO("database: " << figure.name);
    const Value value = figure.of(written.result);
    const Json& json = written.json[std::string(figure.name)];
    CHECK(std::holds_alternative<std::monostate>(value.data) == json.is_null());
    if (const auto* number = std::get_if<double>(&value.data)) CHECK(*number == json.get<double>());
    if (const auto* whole = std::get_if<std::int64_t>(&value.data)) CHECK(*whole == json.get<std::int64_t>());
  }
}

std::optional<double> as_double(const std::optional<std::int64_t>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

void check_ends(const Written& written, const std::string& csv, const Json& json,
                const std::optional<Interval>& interval) {
  const auto low = interval ? std::optional(interval->low_s) : std::nullopt,
             high = interval ? std::optional(interval->high_s) : std::nullopt;
  check_figure(written, csv + "_low_s", json.is_null() ? json : json["low_s"], low);
  check_figure(written, csv + "_high_s", json.is_null() ? json : json["high_s"], high);
}

void check_written(const Written& written, const PredictionPoint& p) {
  const KnownFigures known = known_figures(p);
  const Json& json = written.json;
  check_figure(written, "steps_per_epoch", json["steps_per_epoch"], as_double(known.steps_per_epoch));
  check_figure(written, "epoch_s", json["epoch_s"], known.epoch_s);
  check_figure(written, "total_s", json["total_s"], known.total_s);
  check_figure(written, "gpu_hours", json["gpu_hours"], known.gpu_hours);
  check_figure(written, "speedup", json["speedup"], known.speedup);
  check_figure(written, "efficiency", json["efficiency"], known.efficiency);
  check_figure(written, "chance_of_gain", json["chance_of_gain"], known.chance_of_gain);
  check_ends(written, "step", json["interval"], known.interval);
  check_ends(written, "epoch", json["epoch_interval"], known.epoch_interval);
  check_ends(written, "total", json["total_interval"], known.total_interval);
  CHECK(json["speedup_interval"].is_null() == !known.speedup_range);
  check_figure(written, "memory_bytes", json["memory"]["bytes"], static_cast<double>(p.memory.total().count));
  CHECK(json["memory"]["fits"] == p.fits());
  check_in_database(written);
}

/// Absent without data.samples, without memory, and for no other reason.
void check_absent(const PredictionPoint& p, bool has_answers) {
  const KnownFigures known = known_figures(p);
  CHECK(known.steps_per_epoch.has_value() == p.knows_epochs);
  CHECK(known.total_s.has_value() == (p.knows_epochs && p.steps_per_epoch > 0));
  CHECK(known.speedup.has_value() == p.fits());
  CHECK(known.interval.has_value() == (p.fits() && has_answers));
}

std::vector<std::vector<std::string>> records_of(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  CsvLines lines(text);
  for (auto fields = lines.next(); fields; fields = lines.next()) {
    records.emplace_back();
    for (const CsvField& field : *fields) records.back().push_back(field.text);
  }
  return records;
}

/// In the rows of the table, which come after its header.
void check_table(const Prediction& p) {
  const std::string table = write_table(p, {.quiet = true});
  std::size_t at = table.find('\n') + 1;
  for (const PredictionPoint& q : p.points) {
    const std::string line = table.substr(at, table.find('\n', at) - at);
    at += line.size() + 1;
    INFO(line);
    const KnownFigures known = known_figures(q);
    std::size_t dashes = 0;
    for (std::size_t i = line.find(" - "); i != std::string::npos; i = line.find(" - ", i + 2)) ++dashes;
    CHECK(dashes == (known.epoch_s ? 0U : 2U) + (known.speedup ? 0U : 2U));
    CHECK(line.ends_with(" !") == !q.fits());
    CHECK(line.find(to_string(q.memory.total())) != std::string::npos);
  }
}

void check_warnings(const Prediction& p) {
  const auto warned = [&](const std::string& text) {
    return std::ranges::any_of(p.warnings,
                               [&](const std::string& w) { return w.find(text) != std::string::npos; });
  };
  const bool all_fit = std::ranges::all_of(p.points, &PredictionPoint::fits);
  CHECK(warned(" needed per GPU, ") == !all_fit);
  for (const PredictionPoint& q : p.points)
    if (q.fits_tightly()) CHECK(warned(to_string(q.memory.total()) + " of " + to_string(q.memory_capacity)));
}

/// What the drawn jobs must bring about for the laws to mean something.
struct Seen {
  unsigned uneven = 0, unknown_epochs = 0, empty_epochs = 0, too_large = 0, tight = 0, cannot_run = 0;
};

void note(Seen& seen, const Scenario& scenario, const Prediction& p) {
  seen.cannot_run += p.cannot_run ? 1 : 0;
  for (const PredictionPoint& q : p.points) {
    seen.uneven += scenario.global_batch && q.global_batch != *scenario.global_batch ? 1 : 0;
    seen.unknown_epochs += q.knows_epochs ? 0 : 1;
    seen.empty_epochs += q.steps_per_epoch == 0 ? 1 : 0;
    seen.too_large += q.fits() ? 0 : 1;
    seen.tight += q.fits_tightly() ? 1 : 0;
  }
}

/// A global batch leaves nothing to the batch per GPU: no figure depends on it, nor on the other numbers of
/// GPUs in the list, which the scenario's reader takes it from.
void check_alone(const Scenario& scenario, const Prediction& p) {
  Scenario alone = scenario;
  alone.gpus = {scenario.gpus.back()};
  if (scenario.global_batch && !scenario.parallel) alone.workload.batch_per_gpu += 7;
  PointPredictor points(alone, alone.gpus.back());
  Decisions unused;
  const PredictionPoint one = points.point(alone.gpus.back(), unused), &listed = p.points.back();
  CHECK(one.step_s == listed.step_s);
  CHECK(one.samples_per_s == listed.samples_per_s);
  CHECK(one.epoch_s == listed.epoch_s);
  CHECK(one.total_s == listed.total_s);
  CHECK(one.memory.total() == listed.memory.total());
  CHECK(one.largest_batch == listed.largest_batch);
  CHECK(points.throughput(1).samples_per_s == p.points.front().samples_per_s);
}

void check_job(const Scenario& scenario, Seen& seen) {
  const Prediction p = predict(scenario);
  note(seen, scenario, p);
  check_speedups(p);
  check_table(p);
  check_warnings(p);
  check_alone(scenario, p);
  const auto csv = records_of(write_csv(p, {}));
  const Json json = Json::parse(write_json(p, {}));
  REQUIRE(csv.size() == p.points.size() + 1);
  for (std::size_t i = 0; i < p.points.size(); ++i) {
    const PredictionPoint& q = p.points[i];
    INFO(q.gpus << " GPUs");
    check_batches(scenario, q);
    check_steps(scenario, q);
    check_times(scenario, q);
    check_rate_of_epoch(scenario, q);
    check_memory(q);
    check_absent(q, !p.cannot_run);
    check_written({json["points"][i], csv[0], csv[i + 1], {"", q, {}, {}}}, q);
  }
}

/// Only the texts of a job that breaks a law are worth their room.
std::string text_of(const test::MadeScenario& made) {
  std::string out = made.cluster + "\n# model\n" + made.model + "\n# scenario\n" + made.scenario;
  for (const std::string& setting : made.settings) out += "--set " + setting + "\n";
  return out;
}

template <class Check>
unsigned check_drawn_jobs(unsigned count, Check check) {
  test::use_source_catalogs();
  unsigned checked = 0;
  for (unsigned number = 1; number <= count; ++number) {
    const test::MadeScenario made = test::drawn_job(number);
    const std::optional<Scenario> scenario = test::read_drawn(made);
    if (!scenario) continue;
    INFO("job " << number << "\n" << text_of(made));
    try {
      check(*scenario);
      ++checked;
    } catch (const InputError& refused) {
      CHECK_FALSE(refused.diagnostics().empty());  // as a step that takes days
    }
  }
  return checked;
}

/// The memory of another batch, with what the strategy holds beside it.
PredictionPoint with_batch_on(const Scenario& scenario, std::int64_t batch, int gpus) {
  const Scenario other = with_batch(scenario, batch);
  PointPredictor points(other, gpus);
  Decisions unused;
  return points.point(gpus, unused);
}

StrategyMemory strategy_memory_on(const Scenario& scenario, std::int64_t batch, int gpus) {
  const Scenario other = with_batch(scenario, batch);
  PointPredictor points(other, gpus);
  return points.step(gpus).memory;
}

bool has_all_its_scratch(const PredictionPoint& p) { return p.fits() && !p.fits_tightly(); }

void check_largest_batch(const Scenario& scenario) {
  if (scenario.global_batch || scenario.parallel || !scenario.batch_of_kind.empty()) return;
  const int gpus = scenario.gpus.back();
  const std::int64_t most = with_batch_on(scenario, scenario.workload.batch_per_gpu, gpus).largest_batch;
  CHECK(most <= 1'000'000);
  // Else a batch that was never planned would be judged by the buffers of another one.
  CHECK(strategy_memory_on(scenario, 1, gpus) == strategy_memory_on(scenario, 50, gpus));
  for (const std::int64_t batch : {std::int64_t{1}, most, most + 1}) {
    if (batch < 1 || batch > 1'000'000) continue;
    INFO("batch " << batch << ", largest " << most);
    const PredictionPoint p = with_batch_on(scenario, batch, gpus);
    CHECK(p.largest_batch == most);
    CHECK(has_all_its_scratch(p) == (batch <= most));
  }
}

}  // namespace

TEST_CASE("law: random jobs count every sample once, and all writers tell the same") {
  Seen seen;
  const unsigned count = job_count();
  const unsigned checked =
      check_drawn_jobs(count, [&seen](const Scenario& scenario) { check_job(scenario, seen); });
  const std::string what = fmt::format(
      "{} of {} jobs checked; numbers of GPUs: {} with a global batch that does not divide, {} without "
      "data.samples, {} with an epoch of no step, {} that do not fit, {} that fit tightly; {} jobs fit "
      "nowhere",
      checked, count, seen.uneven, seen.unknown_epochs, seen.empty_epochs, seen.too_large, seen.tight,
      seen.cannot_run);
  INFO(what);
  CHECK(checked > count / 2);
  for (const unsigned number : {seen.uneven, seen.unknown_epochs, seen.too_large, seen.cannot_run})
    CHECK(number > count / 100);
  if (std::getenv("FORETRAIN_ACCOUNTS") != nullptr) WARN(what);
}

TEST_CASE("law: the largest batch of random jobs fits, the next does not, whatever batch was asked for") {
  const unsigned count = job_count(), checked = check_drawn_jobs(count, check_largest_batch);
  CHECK(checked > count / 2);
}

TEST_CASE("law: the largest micro-batch of a layout fits, the next does not, whatever was asked for") {
  test::use_source_catalogs();
  const auto memory_of = [](int tensor, const std::string& more, std::int64_t micro_batch) {
    ScenarioOverrides overrides;
    overrides.model = "llama3_8b", overrides.cluster = "mahti", overrides.gpus = {8};
    overrides.settings = {"model.precision=bf16",
                          "parallel.shard=optimizer",
                          "parallel.sequence=2048",
                          more,
                          fmt::format("parallel.tensor={}", tensor),
                          fmt::format("parallel.micro_batch={}", micro_batch)};
    const Scenario scenario = make_scenario(overrides);
    PointPredictor points(scenario, 8);
    Decisions unused;
    return points.point(8, unused);
  };
  for (const int tensor : {4, 8}) {
    for (const char* more : {"parallel.global_batch=64", "parallel.recompute=full", "parallel.pipeline=1"}) {
      INFO("tensor " << tensor << ", " << more);
      const std::int64_t most = memory_of(tensor, more, 1).largest_batch;
      REQUIRE(most > 1);
      for (const std::int64_t batch : {std::int64_t{2}, most, most + 1}) {
        INFO("micro-batch " << batch << ", largest " << most);
        const PredictionPoint p = memory_of(tensor, more, batch);
        CHECK(p.largest_batch == most);
        CHECK(p.fits() == (batch <= most));
      }
    }
  }
}

}  // namespace account_laws
