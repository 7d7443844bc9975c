// The median of the runs is the step that the model is calibrated to. Ratios and steps on further measured
// numbers of GPUs become factors on the calibrated model's values for these numbers.
#include "sim/analysis/evidence/measured_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/evidence/same_runs.hpp"

namespace foretrain {

namespace {

/// Runs of the very training on one number of GPUs, and the estimate of the next one.
struct SameRuns {
  Observation asked;
  std::vector<const StoredRow*> rows;
  Estimate estimate;
  bool are_own() const {
    return !asked.source.empty() && estimate.neighbours.front().row.source == asked.source;
  }
  double step_s() const { return asked.predicted * std::exp(estimate.log_factor); }
  double reach() const { return kStudentReach * estimate.spread; }
};

/// Returns the sources in words: "mvsjober/ml-benchmarks", "your own", or a count.
std::string sources_in_words(const SameRuns& runs) {
  if (runs.are_own()) return "your own";
  const std::vector<Neighbour>& sources = runs.estimate.neighbours;
  if (sources.size() > 2) return fmt::format("{} sources", sources.size());
  return sources.front().row.source + (sources.size() == 2 ? " and " + sources.back().row.source : "");
}

/// Calibrates one predictor.
class Calibrator {
 public:
  Calibrator(PointPredictor& points, int most_gpus, const EvidenceUse& use)
      : points_(points), scenario_(points.simulator().scenario()), most_gpus_(most_gpus), use_(use) {}

  /// Order matters: the device model is set before any further step is simulated.
  MeasuredCalibration calibrate() {
    // The user's own measurement decides; a failure to reach it is an error.
    if (scenario_.anchor) set(*scenario_.anchor, fit(*scenario_.anchor));
    if (use_.field == nullptr) return std::move(out_);
    const std::optional<SameRuns> first = calibrated_by();
    AppliedEvidence& evidence =
        out_.evidence.emplace(evidence_for(simulator(), use_, out_.anchor.has_value()));
    if (first) {
      add_first(*first, evidence);
      add_further(*first, evidence);
    }
    points_.set_correction(evidence.correction);
    return std::move(out_);
  }

 private:
  const StepSimulator& simulator() const { return points_.simulator(); }
  const EvidenceTable& table() const { return use_.field->table(); }
  Anchored fit(const Anchor& anchor) const { return fit_anchor(simulator(), points_.device(), anchor); }

  void set(const Anchor& anchor, Anchored anchored) {
    out_.anchor = anchor;
    points_.set_device(anchored.device);
    out_.anchored = std::move(anchored);
  }

  /// Returns true if runs of a store may calibrate the model. [measured] takes precedence, and runs describe
  /// the cluster as it is, not a hypothetically faster one.
  bool may_be_known() const {
    return has_evidence(scenario_) && !scenario_.anchor && scenario_.cluster.kernel_speed == 1 &&
           scenario_.cluster.link_speed == 1;
  }

  /// Returns the runs on one GPU, or else of the job on the fewest GPUs; the model then repeats them.
  std::optional<SameRuns> calibrated_by() {
    if (!may_be_known()) return std::nullopt;
    for (const Observed what : {Observed::step, Observed::job})
      for (const int gpus : numbers_with(what))
        if (auto runs = runs_on(what, gpus, simulator().step_s(gpus, points_.device()));
            runs && repeats(*runs))
          return runs;
    return std::nullopt;
  }

  /// Calibrates to these runs and returns true. Returns false for other sources' runs that make an
  /// implausible model, because they are wrong or of another training.
  bool repeats(const SameRuns& runs) {
    Anchor anchor;
    anchor.gpus = runs.asked.gpus, anchor.step_s = runs.step_s();
    try {
      Anchored anchored = fit(anchor);
      if (!is_plausible(anchored) && !runs.are_own()) return false;
      set(anchor, std::move(anchored));
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  /// Returns the numbers of GPUs, ascending, for which the store may have such runs; nothing is simulated for
  /// others.
  std::set<int> numbers_with(Observed what) const {
    const TextId model = table().find(scenario_.model.name), cluster = table().find(scenario_.cluster.name);
    std::set<int> out;
    for (const StoredRow& row : table().rows())
      if (row.what == what && row.text(RowText::model) == model && row.text(RowText::cluster) == cluster &&
          row.gpus <= most_gpus_ && may_be_on(row))
        out.insert(row.gpus);
    return out;
  }

  /// Returns true if the scenario runs on the row's GPUs, nodes and batch.
  bool may_be_on(const StoredRow& row) const {
    return simulator().model().why_not(scenario_, row.gpus).empty() &&
           row.nodes == simulator().placement(row.gpus).nodes &&
           row.size == static_cast<double>(simulator().batch_per_gpu(row.gpus));
  }

  /// Returns the runs on one number of GPUs if they may calibrate; `predicted` is the model's value for them.
  std::optional<SameRuns> runs_on(Observed what, int gpus, double predicted) const {
    SameRuns runs{
        ratio_question(scenario_, simulator().batch_per_gpu(gpus), gpus, simulator().placement(gpus).nodes),
        {},
        {}};
    runs.asked.what = what, runs.asked.source = use_.source, runs.asked.predicted = predicted;
    runs.rows = rows_of_same_run(table(), runs.asked);
    runs.estimate = estimate_by_same_runs(table(), runs.asked, runs.rows);
    if (!may_calibrate(runs.estimate, runs.asked)) return std::nullopt;
    return runs;
  }

  /// Adds the runs that the model repeats.
  void add_first(const SameRuns& first, AppliedEvidence& evidence) const {
    evidence.calibrated_on = first.asked.gpus;
    evidence.step = first.estimate;
    evidence.known.push_back({first.asked.gpus, first.reach(), first.reach()});
    evidence.measured.push_back(seconds_of(first, first));
  }

  /// Adds the measured numbers beyond the first. The field's slope describes unmeasured numbers only, so it
  /// is dropped if the largest number was measured, and subtracted from the factors of measured ones.
  void add_further(const SameRuns& first, AppliedEvidence& evidence) {
    std::map<int, SameRuns> further = further_runs(first);
    StepCorrection& correction = evidence.correction;
    if (const auto last = further.find(evidence.gpus); last != further.end()) {
      evidence.ratio = last->second.estimate;
      correction.per_doubling = 0;
    }
    const auto add = [&](int gpus, double log_factor) {
      if (gpus > 1)
        correction.measured.push_back({gpus, log_factor - correction.per_doubling * std::log2(gpus)});
    };
    add(first.asked.gpus, 0);
    for (const auto& [gpus, runs] : further) {
      add(gpus, runs.estimate.log_factor);
      const double both = std::hypot(first.reach(), runs.reach());
      const bool is_ratio = runs.asked.what == Observed::ratio;
      evidence.known.push_back({gpus, is_ratio ? both : runs.reach(), is_ratio ? runs.reach() : both});
      if (std::ranges::find(scenario_.gpus, gpus) != scenario_.gpus.end())
        evidence.measured.push_back(seconds_of(runs, first));
    }
    std::ranges::sort(correction.measured, {}, &MeasuredNumber::gpus);
  }

  /// Returns runs by number of GPUs. The user's own jobs come before ratios, and ratios before jobs of
  /// others.
  std::map<int, SameRuns> further_runs(const SameRuns& first) {
    std::map<int, SameRuns> out;
    const auto step = [this](int gpus) { return points_.step(gpus).step_s; };
    const bool has_ratios = first.asked.what == Observed::step;
    for (const int gpus : has_ratios ? numbers_with(Observed::ratio) : std::set<int>{})
      // A ratio refers to one GPU with the same batch, which strong scaling does not have.
      if (simulator().batch_per_gpu(gpus) == simulator().batch_per_gpu(1))
        if (auto runs = runs_on(Observed::ratio, gpus, step(gpus) / step(1)))
          out.emplace(gpus, std::move(*runs));
    for (const int gpus : numbers_with(Observed::job)) {
      if (gpus == first.asked.gpus) continue;
      auto runs = runs_on(Observed::job, gpus, step(gpus));
      if (runs && (runs->are_own() || !out.contains(gpus))) out.insert_or_assign(gpus, std::move(*runs));
    }
    return out;
  }

  /// Returns the measured seconds; a ratio is multiplied by the step of one GPU in the same series.
  MeasuredRuns seconds_of(const SameRuns& runs, const SameRuns& first) const {
    MeasuredRuns out{scenario_.cluster.name, sources_in_words(runs), static_cast<int>(runs.rows.size()),
                     runs.asked.gpus,        runs.step_s(),          runs.step_s()};
    std::vector<double> seconds;
    for (const StoredRow* row : runs.rows) {
      if (runs.asked.what != Observed::ratio) seconds.push_back(row->measured);
      for (const StoredRow* one : first.rows)
        if (runs.asked.what == Observed::ratio && one->text(RowText::run) == row->text(RowText::run) &&
            one->text(RowText::source) == row->text(RowText::source))
          seconds.push_back(row->measured * one->measured);
    }
    // A ratio without the step of its series has the estimated time alone.
    if (seconds.empty()) seconds.push_back(runs.step_s() * first.step_s());
    const auto [low, high] = std::ranges::minmax(seconds);
    out.low_s = low, out.high_s = high;
    return out;
  }

  PointPredictor& points_;
  const Scenario& scenario_;
  int most_gpus_;
  const EvidenceUse& use_;
  MeasuredCalibration out_;
};

}  // namespace

MeasuredCalibration calibrate_to_measured(PointPredictor& points, int most_gpus, const EvidenceUse& use) {
  return Calibrator(points, most_gpus, use).calibrate();
}

Intervals intervals_of(PointPredictor& points, const MeasuredCalibration& calibration) {
  return calibration.anchored ? Intervals(points, calibration.anchor->gpus) : Intervals(points);
}

}  // namespace foretrain
