// Derivation of the answer from a finished prediction, in a fixed order. First come the numbers of GPUs that
// the answer is about, then the first verdict that holds, in the order of VerdictKind. Cause and action
// follow, and last the assumptions and doubtful figures behind them.
//
// The prediction's points are final. Only causes, remedies and alternatives are simulated here, so every
// figure of the verdict is also in the table.
#include "sim/analysis/answer/answer_of.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_words.hpp"
#include "sim/analysis/answer/what_fits.hpp"
#include "sim/analysis/causes/step_causes.hpp"
#include "sim/analysis/evidence/measured_calibration.hpp"
#include "sim/analysis/search/crossover.hpp"
#include "sim/analysis/search/paying.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/spoken.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/variation.hpp"

namespace foretrain {

namespace {

/// Most rows of an answer to a question without numbers of GPUs.
constexpr std::size_t kRowsThatDecide = 6;
/// Share of a step that GPUs must wait for data before the input is the first thing to improve.
constexpr double kWaitsForInput = 0.25;

/// Builds one answer step by step.
class AnswerMaker {
 public:
  AnswerMaker(PointPredictor& points, const Prediction& prediction, const PredictionPoint& one_gpu)
      : points_(points),
        scenario_(points.simulator().scenario()),
        prediction_(prediction),
        one_gpu_(one_gpu) {}

  Answer make() {
    choose_counts();
    answer_.question = question_words(scenario_, prediction_, answer_.counts);
    const PredictionPoint& p = *answered_point(prediction_, answer_.gpus);
    find_causes(p);
    answer_.not_understood = unmodelled_words(scenario_, p.nodes);
    answer_.kind = kind_of(p);
    if (answer_.kind == VerdictKind::waits_for_input)
      answer_.remedy = input_remedy(points_, answer_.gpus, answer_.counts);
    // The verdict compares with a smaller number, so that number joins the table.
    if (answer_.kind == VerdictKind::slower) add_row(faster_with_fewer(p)->gpus);
    write(p);
    return std::move(answer_);
  }

 private:
  /// Returns true if the training may fit, so that its causes are worth simulating.
  static bool may_fit(const PredictionPoint& p) { return chance_of_fitting(p) >= kHardlyFits; }

  /// Chooses the rows: the numbers asked for, or without any those on one and two nodes. The answered number
  /// is one of them.
  void choose_counts() {
    for (const PredictionPoint& p : prediction_.points) answer_.counts.push_back(p.gpus);
    if (!scenario_.states("run.gpus")) keep_what_decides();
    answer_.gpus = answered_count();
    for (const int gpus : answer_.counts) answer_.rows.push_back(*answered_point(prediction_, gpus));
    answer_.one_gpu_fits = fewest_gpus_of(scenario_) == 1 && points_.fits(1);
  }

  /// Keeps numbers on at most kFirstRunNodes nodes. Of more than kRowsThatDecide, the smallest and the
  /// largest remain.
  void keep_what_decides() {
    const auto is_far = [this](int gpus) {
      return answered_point(prediction_, gpus)->nodes > kFirstRunNodes;
    };
    std::vector<int> near = answer_.counts;
    std::erase_if(near, is_far);
    if (near.empty()) near = {answer_.counts.front()};
    if (near.size() > kRowsThatDecide)
      near.erase(near.begin() + kRowsThatDecide / 2, near.end() - kRowsThatDecide / 2);
    answer_.counts = near;
  }

  /// Returns the largest number in question that probably fits, or else the largest.
  int answered_count() const {
    for (auto gpus = answer_.counts.rbegin(); gpus != answer_.counts.rend(); ++gpus)
      if (chance_of_fitting(*answered_point(prediction_, *gpus)) >= kProbablyFits) return *gpus;
    return answer_.counts.back();
  }

  /// Simulates the causes of the answered step, unless it cannot run.
  void find_causes(const PredictionPoint& p) {
    if (!may_fit(p) || p.step_s <= 0) return;
    answer_.causes = causes_of(points_, p.gpus);
    answer_.cause = cause_words(*answer_.causes, p);
  }

  /// Returns the first verdict that holds, in the order of VerdictKind.
  VerdictKind kind_of(const PredictionPoint& p) const {
    if (!answer_.not_understood.empty()) return VerdictKind::cannot_say;
    if (working_gpu_count(scenario_, p.gpus) < p.gpus) return VerdictKind::idle_gpus;
    if (chance_of_fitting(p) < kProbablyFits) return VerdictKind::does_not_fit;
    if (waits_for_input()) return VerdictKind::waits_for_input;
    return faster_with_fewer(p) != nullptr ? VerdictKind::slower : VerdictKind::time;
  }

  /// Returns true if waiting for input is the largest cause and a large share of the step.
  bool waits_for_input() const {
    const StepCause* most = answer_.causes ? answer_.causes->largest() : nullptr;
    return most != nullptr && most->what == std::vector{Removable::input} &&
           most->saves_s >= kWaitsForInput * answer_.causes->step_s;
  }

  /// Returns the point with the fewest GPUs that is clearly faster, among one GPU and the answer's rows;
  /// nullptr if there is none. The pointer is valid until a row is added.
  const PredictionPoint* faster_with_fewer(const PredictionPoint& p) const {
    const auto is_faster = [&p](const PredictionPoint& fewer) {
      return fewer.gpus < p.gpus && fewer.fits() && p.samples_per_s < kSlower * fewer.samples_per_s;
    };
    if (answer_.one_gpu_fits && is_faster(one_gpu_)) return &one_gpu_;
    const auto found = std::ranges::find_if(answer_.rows, is_faster);
    return found == answer_.rows.end() ? nullptr : &*found;
  }

  /// Adds one GPU to the table, because a verdict mentions no number that is not in its table. Rows with more
  /// GPUs are there already.
  void add_row(int gpus) {
    if (std::ranges::find(answer_.counts, gpus) != answer_.counts.end()) return;
    answer_.counts.insert(answer_.counts.begin(), gpus);
    answer_.rows.insert(answer_.rows.begin(), one_gpu_);
  }

  /// Writes all sentences once the kind of verdict is known.
  void write(const PredictionPoint& p) {
    set_quantity(answer_, p, scenario_);
    answer_.assumptions = assumptions_of(scenario_);
    answer_.not_credible = not_credible(points_, prediction_);
    answer_.verdict = verdict_of(p);
    // A speedup above the number of GPUs surprises users, so its reason is part of the cause.
    if (const std::string why = why_more_than_linear(points_, prediction_, p); !why.empty())
      answer_.cause += fmt::format(" More than {} times as fast as one GPU: {}.", p.gpus, why);
    if (answer_.kind == VerdictKind::idle_gpus)
      answer_.cause = idle_cause(working_gpu_count(scenario_, p.gpus), p.gpus);
    if (answer_.kind == VerdictKind::does_not_fit && !lacks_host_memory(p))
      answer_.fits = changes_that_fit(points_, p.gpus);
    answer_.action = action_of(p);
  }

  std::string verdict_of(const PredictionPoint& p) const {
    switch (answer_.kind) {
      case VerdictKind::cannot_say:
        return cannot_say_words(answer_, scenario_);
      case VerdictKind::idle_gpus:
        return idle_words(scenario_, p, after_mending(p));
      case VerdictKind::does_not_fit:
        return does_not_fit_words(scenario_, p);
      case VerdictKind::waits_for_input:
        return waits_words(answer_, p);
      case VerdictKind::slower:
        return slower_words(p, *faster_with_fewer(p));
      default:
        return time_words(answer_, p, scenario_, chance_of_fitting(p));
    }
  }

  /// Returns the same job with one process for each GPU; nothing if it cannot be started so.
  std::optional<PredictionPoint> after_mending(const PredictionPoint& p) const {
    const Scenario mended = with_process_per_gpu(scenario_);
    if (working_gpu_count(mended, p.gpus) < p.gpus) return std::nullopt;
    try {
      PointPredictor points(mended, points_);
      Decisions ignored;
      return points.point(p.gpus, ignored);
    } catch (const InputError&) {
      return std::nullopt;  // the strategy cannot run on all of them
    }
  }

  std::string action_of(const PredictionPoint& p) {
    switch (answer_.kind) {
      case VerdictKind::cannot_say:
        return std::string(kLeaveOut);
      case VerdictKind::idle_gpus:
        return idle_action(p.gpus, p.nodes);
      case VerdictKind::does_not_fit:
        return answer_.fits.empty() ? does_not_fit_action(points_, p) : fitting_action(answer_.fits.front());
      case VerdictKind::waits_for_input:
        return waits_action(answer_, scenario_);
      case VerdictKind::slower:
        return slower_action(faster_changes(points_, p.gpus, faster_with_fewer(p)->gpus),
                             *faster_with_fewer(p));
      default:
        return time_action(p);
    }
  }

  /// Returns the row up to which each doubling of the answer's rows is worth its GPUs.
  const PredictionPoint& worth_requesting() const {
    const PredictionPoint* worth = nullptr;
    for (const int gpus : answer_.counts) {
      const PredictionPoint* next = answered_point(prediction_, gpus);
      if (gpus > answer_.gpus || !next->fits()) continue;
      // Rows are compared with the last one that pays, not with their neighbour.
      if (worth == nullptr || pays(*worth, *next)) worth = next;
    }
    return worth == nullptr ? *answered_point(prediction_, answer_.gpus) : *worth;
  }

  /// Returns true if the larger number is as much faster as each doubling has to be (kPays).
  static bool pays(const PredictionPoint& fewer, const PredictionPoint& more) {
    const double times = static_cast<double>(more.gpus) / fewer.gpus;
    return more.samples_per_s >= paying_speedup(times) * fewer.samples_per_s;
  }

  /// Returns the action for a training that runs well: first secure its memory, then exclude slow nodes, then
  /// state whether more GPUs pay.
  std::string time_action(const PredictionPoint& p) {
    if (chance_of_fitting(p) < kSurelyFits) return does_not_fit_action(points_, p);
    if (prediction_.mixing && prediction_.mixing->best != 0)
      return capitalized(prediction_.mixing->verdict) + ".";
    answer_.says_more_gpus = true;
    const PredictionPoint& worth = worth_requesting();
    if (worth.gpus != p.gpus) return fewer_words(p, worth);
    const auto& pays = prediction_.crossover.worth_requesting;
    const auto row =
        std::ranges::find_if(pays, [](const WorthRequesting& w) { return w.efficiency == kPays; });
    return more_words(p, row != pays.end() && row->most > p.gpus, prediction_);
  }

  PointPredictor& points_;
  const Scenario& scenario_;
  const Prediction& prediction_;
  const PredictionPoint& one_gpu_;
  Answer answer_;
};

}  // namespace

std::string_view key_of(VerdictKind kind) {
  static constexpr std::array<std::string_view, 8> kKeys{
      "cannot_say", "would_not_start", "idle_gpus", "does_not_fit",
      "request",    "waits_for_input", "slower",    "time"};
  return kKeys[static_cast<std::size_t>(kind)];
}

const PredictionPoint* answered_point(const Prediction& prediction, int gpus) {
  const auto found = std::ranges::find(prediction.points, gpus, &PredictionPoint::gpus);
  return found == prediction.points.end() ? nullptr : &*found;
}

namespace {

/// Finds the causes of the recommended step, calibrated as the prediction is.
void explain_request(Answer& answer, const Scenario& scenario, const EvidenceUse& use) {
  PointPredictor points(scenario, answer.gpus);
  calibrate_to_measured(points, answer.gpus, use);
  answer.causes = causes_of(points, answer.gpus);
  const auto row = std::ranges::find(answer.rows, answer.gpus, &PredictionPoint::gpus);
  answer.cause = cause_words(*answer.causes, *row);
}

}  // namespace

/// Replaces verdict and table by those of the recommended job. Causes are simulated again only if that job
/// has another number of GPUs. A verdict that cannot be given stays.
Answer with_recommendation(Answer answer, const Recommendation& recommendation, const Scenario& scenario,
                           const EvidenceUse& use) {
  if (answer.kind == VerdictKind::cannot_say) return answer;
  answer.verdict = request_words(recommendation);
  if (!recommendation.best) return answer;
  const PredictionPoint& best = recommendation.best->point;
  answer.kind = VerdictKind::request;
  answer.rows = {best};
  for (const JobOption& job : recommendation.runners_up) answer.rows.push_back(job.point);
  std::ranges::stable_sort(answer.rows, {}, &PredictionPoint::gpus);
  answer.counts.clear();
  for (const PredictionPoint& row : answer.rows) answer.counts.push_back(row.gpus);
  const bool is_another = answer.gpus != best.gpus;
  answer.gpus = best.gpus;
  answer.quantity = "total";
  answer.value_s = best.total_s;
  answer.interval = best.total_interval;
  answer.action = recommendation.next_step.empty() ? "" : capitalized(recommendation.next_step) + ".";
  answer.says_more_gpus = false;
  // The numbers of GPUs are the answer here, so they are cut from the question.
  answer.question = answer.question.substr(0, answer.question.rfind(", on "));
  answer.one_gpu_fits = fewest_gpus_of(scenario) == 1;
  answer.remedy.reset();
  if (!is_another) return answer;
  explain_request(answer, scenario, use);
  // The measurement and the extrapolations are those of another number of GPUs.
  answer.next_measurement.clear(), answer.extrapolated.clear();
  return answer;
}

Answer answer_of(PointPredictor& points, const Prediction& prediction, const PredictionPoint& one_gpu) {
  return prediction.points.empty() ? Answer{} : AnswerMaker(points, prediction, one_gpu).make();
}

}  // namespace foretrain
