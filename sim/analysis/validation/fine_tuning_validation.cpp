// A distinct job is predicted once; its rows read memory or time from that prediction.
#include "sim/analysis/validation/fine_tuning_validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/scenario/gpu_servers.hpp"

namespace foretrain {

namespace {

using TuningMetric = FineTuningMeasurement::Metric;

/// Returns the scenario of a row on a server with only that kind of GPU. FSDP on one GPU shards nothing, so
/// it runs as a single process.
ScenarioOverrides tuning_overrides(const FineTuningCase& job) {
  ScenarioOverrides overrides;
  overrides.model = job.model, overrides.cluster = std::string(kGpuServer) + job.gpu;
  overrides.strategy = job.row->gpus == 1 && job.strategy.starts_with("fsdp") ? "single" : job.strategy;
  overrides.batch = *job.row->micro_batch;
  overrides.gpus = {job.row->gpus};
  overrides.settings = job.settings;
  return overrides;
}

/// The point of one job, or the reason why it cannot be predicted.
struct PredictedTuning {
  PredictionPoint point;
  std::string why_not;
  SpreadCase spread_case{};
};

/// Predictions by job; rows of one job share them.
class TunedJobs {
 public:
  const PredictedTuning& of(const FineTuningCase& job) {
    const ScenarioOverrides overrides = tuning_overrides(job);
    const std::string key =
        fmt::format("{} {} {} {} {} {}", overrides.model, overrides.cluster, overrides.strategy,
                    *overrides.batch, job.row->gpus, fmt::join(overrides.settings, " "));
    const auto [known, is_new] = known_.try_emplace(key);
    if (is_new) known->second = predicted(overrides);
    return known->second;
  }

 private:
  static PredictedTuning predicted(const ScenarioOverrides& overrides) {
    try {
      const Scenario scenario = make_scenario(overrides);
      const int gpus = scenario.gpus.front();
      // The whole prediction is needed, because its point has memory and intervals.
      const Prediction prediction = predict(scenario);
      PointPredictor points(scenario, gpus);
      points.set_device(default_device_model(scenario));
      return {prediction.points.front(), "", Intervals(points).step_case_on(gpus)};
    } catch (const InputError& error) {
      return {{}, error.what()};
    }
  }

  std::map<std::string, PredictedTuning> known_;
};

/// Returns the tokens of an optimizer step.
double tuning_tokens(const FineTuningMeasurement& row, const PredictionPoint& point) {
  return static_cast<double>(point.global_batch) * static_cast<double>(row.sequence.value_or(0));
}

/// Returns the memory in GB as the source counts it: tensors ("allocated", "active"), what the allocator
/// holds ("reserved"), or everything that nvidia-smi shows. Words of the notes decide.
double memory_as_read(const FineTuningMeasurement& row, const MemoryUse& memory) {
  constexpr double kGb = 1e9;
  const double allocated = static_cast<double>((memory.total() - memory.framework).count) / kGb;
  const double all = static_cast<double>(memory.total().count) / kGb;
  if (row.notes_say("RESERVED") || row.notes_say("reserved"))
    return std::min(all, (1 + kAllocatorShare) * allocated);
  const bool is_tensors = row.notes_say("ALLOCATED") || row.notes_say("llocated") ||
                          row.notes_say("ACTIVE") || row.notes_say("max RAM") || row.notes_say("table 2");
  return is_tensors ? allocated : all;
}

/// Returns the step in the row's unit. litgpt's "iteration" is a micro-step.
double time_as_read(const FineTuningMeasurement& row, const PredictionPoint& point, double step_s) {
  switch (row.metric) {
    case TuningMetric::step_s:
      return row.notes_say("MICRO-BATCH") ? step_s / static_cast<double>(row.accumulation.value_or(1))
                                          : step_s;
    case TuningMetric::tokens_per_s:
      return tuning_tokens(row, point) / step_s;
    default:
      return static_cast<double>(point.global_batch) / step_s;
  }
}

/// Combines a row with its prediction. The ends of a rate's interval change places, because a longer step
/// means a lower rate.
ValidatedFineTuning validated_tuning(const FineTuningCase& job, const PredictedTuning& predicted) {
  const PredictionPoint& point = predicted.point;
  constexpr double kGb = 1e9;
  const FineTuningMeasurement& row = *job.row;
  ValidatedFineTuning out{.row = &row, .model = job.model, .gpu = job.gpu};
  out.spread_case = predicted.spread_case;
  out.total_gb = static_cast<double>(point.memory.total().count) / kGb;
  out.allocated_gb = static_cast<double>((point.memory.total() - point.memory.framework).count) / kGb;
  if (row.metric == TuningMetric::memory_gb) {
    out.predicted = memory_as_read(row, point.memory);
    out.low = out.predicted * std::exp(-memory_reach().below);
    out.high = out.predicted * std::exp(memory_reach().above);
  } else if (row.metric == TuningMetric::fits) {
    out.predicted = chance_of_fitting(point);
  } else {
    out.predicted = time_as_read(row, point, point.step_s);
    out.low = std::min(time_as_read(row, point, point.interval.low_s),
                       time_as_read(row, point, point.interval.high_s));
    out.high = std::max(time_as_read(row, point, point.interval.low_s),
                        time_as_read(row, point, point.interval.high_s));
  }
  return out;
}

/// A key with the function that reads its value.
struct TuningKeyRow {
  std::string_view name;
  std::string (*value)(const ValidatedFineTuning& point);
};

constexpr TuningKeyRow kTuningKeyRows[] = {
    {"grade", [](const ValidatedFineTuning& p) { return std::string(1, p.row->grade()); }},
    {"source", [](const ValidatedFineTuning& p) { return p.row->source; }},
    {"model", [](const ValidatedFineTuning& p) { return p.model; }},
    {"method", [](const ValidatedFineTuning& p) { return p.row->method; }},
    {"weights", [](const ValidatedFineTuning& p) { return p.row->weights; }},
    {"gpu", [](const ValidatedFineTuning& p) { return p.gpu; }},
    {"gpus", [](const ValidatedFineTuning& p) { return std::to_string(p.row->gpus); }},
    {"strategy", [](const ValidatedFineTuning& p) { return p.row->strategy; }},
};

}  // namespace

FineTuningValidation validate_fine_tunings(const std::vector<FineTuningMeasurement>& rows,
                                           const Progress& progress) {
  FineTuningValidation validation;
  validation.rows = static_cast<int>(rows.size());
  TunedJobs jobs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FineTuningCase job = fine_tuning_case(rows[i]);
    if (progress) progress(static_cast<double>(i) / static_cast<double>(rows.size()));
    if (!job.why_not.empty()) {
      validation.skipped.push_back({rows[i].line, job.why_not});
      continue;
    }
    const PredictedTuning& predicted = jobs.of(job);
    if (!predicted.why_not.empty())
      validation.skipped.push_back({rows[i].line, predicted.why_not});
    else
      validation.points.push_back(validated_tuning(job, predicted));
  }
  return validation;
}

const std::vector<std::string>& fine_tuning_keys() {
  static const std::vector<std::string> kNames = names_of_rows(kTuningKeyRows);
  return kNames;
}

namespace {

/// Returns the identity of rows that a common calibration applies to: one source, network, method, kind of
/// GPU and metric.
std::string tuning_series(const ValidatedFineTuning& p) {
  return fmt::format("{} {} {} {} {}", p.row->source, p.model, p.row->method, p.gpu,
                     static_cast<int>(p.row->metric));
}

/// Calibration of each series by its first row: measured over predicted.
class TuningCalibration {
 public:
  /// Returns the calibrated relative error; nothing for the row that calibrates.
  std::optional<double> error_of(const ValidatedFineTuning& p) {
    const auto [first, is_new] = ratio_.try_emplace(tuning_series(p), p.row->value / p.predicted);
    if (is_new) return std::nullopt;
    return p.predicted * first->second / p.row->value - 1;
  }

 private:
  std::map<std::string, double> ratio_;
};

}  // namespace

std::vector<ErrorGroup> group_fine_tunings(const FineTuningValidation& validation, const GroupKeys& keys,
                                           const std::function<bool(const ValidatedFineTuning&)>& is_wanted) {
  struct Rows {
    std::vector<double> errors;
    int inside = 0, with_interval = 0;
  };
  std::map<std::vector<std::string>, Rows> found;
  TuningCalibration calibration;
  for (const ValidatedFineTuning& p : validation.points) {
    // Verdicts have no relative error; fits_score() counts them.
    if (p.row->metric == TuningMetric::fits || !is_wanted(p)) continue;
    std::vector<std::string> values{p.row->metric == TuningMetric::memory_gb ? "memory" : "time"};
    for (const std::string& key : keys) values.push_back(find_row(kTuningKeyRows, key)->value(p));
    Rows& rows = found[values];
    rows.errors.push_back(p.error());
    // Times are counted twice: as predicted, and calibrated by the first row of its series.
    if (values.front() == "time") {
      const std::optional<double> calibrated = calibration.error_of(p);
      values.front() = "time, calibrated by a row";
      if (calibrated) found[values].errors.push_back(*calibrated);
    }
    if (p.high <= 0) continue;
    ++rows.with_interval;
    if (p.low <= p.row->value && p.row->value <= p.high) ++rows.inside;
  }
  std::vector<ErrorGroup> groups;
  for (auto& [values, rows] : found) {
    ErrorGroup& group = groups.emplace_back();
    group.values = values, group.rows = static_cast<int>(rows.errors.size());
    group.error = statistics_of(rows.errors);
    group.coverage = rows.with_interval > 0 ? static_cast<double>(rows.inside) / rows.with_interval : 0;
  }
  return groups;
}

FitsScore fits_score(const FineTuningValidation& validation) {
  FitsScore score;
  for (const ValidatedFineTuning& p : validation.points) {
    if (p.row->metric == TuningMetric::fits && p.row->value == 0) {
      ++score.failed, score.failed_right += p.predicted < kProbablyFits ? 1 : 0;
    } else if (p.row->metric == TuningMetric::fits) {
      ++score.ran, score.ran_right += p.predicted >= kProbablyFits ? 1 : 0;
    }
  }
  return score;
}

}  // namespace foretrain
