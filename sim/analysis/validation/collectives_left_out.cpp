// Collectives with clusters, GPUs or publications left out.
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "sim/analysis/validation/left_out_fit.hpp"
#include "sim/analysis/validation/left_out_scores.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

std::string word(MessagePath path) { return std::string(kMessagePathNames[static_cast<std::size_t>(path)]); }

/// As in evidence.inc: "nvlink, reductions, data".
std::string evidence_name(const CollectiveEvidence& kind) {
  return fmt::format("{}, {}, {}", word(kind.path), kOpFamilyNames[static_cast<std::size_t>(kind.family)],
                     kLongestPartNames[static_cast<std::size_t>(kind.part)]);
}

/// The rows that can be predicted, and how: every row by its place in the list.
class CollectivesLeftOut {
 public:
  CollectivesLeftOut(std::vector<CollectiveMeasurement> rows, LeftOutBy by,
                     const std::vector<std::string>& settings, const Progress& progress)
      : rows_(std::move(rows)), by_(by), settings_(settings), progress_(progress) {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].line = static_cast<int>(i);
  }

  LeaveOneOut scores() {
    LeaveOneOut out;
    out.by = by_, out.kind = "collective";
    keep_predicted(out);
    const LeftOutFit fit = make_fit();
    out.constants = fit.constants();
    const std::vector<double> all = predicted_with(rows_, fit, fit.of_all());
    std::vector<ScoredRow> scored;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      scored.push_back(
          {keys_[i], in_use_[i], all[i], 0, rows_[i].bytes >= kLargeMessage, 0, 0, witness_of(kinds_[i])});
    for (std::size_t i = 0; i < rows_.size(); ++i) scored[i].views = views_of(i);
    leave_each_out(fit, scored);
    drop_rare_kinds(scored);
    add_scores(scored, out);
    add_evidence(scored, out);
    return out;
  }

 private:
  using Change = std::function<ClusterSpec(ClusterSpec)>;

  /// By row of `rows`; what cannot be predicted has an infinite residual.
  std::vector<double> residuals(const std::vector<CollectiveMeasurement>& rows, const Change& change,
                                std::vector<CollectiveEvidence>* kinds = nullptr) {
    std::vector<CollectiveMeasurement> numbered = rows;
    for (std::size_t i = 0; i < numbered.size(); ++i) numbered[i].line = static_cast<int>(i);
    const CollectiveValidation v = validate_collectives(numbered, settings_, nullptr, {change, &searched_});
    std::vector<double> out(rows.size(), std::numeric_limits<double>::infinity());
    if (kinds != nullptr) kinds->resize(rows.size());
    for (const ValidatedCollectiveSeries& series : v.series) {
      for (const ValidatedCollective& p : series.points) {
        const auto row = static_cast<std::size_t>(p.line);
        out[row] = std::log(p.predicted / p.measured);
        if (kinds != nullptr) (*kinds)[row] = p.kind;
      }
    }
    return out;
  }

  void keep_predicted(LeaveOneOut& out) {
    std::vector<CollectiveEvidence> kinds;
    const std::vector<double> all = residuals(rows_, nullptr, &kinds);
    std::vector<CollectiveMeasurement> kept;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!std::isfinite(all[i])) continue;
      kept.push_back(rows_[i]), in_use_.push_back(all[i]), kinds_.push_back(kinds[i]);
    }
    out.unscored = static_cast<int>(rows_.size() - kept.size());
    rows_ = std::move(kept);
    for (const CollectiveMeasurement& row : rows_) {
      const auto [known, is_new] = clusters_.try_emplace(row.cluster);
      if (is_new) known->second = open_cluster(row.cluster);
      keys_.push_back(by_ == LeftOutBy::cluster ? machine_of(known->second)
                      : by_ == LeftOutBy::gpu   ? known->second.node.gpu.name
                                                : publication_of(row.source));
    }
  }

  LeftOutFit make_fit() {
    std::vector<LeftOutRow> rows;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows.push_back({keys_[i], &clusters_.at(rows_[i].cluster), in_use_[i]});
    return {std::move(rows), collective_trials(),
            [this](const Change& change) { return residuals(rows_, change); }, progress_};
  }

  std::vector<double> predicted_with(const std::vector<CollectiveMeasurement>& rows, const LeftOutFit& fit,
                                     const std::vector<double>& x) {
    return residuals(rows, [&](ClusterSpec cluster) { return fit.with(std::move(cluster), x); });
  }

  void leave_each_out(const LeftOutFit& fit, std::vector<ScoredRow>& scored) {
    const std::set<std::string> keys(keys_.begin(), keys_.end());
    for (const std::string& key : keys) {
      std::vector<std::size_t> places;
      std::vector<CollectiveMeasurement> own;
      for (std::size_t i = 0; i < rows_.size(); ++i)
        if (keys_[i] == key) places.push_back(i), own.push_back(rows_[i]);
      const std::vector<double> residuals = predicted_with(own, fit, fit.without(key));
      for (std::size_t i = 0; i < places.size(); ++i) {
        ScoredRow& row = scored[places[i]];
        row.left_out = residuals[i];
        row.needed_seen = std::abs(row.in_use) / kReach, row.needed_unseen = std::abs(row.left_out) / kReach;
      }
    }
  }

  /// Its operation, and whether a board with NVSwitches ran it by itself.
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

  /// Of its kind, of that on any path, and of all.
  static std::vector<std::string> witness_of(CollectiveEvidence kind) {
    std::vector<std::string> out{evidence_name(kind)};
    kind.path = MessagePath::any;
    out.push_back(evidence_name(kind)), out.push_back(evidence_name({}));
    return out;
  }

  void add_evidence(const std::vector<ScoredRow>& scored, LeaveOneOut& out) const {
    for (const auto& [name, known] : spreads_by_evidence(scored))
      out.evidence.push_back({fmt::format("COLLECTIVES({}, {:.3f}, {:.3f}, {}, {})", name, known.seen,
                                          known.unseen, known.rows, known.machines)});
    for (const auto& [name, spec] : clusters_)
      out.evidence.push_back({fmt::format("MEASURED(collectives, \"{}\")", name)});
  }

  std::vector<CollectiveMeasurement> rows_;
  LeftOutBy by_;
  const std::vector<std::string>& settings_;
  const Progress& progress_;
  nccl::NodeBook searched_;
  std::map<std::string, ClusterSpec> clusters_;
  std::vector<std::string> keys_;
  std::vector<double> in_use_;
  std::vector<CollectiveEvidence> kinds_;
};

}  // namespace

std::string publication_of(const std::string& source) { return source.substr(0, source.find_first_of(" @")); }

LeaveOneOut leave_one_out(const std::vector<CollectiveMeasurement>& rows, LeftOutBy by,
                          const std::vector<std::string>& settings, const Progress& progress) {
  return CollectivesLeftOut(rows, by, settings, progress).scores();
}

}  // namespace foretrain
