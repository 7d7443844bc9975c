// A study goes group by group: one scenario, one predictor, and all numbers of GPUs asked for. Each number is
// simulated once, the one GPU of the speedups included.
#include "sim/analysis/search/study.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "sim/analysis/evidence/measured_calibration.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"

namespace foretrain {

namespace {

/// Most warnings that a study keeps; combinations repeat them.
constexpr std::size_t kMostWarnings = 20;

/// Runs the groups and collects their rows.
class StudyRunner {
 public:
  StudyRunner(const StudyQuestion& question, const Progress& progress, const EvidenceUse& evidence)
      : question_(question),
        own_(question.own),
        progress_(progress),
        evidence_(evidence),
        rows_(question.points.size()) {}

  StudyResult run() {
    // The calibration comes first, because every group may use it.
    if (own_.anchor || evidence_.field != nullptr) anchor();
    for (std::size_t g = 0; g < question_.groups.size(); ++g) {
      run_group(question_.groups[g]);
      if (progress_) progress_(static_cast<double>(g + 1) / static_cast<double>(question_.groups.size()));
    }
    head();
    // Groups run in their own order; the rows are put into the order of the combinations.
    for (std::vector<StudyRow>& rows : rows_)
      std::move(rows.begin(), rows.end(), std::back_inserter(result_.rows));
    choose();
    return std::move(result_);
  }

 private:
  /// Fills the heading from the scenario as it stands.
  void head() {
    result_.scenario = own_.name, result_.model = own_.model.name, result_.cluster = own_.cluster.name;
    result_.strategy = own_.strategy, result_.precision = precision_of(own_);
    result_.axes = own_.study.axes, result_.samples = own_.workload.data.samples, result_.note = own_.note;
  }

  /// Calibrates on the scenario as it stands, and keeps the device model for the combinations.
  void anchor() {
    const int most = std::max(own_.gpus.back(), own_.anchor ? own_.anchor->gpus : 1);
    PointPredictor base(own_, most);
    MeasuredCalibration measured = calibrate_to_measured(base, most, evidence_);
    if (!measured.anchored) return;
    anchor_ = measured.anchor, anchored_ = std::move(measured.anchored);
    if (measured.is_by_evidence()) result_.measured = {measured.evidence->measured.front()};
    const Anchored& anchored = *anchored_;
    result_.decisions.add(
        "anchor", scaling_text(anchored),
        fmt::format(
            "measured step {} of the scenario as it stands; the model scaled by it serves all of {} on {}",
            to_string(seconds(anchor_->step_s)), own_.model.name, own_.cluster.name));
    for (const std::string& doubt : warnings_about(anchored)) warn(doubt);
  }

  /// Returns true if the calibration applies: same network and same cluster.
  bool is_anchored(const Scenario& scenario) const {
    return anchored_ && scenario.model.name == own_.model.name && scenario.cluster.name == own_.cluster.name;
  }

  /// Reads the scenario of a group and predicts all its rows. The graph is made for the largest number that
  /// can run.
  void run_group(const StudyGroup& group) {
    if (!group.why_not.empty()) return refuse(group, group.why_not);
    ScenarioOverrides overrides = question_.overrides;
    overrides.combination = group.settings;
    Scenario scenario = question_.source.text.empty() ? make_scenario(overrides, opened_)
                                                      : read_scenario(question_.source, overrides, opened_);
    if (is_anchored(scenario)) scenario.anchor = anchor_;
    for (const std::string& warning : scenario.warnings) warn(warning);
    const std::vector<int> all = asked_of(group, scenario);
    // Numbers that cannot run need no place in the cluster's graph.
    int most = is_anchored(scenario) ? anchor_->gpus : 1;
    for (const int gpus : all) most = why_not_on(scenario, gpus).empty() ? std::max(most, gpus) : most;
    PointPredictor predictor(scenario, most);
    if (is_anchored(scenario)) predictor.set_device(anchored_->device);
    Intervals intervals = intervals_of(predictor);
    for (const std::size_t point : group.points) {
      for (const int gpus : gpus_of(point, scenario))
        rows_[point].push_back(row(predictor, intervals, point, gpus));
    }
  }

  /// The calibration narrows the intervals only of combinations that could have run the measured job.
  Intervals intervals_of(PointPredictor& predictor) const {
    const Scenario& scenario = predictor.simulator().scenario();
    if (!is_anchored(scenario) || !why_not_on(scenario, anchor_->gpus).empty()) return Intervals(predictor);
    return Intervals(predictor, anchor_->gpus);
  }

  void refuse(const StudyGroup& group, const std::string& why) {
    for (const std::size_t point : group.points) {
      for (const int gpus : gpus_of(point, own_))
        rows_[point].push_back({question_.points[point], why, gpus, {}});
    }
  }

  /// Returns the number of GPUs on the study's axis, or else those of the scenario.
  std::vector<int> gpus_of(std::size_t point, const Scenario& scenario) const {
    for (std::size_t i = 0; i < own_.study.axes.size(); ++i) {
      if (own_.study.axes[i].key != "run.gpus") continue;
      return {static_cast<int>(std::get<std::int64_t>(question_.points[point][i].data))};
    }
    return own_.lists_gpus ? own_.gpus : scenario.gpus;
  }

  std::vector<int> asked_of(const StudyGroup& group, const Scenario& scenario) const {
    std::vector<int> all;
    for (const std::size_t point : group.points) {
      const std::vector<int> some = gpus_of(point, scenario);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  /// Predicts one row; a mistake of the input makes it a row that cannot run.
  StudyRow row(PointPredictor& predictor, Intervals& intervals, std::size_t point, int gpus) {
    StudyRow row{question_.points[point], why_not_on(predictor.simulator().scenario(), gpus), gpus, {}};
    if (!row.why_not.empty()) return row;
    try {
      Decisions decisions;
      const double one = predictor.throughput(1).samples_per_s;
      row.point = predictor.point(gpus, decisions);
      row.point.speedup = row.point.samples_per_s / one;
      row.point.efficiency = row.point.speedup / gpus;
      intervals.add_to(row.point);
      // An epoch without a step has no time to compare.
      if (row.point.steps_per_epoch == 0) row.why_not = fmt::format("an epoch on {} GPUs has no step", gpus);
      keep(decisions, row);
    } catch (const InputError& error) {
      row.why_not = error.first_message();
    }
    return row;
  }

  void keep(const Decisions& decisions, const StudyRow& row) {
    std::string combination;
    for (const Value& value : row.values)
      combination += fmt::format("{}{}", combination.empty() ? "" : ", ", text_of(value));
    for (const Decision& d : decisions.list())
      result_.decisions.add(fmt::format("{}: {}", combination, d.subject), d.choice, d.why);
  }

  /// Adds a warning once, up to kMostWarnings.
  void warn(const std::string& warning) {
    if (std::find(result_.warnings.begin(), result_.warnings.end(), warning) != result_.warnings.end())
      return;
    if (result_.warnings.size() < kMostWarnings) result_.warnings.push_back(warning);
  }

  /// Returns the index of the row with the smallest cost among those that run and fit.
  template <typename Cost>
  std::optional<std::size_t> best_by(Cost cost) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < result_.rows.size(); ++i) {
      const StudyRow& row = result_.rows[i];
      if (!row.why_not.empty() || !row.point.fits()) continue;
      if (!best || cost(row.point) < cost(result_.rows[*best].point)) best = i;
    }
    return best;
  }

  /// Chooses the fastest and the cheapest row. Without a data set, rates replace times.
  void choose() {
    // The length of the run decides where it is known, else the rate.
    const bool known = result_.samples > 0;
    result_.fastest =
        best_by([known](const PredictionPoint& p) { return known ? p.total_s : 1 / p.samples_per_s; });
    result_.cheapest =
        best_by([known](const PredictionPoint& p) { return known ? p.gpu_hours : p.gpus / p.samples_per_s; });
    const auto runs = [](const StudyRow& row) { return row.why_not.empty(); };
    if (std::ranges::none_of(result_.rows, runs))
      throw InputError("none of the study's combinations can run", result_.rows.front().why_not);
  }

  const StudyQuestion& question_;
  const Scenario& own_;
  const Progress& progress_;
  const EvidenceUse& evidence_;
  /// Rows by combination.
  std::vector<std::vector<StudyRow>> rows_;
  std::optional<Anchor> anchor_;
  std::optional<Anchored> anchored_;
  StudyResult result_;
  OpenedCatalogs opened_;
};

}  // namespace

std::string why_not_on(const Scenario& scenario, int gpus) {
  const std::int64_t size = gpus_of_job(scenario);
  if (gpus > size) return fmt::format("cluster {} has {}", scenario.cluster.name, counted(size, "GPU"));
  if (gpus > scenario.global_batch.value_or(gpus))
    return fmt::format("{} GPUs cannot share a global batch of {}", gpus, *scenario.global_batch);
  return why_not_together(scenario, gpus);
}

bool varies(const StudyResult& study, std::string_view key) {
  return std::any_of(study.axes.begin(), study.axes.end(),
                     [&](const StudyAxis& axis) { return axis.key == key; });
}

StudyResult run_study(const StudyQuestion& question, const Progress& progress, const EvidenceUse& evidence) {
  return StudyRunner(question, progress, evidence).run();
}

}  // namespace foretrain
