// Cross-validation of trainings: the losses of many GPUs with anchors, the constants of kernels without.
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/analysis/validation/held_out_fit.hpp"
#include "sim/analysis/validation/held_out_scores.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

/// A scored row of a validation with its series.
struct TrainingRow {
  const ValidatedPoint* point;
  std::string series;
};

/// Returns all scored rows; the pointers are those of the validation.
std::vector<TrainingRow> rows_of(const Validation& v) {
  std::vector<TrainingRow> out;
  for (const ValidatedSeries& series : v.series)
    for (const ValidatedPoint& p : series.points) out.push_back({&p, series.series});
  return out;
}

/// Returns -1 where the row has a time, 1 where it has a throughput.
double sign_of(const ValidatedPoint& p) {
  using M = Measurement::Metric;
  return p.row.metric == M::step_s || p.row.metric == M::epoch_s ? -1 : 1;
}

/// Returns the logarithm of predicted over measured throughput: positive where the prediction is too fast.
double residual_of(const ValidatedPoint& p) { return sign_of(p) * std::log(p.predicted / p.measured); }

/// Cross-validates the rows of one file.
class CrossValidatedTrainings {
 public:
  CrossValidatedTrainings(const MeasurementFile& file, HoldOutUnit by, const ValidationOptions& options,
                          const Progress& progress)
      : file_(file), by_(by), options_(options), progress_(progress) {
    for (const Measurement& m : file.scaling) sources_[m.line] = publication_of(m.source);
  }

  LeaveOneOut scores() {
    LeaveOneOut out;
    out.by = by_, out.kind = options_.anchor ? "scaling" : "one GPU";
    ValidationOptions own = options_;
    own.evidence = true;
    const Validation base = validate(file_, own, progress_);
    const std::vector<TrainingRow> rows = rows_of(base);
    for (const UnreachedAnchor& anchor : base.unreached)
      out.unscored += static_cast<int>(anchor.unscored.size());
    const HeldOutFit fit = make_fit(rows);
    out.constants = fit.constants();
    add_scores(scored_rows(rows, fit), out);
    return out;
  }

 private:
  const ClusterSpec& cluster(const std::string& name) {
    const auto [known, is_new] = clusters_.try_emplace(name);
    if (is_new) known->second = open_cluster(name);
    return known->second;
  }

  /// Returns the unit that a row is held out with.
  std::string key_of(const TrainingRow& row) const {
    if (by_ == HoldOutUnit::cluster) return machine_of(clusters_.at(row.point->row.cluster));
    return by_ == HoldOutUnit::gpu ? row.point->row.gpu : sources_.at(row.point->line);
  }

  /// Makes the refit. A trial of a constant validates all rows again, and may lose some of them.
  HeldOutFit make_fit(const std::vector<TrainingRow>& rows) {
    std::vector<HeldOutRow> seen;
    for (const TrainingRow& row : rows) {
      const ClusterSpec& its = cluster(row.point->row.cluster);
      seen.push_back({key_of(row), &its, residual_of(*row.point), row.point->line});
    }
    const std::vector<HeldOutRow> in_order = seen;
    const auto residuals = [&](const std::function<ClusterSpec(ClusterSpec)>& change) {
      ValidationOptions trial = options_;
      trial.change = change, trial.intervals = false;
      const Validation v = validate(file_, trial);
      std::map<int, double> by_line;
      for (const TrainingRow& row : rows_of(v)) by_line[row.point->line] = residual_of(*row.point);
      return trial_residuals(in_order, by_line);
    };
    return {std::move(seen), options_.anchor ? loss_trials() : kernel_trials(), residuals, progress_};
  }

  /// Returns the three residuals of every row, with its interval and groups.
  std::vector<ScoredRow> scored_rows(const std::vector<TrainingRow>& rows, const HeldOutFit& fit) const {
    const std::vector<double> all = fit.of_all();
    std::map<std::string, std::vector<double>> without;
    std::vector<ScoredRow> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string key = key_of(rows[i]);
      const auto [x, is_new] = without.try_emplace(key);
      if (is_new) x->second = fit.without(key);
      out.push_back({key, residual_of(*rows[i].point), fit.residual(i, all), fit.residual(i, x->second)});
      const ValidatedPoint& p = *rows[i].point;
      SpreadCase unmeasured = p.evidence.spread_case;
      unmeasured.is_measured = false;
      out.back().reach = reach_of(unmeasured);
      out.back().kind = options_.anchor ? kMessagePathNames[static_cast<std::size_t>(unmeasured.path)]
                                        : kNetworkKindNames[static_cast<std::size_t>(unmeasured.network)];
      out.back().views = {p.row.strategy, fmt::format("{} on {}", p.row.strategy, p.row.cluster)};
      if (p.linear > 0) out.back().linear = residual_of(p) + std::log(p.linear / p.predicted) * sign_of(p);
    }
    return out;
  }

  const MeasurementFile& file_;
  HoldOutUnit by_;
  const ValidationOptions& options_;
  const Progress& progress_;
  std::map<int, std::string> sources_;
  std::map<std::string, ClusterSpec> clusters_;
};

}  // namespace

LeaveOneOut leave_one_out(const MeasurementFile& file, HoldOutUnit by, const ValidationOptions& options,
                          const Progress& progress) {
  return CrossValidatedTrainings(file, by, options, progress).scores();
}

}  // namespace foretrain
