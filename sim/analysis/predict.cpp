// A prediction runs in this order. Calibrate: scale the model to the user's measurement, or to runs in a
// store of evidence, if there are any. Points: simulate each number of GPUs that was asked for. Search: find
// the numbers of GPUs at which more GPUs stop paying. Intervals: one response for each point. Answer: the
// verdict, which is derived from the finished points and from nothing else.
//
// All numbers of GPUs share one cluster graph and one device model, so their points differ only by what the
// number changes. Each number is simulated once by PointPredictor, whichever phase asks first.
#include "sim/analysis/predict.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/answer/what_fits.hpp"
#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/evidence/measured_calibration.hpp"
#include "sim/analysis/search/crossover_of_job.hpp"
#include "sim/analysis/search/mixing.hpp"
#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Runs the phases of one prediction.
class Predictor {
 public:
  Predictor(const Scenario& scenario, const Progress& progress, const PredictOptions& options)
      : scenario_(scenario),
        progress_(progress),
        options_(options),
        most_gpus_(most_searched(scenario)),
        points_(scenario, std::max(most_gpus_, scenario.anchor ? scenario.anchor->gpus : 1)) {}

  Prediction predict() {
    Prediction prediction = heading();
    calibrate(prediction);
    for (const int gpus : scenario_.gpus) {
      prediction.points.push_back(point(gpus, prediction.decisions));
      PredictionPoint& p = prediction.points.back();
      if (points_.simulator().model().is_strategy && p.unlike.empty())
        p.ledger = ledger_of(p, scenario_, points_.step(gpus).memory);
    }
    // Warnings need all points, because neighbours with the same shortage share one sentence.
    warn_all(prediction);
    prediction.cannot_run = std::ranges::none_of(prediction.points, &PredictionPoint::fits);
    if (!prediction.points.empty()) prediction.mixing = what_mixing_costs(points_, prediction.points.back());
    // A training that fits nowhere has no speedups, intervals or crossover, but still a verdict.
    if (!prediction.cannot_run) add_answers(prediction);
    add_answer(prediction);
    if (progress_) progress_(1);
    return prediction;
  }

 private:
  /// Derives the verdict from the finished points, with the measured runs and limits that support it.
  void add_answer(Prediction& prediction) {
    Decisions ignored;
    prediction.answer = answer_of(points_, prediction, point(1, ignored));
    Answer& answer = prediction.answer;
    if (prediction.evidence) answer.measured = measured_words(prediction.evidence->measured);
    if (options_.limits && points_.simulator().model().is_strategy)
      answer.limits = limits_of(points_, answer.gpus);
    else if (options_.limits)
      prediction.warnings.emplace_back(
          "limits are known of strategies alone, not of [parallel] and of recorded programs");
    if (prediction.cannot_run) return;
    answer.next_measurement = intervals_->to_narrow(*answered_point(prediction, answer.gpus));
    if (points_.simulator().model().has_measured_runs)
      answer.extrapolated = extrapolations(scenario_, answer.rows);
  }

  /// Adds intervals, the crossover and the optional parts. An interval passes three stages: the uncertain
  /// inputs give it, measured runs narrow it, and settings without a model widen it.
  void add_answers(Prediction& prediction) {
    Intervals& intervals = intervals_.emplace(intervals_of(points_, calibration_));
    for (std::size_t i = 0; i < prediction.points.size(); ++i) {
      intervals.add_to(prediction.points[i]);
      if (prediction.evidence) narrow(prediction.points[i], intervals, *prediction.evidence);
      widen(prediction.points[i]);
      if (progress_)
        progress_(0.5 * static_cast<double>(i + 1) / static_cast<double>(prediction.points.size()));
    }
    if (points_.simulator().model().has_measured_runs)
      prediction.extrapolated = extrapolations(scenario_, prediction.points);
    prediction.crossover = crossover_of_job(points_, most_gpus_, {options_.every_gpu, !all_fit(prediction)},
                                            prediction.decisions);
    prediction.crossover_spread = intervals.crossover_spread();
    if (options_.sensitivity) prediction.sensitivity = intervals.sensitivity(prediction.points.back());
    prediction.to_narrow = intervals.to_narrow(prediction.points.back());
    if (options_.break_even) prediction.break_even = break_even(prediction.crossover);
  }

  /// Calibrates to measured runs. From here on, steps are what measured runs of this training, or of
  /// trainings like it, make of them. Where evidence calibrates the model, a second predictor keeps the
  /// uncalibrated one.
  void calibrate(Prediction& prediction) {
    EvidenceUse use = options_.evidence;
    use.suggests_runs = options_.sensitivity;
    calibration_ = calibrate_to_measured(points_, most_gpus_, use);
    if (calibration_.anchored) note_anchor(*calibration_.anchored, prediction);
    prediction.evidence = calibration_.evidence;
    if (!calibration_.is_by_evidence()) return;
    simulated_.emplace(scenario_, points_);
    simulated_->set_device(default_device_model(scenario_));
    simulated_->set_correction({});
  }

  /// Returns the simulated step of one number with the interval of the inputs alone.
  static RawPoint raw_point(int gpus, PointPredictor& points, Intervals& intervals) {
    PredictionPoint p;
    p.gpus = gpus, p.step_s = p.epoch_s = p.total_s = points.step(gpus).step_s;
    intervals.add_to(p);
    return {gpus, p.step_s, p.interval};
  }

  /// Returns the number that the field of residuals refers to: one GPU, or the number that the model is
  /// calibrated to. It is computed once.
  const RawPoint& reference(Intervals& intervals, const AppliedEvidence& evidence) {
    if (!reference_) reference_ = raw_point(std::max(1, evidence.calibrated_on), points_, intervals);
    return *reference_;
  }

  /// Keeps the simulated point as raw evidence and centres the point's intervals on its corrected step. The
  /// interval is divided by the correction first, because the field describes simulated steps.
  void narrow(PredictionPoint& p, Intervals& intervals, AppliedEvidence& evidence) {
    const double raw_s = points_.step(p.gpus).step_s, scale = raw_s / p.step_s;
    const RawPoint raw{
        p.gpus, raw_s, {p.interval.low_s * scale, p.interval.high_s * scale, p.interval.level}};
    if (simulated_) {
      Intervals plain(*simulated_);
      evidence.raw.push_back(raw_point(p.gpus, *simulated_, plain));
    } else {
      evidence.raw.push_back(raw);
    }
    if (!evidence.is_applied()) return;
    with_step_interval(p, narrowed(evidence, raw, reference(intervals, evidence)));
    p.speedup_range = known_speedup(evidence, p).value_or(p.speedup_range);
  }

  /// Widens the interval by the factors of stated settings that no model covers.
  void widen(PredictionPoint& p) const {
    if (scenario_.unmodelled.empty()) return;
    Interval wider = p.interval;
    for (const UnmodelledSetting& setting : scenario_.unmodelled)
      if (setting.matters_on(p.nodes)) wider.low_s *= setting.shortest, wider.high_s *= setting.longest;
    with_step_interval(p, wider);
  }

  static bool all_fit(const Prediction& prediction) {
    return std::ranges::all_of(prediction.points, &PredictionPoint::fits);
  }

  /// Returns a prediction with the question as it was understood, and no results yet.
  Prediction heading() const {
    Prediction prediction;
    prediction.scenario = scenario_.name;
    prediction.model = scenario_.model.name;
    prediction.cluster = scenario_.cluster.name;
    prediction.strategy = points_.simulator().model().label(scenario_);
    prediction.precision = precision_of(scenario_);
    prediction.strong_scaling = scenario_.global_batch.has_value();
    prediction.global_batch = scenario_.global_batch.value_or(0);
    prediction.cluster_gpus = points_.simulator().cluster_gpus();
    prediction.epochs = scenario_.epochs;
    prediction.samples = scenario_.workload.data.samples;
    prediction.warnings = scenario_.warnings;
    prediction.note = scenario_.note;
    for (std::size_t kind = 0; kind < scenario_.batch_of_kind.size(); ++kind)
      prediction.kind_batches +=
          fmt::format("{}{} on {}", kind > 0 ? ", " : "", scenario_.batch_of_kind[kind],
                      name_of_kind(scenario_.cluster, static_cast<int>(kind)));
    return prediction;
  }

  /// Records the calibration among the decisions, with warnings about implausible factors.
  void note_anchor(const Anchored& anchored, Prediction& prediction) const {
    const Anchor& anchor = *calibration_.anchor;
    prediction.decisions.add("anchor", scaling_text(anchored),
                             fmt::format("measured step {} on {}; {}", to_string(seconds(anchor.step_s)),
                                         counted(anchor.gpus, "GPU"), anchored.why));
    if (anchored.efficiency > 0) {
      prediction.decisions.add("implied efficiency",
                               fmt::format("{:.1f} % of peak", 100 * anchored.efficiency),
                               "what the step's matrix products and convolutions would take at the GPU's "
                               "peak, over the measured step");
    }
    for (std::string& doubt : warnings_about(anchored)) prediction.warnings.push_back(std::move(doubt));
  }

  /// Adds speedup and efficiency, which count from one GPU of the same model, calibrated or not.
  PredictionPoint point(int gpus, Decisions& decisions) {
    PredictionPoint p = points_.point(gpus, decisions);
    p.speedup = p.samples_per_s / points_.throughput(1).samples_per_s;
    p.efficiency = p.speedup / gpus;
    return p;
  }

  /// Answers the inverse questions for the stated number of GPUs, or for the one where more stop paying.
  BreakEven break_even(const Crossover& crossover) const {
    const int gpus = *options_.break_even > 0 ? *options_.break_even : where_it_stops_paying(crossover);
    check_break_even(scenario_, gpus);
    return find_break_even(scenario_, points_.device(), gpus);
  }

  /// Returns the first number that is slower than one GPU, slower than fewer GPUs, or without gain; else the
  /// largest number searched.
  int where_it_stops_paying(const Crossover& c) const {
    for (const std::optional<int>& answer :
         {first_of_ranges(c.slower_than_one_gpu), first_of_ranges(c.slower_than_fewer), c.no_gain_from})
      if (answer && *answer <= most_gpus_) return *answer;
    return most_gpus_;
  }

  /// Adds warnings about memory, empty epochs, tensor parallelism across nodes, and the baseline of speedups.
  void warn_all(Prediction& prediction) {
    std::vector<std::string>& warnings = prediction.warnings;
    std::vector<MemoryShortage> shortages;
    for (std::size_t i = 0; i < prediction.points.size(); ++i) {
      const PredictionPoint& p = prediction.points[i];
      if (p.steps_per_epoch == 0)
        warnings.push_back(
            fmt::format("{}: drop_last leaves no full batch in an epoch", counted(p.gpus, "GPU")));
      if (p.fits_tightly()) warnings.push_back(tightness_warning(p));
      if (p.memory.total() > p.memory_capacity)
        shortages.push_back({i, p, memory_advice(p, scenario_, points_.step(p.gpus).memory)});
    }
    for (std::string& text : memory_warnings(shortages)) warnings.push_back(std::move(text));
    for (std::string& text : host_memory_warnings(prediction.points)) warnings.push_back(std::move(text));
    const std::optional<LargeModelPoint>& last = prediction.points.back().large;
    if (last && last->tensor_between > 0)
      warnings.push_back(fmt::format("exchanges of tensor ranks over nodes take {:.0f} % of the step on {}",
                                     100 * last->tensor_between,
                                     counted(prediction.points.back().gpus, "GPU")));
    if (const int fewest = fewest_gpus_of(scenario_); fewest > 1)
      warnings.push_back(fmt::format("{} count from {}, the fewest that can run it", kBaselineWarning,
                                     counted(fewest, "GPU")));
    if (shortages.size() < prediction.points.size() && !points_.fits(1))
      warnings.push_back(
          fmt::format("{} are over one GPU, on which this does not fit into memory", kBaselineWarning));
  }

  /// The scenario and the options belong to the caller of predict() and outlive this object.
  const Scenario& scenario_;
  const Progress& progress_;
  const PredictOptions& options_;
  int most_gpus_;
  PointPredictor points_;
  MeasuredCalibration calibration_;
  /// The uncalibrated predictor, where evidence calibrates the model.
  std::optional<PointPredictor> simulated_;
  std::optional<RawPoint> reference_;
  std::optional<Intervals> intervals_;
};

}  // namespace

/// The largest listed number shows most communication, so it is the one that is recorded.
StepRecording recording_of(const Scenario& scenario, RecordingSize size) {
  const int gpus = scenario.gpus.back();
  const StepSimulator simulator(scenario, std::max(gpus, scenario.anchor ? scenario.anchor->gpus : 1));
  DeviceModel device = default_device_model(scenario);
  if (scenario.anchor) device = fit_anchor(simulator, device, *scenario.anchor).device;
  return simulator.record(gpus, device, size);
}

std::vector<RecordedRank> record_steps(const Scenario& scenario, RecordingSize size) {
  const std::string why(step_model_of(scenario).why_no_ranks);
  if (!why.empty()) throw InputError(why, "foretrain predict --trace writes what is recorded");
  return recording_of(scenario, size).ranks;
}

/// A stated number is checked before any simulation, so that a mistake costs no time.
Prediction predict(const Scenario& scenario, const Progress& progress, const PredictOptions& options) {
  if (options.break_even.value_or(0) != 0) check_break_even(scenario, *options.break_even);
  return Predictor(scenario, progress, options).predict();
}

}  // namespace foretrain
