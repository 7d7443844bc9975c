// Writes cases: one line of CSV for each scored row, with prediction, measurement, interval, and every
// feature that the interval depends on. tools/fit_spreads reads them.
//
// Times are in seconds, those of collectives in microseconds, and memory is in GB. The columns NAME and
// NAME_below are a feature's values for the upper and the lower end of the interval.
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/analysis/spreads/spread_table.hpp"
#include "sim/analysis/validation/leave_one_out.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

// The facts that identify a case, besides its features.
struct WrittenCase {
  std::string source, series, cluster, gpu, model, strategy, precision;
  double size = 0;
  int gpus = 1, nodes = 1;
  // Seconds; microseconds for collectives; GB for memory.
  double measured = 0, predicted = 0, low = 0, high = 0;
};

/// Returns the header. Each feature has two columns, for the upper and the lower end of the interval.
std::string cases_header() {
  std::string out =
      "kind,source,series,cluster,gpu,model,strategy,precision,size,gpus,nodes,measured,predicted,low,high,"
      "path";
  for (const SpreadFeature& feature : spread_features()) out += fmt::format(",{0},{0}_below", feature.name);
  return out + "\n";
}

/// Returns the line of a case.
std::string case_line(const WrittenCase& row, const SpreadCase& known) {
  std::string out(kSpreadOfNames[static_cast<std::size_t>(known.what)]);
  for (const std::string& text :
       {publication_of(row.source), row.series, row.cluster, row.gpu, row.model, row.strategy, row.precision})
    out += "," + csv_field(text);
  out +=
      fmt::format(",{:.6g},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{}", row.size, row.gpus, row.nodes, row.measured,
                  row.predicted, row.low, row.high, kMessagePathNames[static_cast<std::size_t>(known.path)]);
  for (const SpreadFeature& feature : spread_features()) {
    const FeatureValue value = feature.value(known);
    out += fmt::format(",{:.4g},{:.4g}", value.above, value.below);
  }
  return out + "\n";
}

/// Returns true when larger values are better; cases are written as times, so rates are inverted.
bool is_rate(Measurement::Metric metric) {
  return metric == Measurement::Metric::samples_per_s || metric == Measurement::Metric::rate;
}

}  // namespace

// Each scored row of a training run is a line.
std::string write_training_cases(const Validation& validation, const ValidationTableOptions& /*options*/) {
  std::string out = cases_header();
  for (const ValidatedSeries& series : validation.series) {
    for (const ValidatedPoint& p : series.points) {
      WrittenCase row{p.evidence.source, series.series,  p.row.cluster,  p.row.gpu,
                      p.row.model,       p.row.strategy, p.row.precision};
      row.size = static_cast<double>(p.row.batch_per_gpu), row.gpus = p.gpus, row.nodes = p.row.nodes;
      row.measured = p.measured, row.predicted = p.predicted, row.low = p.low, row.high = p.high;
      if (is_rate(p.row.metric))
        row.measured = 1 / p.measured, row.predicted = 1 / p.predicted, row.low = 1 / p.high,
        row.high = 1 / p.low;
      out += case_line(row, p.evidence.spread_case);
    }
  }
  return out;
}

// Every size of a collective is a line.
std::string write_collective_cases(const CollectiveValidation& validation) {
  std::string out = cases_header();
  for (const ValidatedCollectiveSeries& series : validation.series) {
    for (const ValidatedCollective& p : series.points) {
      WrittenCase row{p.source,
                      series.series,
                      series.cluster,
                      "",
                      series.op,
                      std::string(p.algorithm),
                      std::string(name_of(p.protocol))};
      row.size = static_cast<double>(p.bytes), row.gpus = series.gpus, row.nodes = series.nodes;
      row.measured = p.measured, row.predicted = p.predicted, row.low = p.low, row.high = p.high;
      out += case_line(row, p.spread_case);
    }
  }
  return out;
}

// A row may have a step time and a memory size; both are cases.
std::string write_large_model_cases(const LargeModelValidation& validation,
                                    const std::vector<GroupKeys>& /*groups*/) {
  std::string out = cases_header();
  for (const ValidatedLargeModel& p : validation.points) {
    WrittenCase row{p.source, p.tag, p.cluster, p.row->gpu, p.row->model, p.row->framework, p.row->precision};
    row.size = static_cast<double>(p.row->micro_batch.value_or(0)), row.gpus = p.row->gpus,
    row.nodes = p.row->nodes;
    row.measured = p.row->step_s, row.predicted = p.predicted_s, row.low = p.low_s, row.high = p.high_s;
    if (p.row->step_s > 0 && !p.is_anchor) out += case_line(row, p.spread_case);
    SpreadCase memory = p.spread_case;
    memory.what = SpreadOf::memory;
    row.measured = p.row->memory_gb, row.predicted = p.predicted_gb;
    row.low = row.predicted * std::exp(-memory_reach().below);
    row.high = row.predicted * std::exp(memory_reach().above);
    if (p.row->memory_gb > 0) out += case_line(row, memory);
  }
  return out;
}

// Verdicts on fitting have no interval.
std::string write_fine_tuning_cases(const FineTuningValidation& validation,
                                    const std::vector<GroupKeys>& /*groups*/) {
  std::string out = cases_header();
  for (const ValidatedFineTuning& p : validation.points) {
    const FineTuningMeasurement& r = *p.row;
    if (r.metric == FineTuningMeasurement::Metric::fits) continue;
    WrittenCase row{r.source, r.method, "", p.gpu, p.model, r.strategy, r.weights};
    row.size = static_cast<double>(r.micro_batch.value_or(0)), row.gpus = r.gpus;
    row.measured = r.value, row.predicted = p.predicted, row.low = p.low, row.high = p.high;
    const bool is_time = r.metric != FineTuningMeasurement::Metric::memory_gb;
    if (is_time && r.metric != FineTuningMeasurement::Metric::step_s)
      row.measured = 1 / r.value, row.predicted = 1 / p.predicted, row.low = 1 / p.high, row.high = 1 / p.low;
    SpreadCase known = p.spread_case;
    if (!is_time) known.what = SpreadOf::memory;
    out += case_line(row, known);
  }
  return out;
}

}  // namespace foretrain
