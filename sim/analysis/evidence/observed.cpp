// The validation predicts the rows; here each prediction is combined with the settings that evidence needs to
// know about the row.
#include "sim/analysis/evidence/observed.hpp"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/evidence/corrected_calls.hpp"
#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/leave_one_out.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

using Metric = Measurement::Metric;

bool metric_is_time(Metric metric) { return metric == Metric::step_s || metric == Metric::epoch_s; }

/// Returns the rows by line number, for columns that a validation does not repeat.
std::map<int, const Measurement*> rows_by_line(const MeasurementFile& file) {
  std::map<int, const Measurement*> out;
  for (const Measurement& m : file.scaling) out[m.line] = &m;
  return out;
}

/// Converts rows of training runs.
class TrainingEvidence {
 public:
  TrainingEvidence(const MeasurementFile& file, const ObservationOptions& options, const Progress& progress)
      : file_(file), options_(options), progress_(progress), lines_(rows_by_line(file)) {
    for (const Measurement& m : file.scaling)
      if (m.gpus == 1) with_one_gpu_.insert(m.series);
  }

  MeasuredEvidence evidence() {
    add(Observed::step, {1});
    add(Observed::ratio, {});
    if (options_.jobs) add(Observed::job, {});
    add_inputs();
    return std::move(out_);
  }

 private:
  /// Adds the inputs of the rows exactly as they were predicted.
  void add_inputs() {
    if (options_.source.empty()) return;
    std::vector<Measurement> rows = file_.scaling;
    name_several_workers(rows);
    apply_provenance(options_.provenance, rows);
    for (const Measurement& row : rows)
      if (auto input = input_of(row, options_.source)) out_.inputs.push_back(std::move(*input));
  }

  /// Validates the rows and adds those of one kind. Ratios are predicted with a calibration to their one-GPU
  /// row, so only scaling remains in them.
  void add(Observed what, const std::vector<int>& gpus) {
    ValidationOptions asked;
    asked.anchor = what == Observed::ratio, asked.gpus = gpus, asked.provenance = options_.provenance;
    asked.intervals = false, asked.evidence = true;
    const Validation v = validate(file_, asked, progress_);
    for (const ValidatedSeries& series : v.series)
      for (const ValidatedPoint& p : series.points) add_point(what, series.series, p);
    if (what != Observed::step) return;
    for (const SkippedRow& row : v.skipped)
      out_.skipped.push_back(fmt::format("line {}: {}", row.row, row.why));
  }

  /// Adds one row. Measured over predicted is taken in the row's own metric and applied to the predicted
  /// seconds. A quotient beyond kLargestQuotient means a wrong unit.
  void add_point(Observed what, const std::string& series, const ValidatedPoint& p) {
    if (what == Observed::ratio && (p.evidence.reference_gpus != 1 || p.gpus == 1)) return;
    if (what == Observed::job && (p.gpus == 1 || with_one_gpu_.contains(series))) return;
    Observation row = described(series, p);
    row.what = what;
    const double quotient =
        metric_is_time(p.row.metric) ? p.measured / p.predicted : p.predicted / p.measured;
    row.predicted = what == Observed::ratio ? ratio_of(p, p.predicted) : seconds_of(p, p.predicted);
    row.measured = row.predicted * quotient;
    if (quotient < kLargestQuotient && quotient > 1 / kLargestQuotient)
      out_.rows.push_back(std::move(row));
    else
      out_.refused.push_back(
          fmt::format("line {}: measured {:.6g}, expected about {:.4g}: is the unit wrong?", p.line,
                      p.measured, p.predicted));
  }

  Observation described(const std::string& series, const ValidatedPoint& p) const {
    const auto line = lines_.find(p.line);
    Observation row;
    row.source = options_.source.empty() && line != lines_.end() ? publication_of(line->second->source)
                                                                 : options_.source;
    row.run = series;
    row.model = p.row.model, row.gpu = p.row.gpu, row.cluster = p.row.cluster;
    row.network = kNetworkKindNames[static_cast<std::size_t>(p.evidence.network)];
    row.architecture = name_of_architecture(p.evidence.architecture);
    row.framework = name_of(p.evidence.framework), row.execution = name_of(p.evidence.execution);
    row.precision = p.row.precision, row.strategy = p.row.strategy;
    row.size = static_cast<double>(p.row.batch_per_gpu);
    row.gpus = p.gpus, row.nodes = p.row.nodes;
    row.version = options_.version;
    return row;
  }

  /// Returns a value of the row's metric as seconds of the step; an epoch keeps its own seconds.
  static double seconds_of(const ValidatedPoint& p, double value) {
    return metric_is_time(p.row.metric) ? value : static_cast<double>(p.row.batch_per_gpu) * p.gpus / value;
  }

  /// Returns the step over the reference's step: 1 for perfect scaling.
  static double ratio_of(const ValidatedPoint& p, double value) {
    return metric_is_time(p.row.metric) ? value / p.linear : p.linear / value;
  }

  const MeasurementFile& file_;
  const ObservationOptions& options_;
  const Progress& progress_;
  std::map<int, const Measurement*> lines_;
  /// Series with a row of one GPU.
  std::set<std::string> with_one_gpu_;
  MeasuredEvidence out_;
};

/// Converts rows of collectives.
class CollectiveEvidenceRows {
 public:
  CollectiveEvidenceRows(const MeasurementFile& file, const ObservationOptions& options) : options_(options) {
    for (const CollectiveMeasurement& m : file.collective) {
      sources_[m.line] = publication_of(m.source);
      if (auto input = options.source.empty() ? std::nullopt : input_of(m, options.source))
        out_.inputs.push_back(std::move(*input));
    }
  }

  MeasuredEvidence evidence(const CollectiveValidation& v) {
    for (const ValidatedCollectiveSeries& series : v.series)
      for (const ValidatedCollective& p : series.points) add(series, p);
    for (const SkippedRow& row : v.skipped)
      out_.skipped.push_back(fmt::format("line {}: {}", row.row, row.why));
    return std::move(out_);
  }

 private:
  void add(const ValidatedCollectiveSeries& series, const ValidatedCollective& p) {
    constexpr double kMicro = 1e-6;
    const double quotient = p.measured / p.predicted;
    if (!(quotient < kLargestQuotient && quotient > 1 / kLargestQuotient)) {
      out_.refused.push_back(
          fmt::format("line {}: measured {:.6g} us, expected about {:.4g}: is the unit wrong?", p.line,
                      p.measured, p.predicted));
      return;
    }
    Observation row =
        call_observation({series.cluster, series.op, p.kind, std::string(p.algorithm),
                          std::string(name_of(p.protocol)), p.bytes, series.gpus, series.nodes});
    row.source = options_.source.empty() ? sources_[p.line] : options_.source;
    row.run = series.series;
    row.measured = p.measured * kMicro, row.predicted = p.predicted * kMicro;
    row.version = options_.version;
    out_.rows.push_back(std::move(row));
  }

  const ObservationOptions& options_;
  std::map<int, std::string> sources_;
  MeasuredEvidence out_;
};

}  // namespace

MeasuredEvidence evidence_of(const MeasurementFile& file, const ObservationOptions& options,
                             const Progress& progress) {
  using Kind = MeasurementFile::Kind;
  if (file.kind == Kind::collective)
    return CollectiveEvidenceRows(file, options)
        .evidence(validate_collectives(file.collective, {}, progress));
  if (file.kind == Kind::scaling) return TrainingEvidence(file, options, progress).evidence();
  throw InputError("kernels and large models are no evidence yet",
                   "evidence add takes rows of training runs and of collectives");
}

}  // namespace foretrain
