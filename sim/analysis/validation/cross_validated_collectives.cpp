// Cross-validation of collectives. Their constants act through NCCL's choices, which are not linear, so each
// held-out group is predicted again with its refit.
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "sim/analysis/validation/held_out_fit.hpp"
#include "sim/analysis/validation/held_out_scores.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

/// Returns the reach of a residual, which grows with the prediction, so the ends of the interval change
/// places.
Reach of_residual(const Reach& reach) { return {reach.below, reach.above}; }

/// Cross-validates the rows that can be predicted; a row is identified by its index, which takes the place of
/// its line.
class CrossValidatedCollectives {
 public:
  CrossValidatedCollectives(std::vector<CollectiveMeasurement> rows, HoldOutUnit by,
                            const std::vector<std::string>& settings, const Progress& progress)
      : rows_(std::move(rows)), by_(by), settings_(settings), progress_(progress) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].line = static_cast<int>(i);
  }

  LeaveOneOut scores() {
    LeaveOneOut out;
    out.by = by_, out.kind = "collective";
    keep_predicted(out);
    const HeldOutFit fit = make_fit();
    out.constants = fit.constants();
    const std::vector<double> all = predicted_with(rows_, fit, fit.of_all());
    std::vector<ScoredRow> scored;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      scored.push_back({keys_[i], in_use_[i], all[i], 0, rows_[i].bytes >= kLargeMessage,
                        of_residual(reach_of(cases_[i])),
                        std::string(kMessagePathNames[static_cast<std::size_t>(cases_[i].path)])});
    for (std::size_t i = 0; i < rows_.size(); ++i) scored[i].views = views_of(i);
    leave_each_out(fit, scored);
    add_scores(scored, out);
    return out;
  }

 private:
  using Change = std::function<ClusterSpec(ClusterSpec)>;

  /// Returns the residuals by index of `rows`; a row that cannot be predicted has an infinite one. Fills the
  /// cases of intervals, as of a machine without measurements, if `cases` is given.
  std::vector<double> residuals(const std::vector<CollectiveMeasurement>& rows, const Change& change,
                                std::vector<SpreadCase>* cases = nullptr) {
    std::vector<CollectiveMeasurement> numbered = rows;
    for (std::size_t i = 0; i < numbered.size(); ++i) numbered[i].line = static_cast<int>(i);
    const CollectiveValidation v = validate_collectives(numbered, settings_, nullptr, {change, &searched_});
    std::vector<double> out(rows.size(), std::numeric_limits<double>::infinity());
    if (cases != nullptr) cases->resize(rows.size());
    for (const ValidatedCollectiveSeries& series : v.series) {
      for (const ValidatedCollective& p : series.points) {
        const auto row = static_cast<std::size_t>(p.line);
        out[row] = std::log(p.predicted / p.measured);
        if (cases != nullptr) (*cases)[row] = p.spread_case, (*cases)[row].is_measured = false;
      }
    }
    return out;
  }

  /// Keeps the rows that can be predicted, with their residuals, cases and held-out units.
  void keep_predicted(LeaveOneOut& out) {
    std::vector<SpreadCase> cases;
    const std::vector<double> all = residuals(rows_, nullptr, &cases);
    std::vector<CollectiveMeasurement> kept;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!std::isfinite(all[i])) continue;
      kept.push_back(rows_[i]), in_use_.push_back(all[i]), cases_.push_back(cases[i]);
    }
    out.unscored = static_cast<int>(rows_.size() - kept.size());
    rows_ = std::move(kept);
    for (const CollectiveMeasurement& row : rows_) {
      const auto [known, is_new] = clusters_.try_emplace(row.cluster);
      if (is_new) known->second = open_cluster(row.cluster);
      keys_.push_back(by_ == HoldOutUnit::cluster ? machine_of(known->second)
                      : by_ == HoldOutUnit::gpu   ? known->second.node.gpu.name
                                                  : publication_of(row.source));
    }
  }

  /// Makes the refit over all rows.
  HeldOutFit make_fit() {
    std::vector<HeldOutRow> rows;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows.push_back({keys_[i], &clusters_.at(rows_[i].cluster), in_use_[i]});
    return {std::move(rows), collective_trials(),
            [this](const Change& change) { return residuals(rows_, change); }, progress_};
  }

  /// Predicts rows with the constants moved by `x`.
  std::vector<double> predicted_with(const std::vector<CollectiveMeasurement>& rows, const HeldOutFit& fit,
                                     const std::vector<double>& x) {
    return residuals(rows, [&](ClusterSpec cluster) { return fit.with(std::move(cluster), x); });
  }

  /// Holds out each unit in turn and predicts its rows with the constants of the others.
  void leave_each_out(const HeldOutFit& fit, std::vector<ScoredRow>& scored) {
    const std::set<std::string> keys(keys_.begin(), keys_.end());
    for (const std::string& key : keys) {
      std::vector<std::size_t> places;
      std::vector<CollectiveMeasurement> own;
      for (std::size_t i = 0; i < rows_.size(); ++i)
        if (keys_[i] == key) places.push_back(i), own.push_back(rows_[i]);
      const std::vector<double> residuals = predicted_with(own, fit, fit.without(key));
      for (std::size_t i = 0; i < places.size(); ++i) scored[places[i]].left_out = residuals[i];
    }
  }

  /// Returns the further groups of a row: its operation, and whether one board with NVSwitches ran it by
  /// itself.
  std::vector<std::string> views_of(std::size_t row) const {
    static const std::set<std::string> kRooted{"broadcast", "reduce", "gather", "scatter"};
    const CollectiveMeasurement& m = rows_[row];
    const NodeSpec& node = clusters_.at(m.cluster).node;
    std::vector<std::string> out{kRooted.count(m.op) > 0 ? "rooted: broadcast, reduce, gather, scatter"
                                                         : m.op};
    if (m.nodes == 1 && node.nvswitches > 0 && node.gpus == 8)
      out.emplace_back("one board of eight with NVSwitches");
    return out;
  }

  std::vector<CollectiveMeasurement> rows_;
  HoldOutUnit by_;
  const std::vector<std::string>& settings_;
  const Progress& progress_;
  nccl::NodeGraphCache searched_;
  std::map<std::string, ClusterSpec> clusters_;
  std::vector<std::string> keys_;
  std::vector<double> in_use_;
  /// Cases of the rows' intervals, as of a machine without measurements.
  std::vector<SpreadCase> cases_;
};

}  // namespace

std::string publication_of(const std::string& source) { return source.substr(0, source.find_first_of(" @")); }

LeaveOneOut leave_one_out(const std::vector<CollectiveMeasurement>& rows, HoldOutUnit by,
                          const std::vector<std::string>& settings, const Progress& progress) {
  return CrossValidatedCollectives(rows, by, settings, progress).scores();
}

}  // namespace foretrain
