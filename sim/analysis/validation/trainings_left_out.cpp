// Trainings with clusters, GPUs or publications left out: their losses with anchors, their kernels without.
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/analysis/validation/left_out_fit.hpp"
#include "sim/analysis/validation/left_out_scores.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

/// Nothing that is not modelled takes a hundred times the step.
constexpr double kMostLoss = 100;
constexpr double kMostScatter = 2;
constexpr int kHalvings = 40;
/// Of the rows, on the faster side: what an interval of 90 % leaves out below.
constexpr double kOneSided = 0.95;

struct TrainingRow {
  const ValidatedPoint* point;
  std::string series;
};

std::vector<TrainingRow> rows_of(const Validation& v) {
  std::vector<TrainingRow> out;
  for (const ValidatedSeries& series : v.series)
    for (const ValidatedPoint& p : series.points) out.push_back({&p, series.series});
  return out;
}

/// -1 where the row has a time, 1 where it has a throughput.
double sign_of(const ValidatedPoint& p) {
  using M = Measurement::Metric;
  return p.row.metric == M::step_s || p.row.metric == M::epoch_s ? -1 : 1;
}

/// log of predicted over measured throughput: positive where the prediction is too fast.
double residual_of(const ValidatedPoint& p) { return sign_of(p) * std::log(p.predicted / p.measured); }

constexpr std::string_view kHostKind = "host";

std::string_view kind_name(NetworkKind kind) { return kNetworkKindNames[static_cast<std::size_t>(kind)]; }

class TrainingsLeftOut {
 public:
  TrainingsLeftOut(const MeasurementFile& file, LeftOutBy by, const ValidationOptions& options,
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
    const LeftOutFit fit = make_fit(rows);
    out.constants = fit.constants();
    std::vector<ScoredRow> scored = scored_rows(rows, fit);
    if (options_.anchor)
      add_needed_losses(rows, scored, out);
    else
      add_needed_kernels(rows, scored, out);
    add_scores(scored, out);
    add_measured(rows, out);
    return out;
  }

 private:
  const ClusterSpec& cluster(const std::string& name) {
    const auto [known, is_new] = clusters_.try_emplace(name);
    if (is_new) known->second = open_cluster(name);
    return known->second;
  }

  std::string key_of(const TrainingRow& row) const {
    if (by_ == LeftOutBy::cluster) return machine_of(clusters_.at(row.point->row.cluster));
    return by_ == LeftOutBy::gpu ? row.point->row.gpu : sources_.at(row.point->evidence.line);
  }

  LeftOutFit make_fit(const std::vector<TrainingRow>& rows) {
    std::vector<LeftOutRow> seen;
    for (const TrainingRow& row : rows) {
      const ClusterSpec& its = cluster(row.point->row.cluster);
      seen.push_back({key_of(row), &its, residual_of(*row.point)});
    }
    const auto residuals = [&](const std::function<ClusterSpec(ClusterSpec)>& change) {
      ValidationOptions trial = options_;
      trial.change = change, trial.intervals = false;
      const Validation v = validate(file_, trial);
      std::vector<double> out;
      for (const TrainingRow& row : rows_of(v)) out.push_back(residual_of(*row.point));
      out.resize(rows.size(), 0);
      return out;
    };
    return {std::move(seen), options_.anchor ? loss_trials() : kernel_trials(), residuals, progress_};
  }

  std::vector<ScoredRow> scored_rows(const std::vector<TrainingRow>& rows, const LeftOutFit& fit) const {
    const std::vector<double> all = fit.of_all();
    std::map<std::string, std::vector<double>> without;
    std::vector<ScoredRow> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string key = key_of(rows[i]);
      const auto [x, is_new] = without.try_emplace(key);
      if (is_new) x->second = fit.without(key);
      out.push_back({key, residual_of(*rows[i].point), fit.residual(i, all), fit.residual(i, x->second)});
      const ValidatedPoint& p = *rows[i].point;
      out.back().views = {p.row.strategy, fmt::format("{} on {}", p.row.strategy, p.row.cluster)};
      if (p.linear > 0) out.back().linear = residual_of(p) + std::log(p.linear / p.predicted) * sign_of(p);
    }
    return out;
  }

  /// What makes jobs faster than predicted, by framework: nineteen of twenty rows may not be faster still.
  std::map<std::string, KnownTo> add_scatter(const std::vector<TrainingRow>& rows,
                                             const std::vector<ScoredRow>& scored, LeaveOneOut& out) const {
    std::vector<ScoredRow> both;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowEvidence& e = rows[i].point->evidence;
      if (!e.beyond) continue;
      ScoredRow row = scored[i];
      row.needed_seen = needed_scatter(e, std::exp(row.in_use), draws_);
      row.needed_unseen = needed_scatter(e, std::exp(row.left_out), draws_);
      row.evidence = {std::string(name_of(e.framework))};
      both.push_back(row);
    }
    const std::map<std::string, KnownTo> spreads = spreads_by_evidence(both, kOneSided);
    for (const auto& [framework, known] : spreads)
      out.evidence.push_back({fmt::format("SCATTER({}, {:.4f}, {:.4f}, {}, {})", framework, known.seen,
                                          known.unseen, known.rows, known.machines)});
    return spreads;
  }

  /// On the reference's nodes by framework; by nodes how much more than that.
  void add_needed_losses(const std::vector<TrainingRow>& rows, std::vector<ScoredRow>& scored,
                         LeaveOneOut& out) {
    const std::map<std::string, KnownTo> scatter = add_scatter(rows, scored, out);
    std::vector<ScoredRow> on_one;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      RowEvidence e = rows[i].point->evidence;
      const std::string framework(name_of(e.framework));
      ScoredRow& row = scored[i];
      const auto known = scatter.find(framework);
      if (known != scatter.end() && e.beyond) set_scatter(e.response, known->second.seen);
      row.needed_seen = needed_loss(e, std::exp(row.in_use), draws_);
      if (known != scatter.end() && e.beyond) set_scatter(e.response, known->second.unseen);
      row.needed_unseen = needed_loss(e, std::exp(row.left_out), draws_);
      if (node_class(e.more_nodes) > 0) continue;
      on_one.push_back(row);
      on_one.back().evidence = {framework};
    }
    scale_by_framework(rows, scored, spreads_by_evidence(on_one), out);
    add_growth(scored, out);
  }

  static void scale_by_framework(const std::vector<TrainingRow>& rows, std::vector<ScoredRow>& scored,
                                 const std::map<std::string, KnownTo>& of_one, LeaveOneOut& out) {
    for (const auto& [framework, known] : of_one)
      out.evidence.push_back({fmt::format("LOSS({}, {:.4f}, {:.4f}, {}, {})", framework, known.seen,
                                          known.unseen, known.rows, known.machines)});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowEvidence& e = rows[i].point->evidence;
      const auto known = of_one.find(std::string(name_of(e.framework)));
      const double one = known != of_one.end() && known->second.seen > 0 ? known->second.seen : 1;
      scored[i].needed_seen /= one, scored[i].needed_unseen /= one;
      scored[i].evidence = {fmt::format("{} times the nodes", kNodeClassNames[node_class(e.more_nodes)])};
    }
  }

  static void add_growth(const std::vector<ScoredRow>& scored, LeaveOneOut& out) {
    const std::map<std::string, KnownTo> spreads = spreads_by_evidence(scored);
    double most = 1;
    for (std::size_t place = 0; place < kNodeClassNames.size(); ++place) {
      const auto known = spreads.find(fmt::format("{} times the nodes", kNodeClassNames[place]));
      if (known == spreads.end()) continue;
      most = place == 0 ? 1 : std::max(most, known->second.seen);
      out.evidence.push_back({fmt::format("GROWTH({}, {:.3f}, {}, {})", place, most, known->second.rows,
                                          known->second.machines)});
    }
  }

  /// A row is evidence of what most of its step takes: of the host, or of kernels by the kind of network.
  void add_needed_kernels(const std::vector<TrainingRow>& rows, std::vector<ScoredRow>& scored,
                          LeaveOneOut& out) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ScoredRow& row = scored[i];
      const RowEvidence& e = rows[i].point->evidence;
      const double share = e.host > 0.5 ? e.host : 1;
      row.needed_seen = needed_of_part(row.in_use, share);
      row.needed_unseen = needed_of_part(row.left_out, share);
      row.evidence = {std::string(share < 1 ? kHostKind : kind_name(e.network)),
                      std::string(kind_name(NetworkKind::any))};
    }
    drop_rare_kinds(scored);
    for (const auto& [name, known] : spreads_by_evidence(scored)) {
      const std::string begin = name == kHostKind ? "HOST(" : fmt::format("KERNELS({}, ", name);
      out.evidence.push_back({fmt::format("{}{:.3f}, {:.3f}, {}, {})", begin, known.seen, known.unseen,
                                          known.rows, known.machines)});
    }
  }

  void add_measured(const std::vector<TrainingRow>& rows, LeaveOneOut& out) const {
    std::set<std::string> names;
    for (const TrainingRow& row : rows)
      names.insert(options_.anchor ? row.point->row.cluster : row.point->row.gpu);
    for (const std::string& name : names)
      out.evidence.push_back(
          {fmt::format("MEASURED({}, \"{}\")", options_.anchor ? "trainings" : "gpus", name)});
  }

  const MeasurementFile& file_;
  LeftOutBy by_;
  const ValidationOptions& options_;
  const Progress& progress_;
  Draws draws_;
  std::map<int, std::string> sources_;
  std::map<std::string, ClusterSpec> clusters_;
};

Interval interval_with(StepResponse response, double predicted_loss, double mean, const Draws& draws) {
  set_unmodelled(response, mean, predicted_loss);
  return step_interval(1, step_factors(response, draws, 1));
}

/// The least value up to `most` for which `fits` holds, which holds from there on; infinite when for none.
template <class Fits>
double least_that_fits(double most, const Fits& fits) {
  if (fits(0.0)) return 0;
  if (!fits(most)) return std::numeric_limits<double>::infinity();
  double low = 0, high = most;
  for (int i = 0; i < kHalvings && high - low > 1e-4; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double needed_of_part(double residual, double share) {
  // Positive where the prediction is too fast: the part takes longer.
  const double times = 1 + std::expm1(residual) / share;
  return times > 0 ? std::abs(std::log(times)) / kReach : std::numeric_limits<double>::infinity();
}

double needed_scatter(const RowEvidence& e, double ratio, const Draws& draws) {
  return least_that_fits(kMostScatter, [&](double spread) {
    StepResponse response = e.response;
    set_scatter(response, spread);
    return interval_with(response, e.predicted_loss, 0, draws).low_s <= ratio;
  });
}

double needed_loss(const RowEvidence& e, double ratio, const Draws& draws) {
  // A loss moves the upper end; what is faster than the interval without any is the scatter's.
  if (interval_with(e.response, e.predicted_loss, 0, draws).low_s > ratio)
    return std::numeric_limits<double>::infinity();
  return least_that_fits(e.beyond ? kMostLoss : 0, [&](double mean) {
    return ratio <= interval_with(e.response, e.predicted_loss, mean, draws).high_s;
  });
}

LeaveOneOut leave_one_out(const MeasurementFile& file, LeftOutBy by, const ValidationOptions& options,
                          const Progress& progress) {
  return TrainingsLeftOut(file, by, options, progress).scores();
}

}  // namespace foretrain
