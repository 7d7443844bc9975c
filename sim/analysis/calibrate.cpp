// Stages run in order on what earlier ones left; collectives are then kept as measured, piece by piece.
#include "sim/analysis/calibrate.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "calibrate/fit/segments.hpp"
#include "sim/analysis/calibration_stages.hpp"
#include "sim/analysis/collective_curve.hpp"
#include "sim/analysis/rank_jitter.hpp"
#include "sim/analysis/sample_prediction.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/strategy/loss_constants.hpp"

namespace foretrain {

namespace {

/// Fewer sizes than this make no curve.
constexpr std::size_t kFewestSizes = 3;
/// Finding a reason costs as much as a prediction.
constexpr std::size_t kMostReasons = 1000;

bool is_second_time(const Sample& sample) { return setting_of(sample, "in_place") == "1"; }

/// Samples that the model predicts and physics allows.
std::vector<Sample> usable(const ClusterSpec& cluster, const std::vector<Sample>& samples, std::vector<CalibrationFit::LeftOut>& left_out) {
  std::vector<Sample> kept;
  const SamplePredictions predictions = predict_samples(cluster, samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (is_second_time(samples[i])) continue;
    const std::string_view own = setting_of(samples[i], "cluster");
    std::string why = own.empty() || own == cluster.name ? why_impossible(cluster, samples[i]) : "measured on another cluster";
    if (why.empty() && !predictions[i]) why = left_out.size() < kMostReasons ? why_not_predicted(cluster, samples[i]) : "as others above";
    if (why.empty() && !(*predictions[i] > 0)) why = "the model has nothing to compare it with";
    if (why.empty() && !(samples[i].value > 0)) why = "no time was lost";
    if (why.empty())
      kept.push_back(samples[i]);
    else
      left_out.push_back({samples[i].source, samples[i].line, std::move(why)});
  }
  return kept;
}

/// Operation, GPUs, nodes, processes per node, forced algorithm and protocol.
using MeasuredKey = std::tuple<std::string, int, int, int, std::string, std::string>;

MeasuredKey key_of(const Sample& sample) {
  const auto processes = static_cast<int>(number_of(sample, "launch.processes_per_node", usual_processes_per_node(sample.nodes)));
  return {sample.what,
          sample.gpus,
          sample.nodes,
          processes,
          std::string(setting_of(sample, "nccl.algorithm")),
          std::string(setting_of(sample, "nccl.protocol"))};
}

std::vector<CalibratedCollective> measured_collectives(const std::vector<Sample>& samples) {
  std::map<MeasuredKey, std::vector<fit::SizePoint>> jobs;
  for (const Sample& sample : samples) {
    if (sample.kind == SampleKind::collective && sample.gpus > 1)
      jobs[key_of(sample)].push_back({static_cast<double>(sample.bytes), sample.value * 1e-6, sample.spread});
  }
  std::vector<CalibratedCollective> collectives;
  for (auto& [key, points] : jobs) {
    if (points.size() < kFewestSizes) continue;
    CalibratedCollective& measured = collectives.emplace_back();
    std::tie(measured.op, measured.gpus, measured.nodes, measured.processes_per_node, measured.algorithm, measured.protocol) = key;
    for (const fit::Segment& piece : fit::fit_segments(std::move(points)))
      measured.segments.push_back({piece.least, piece.most, piece.latency_s, piece.seconds_per_byte, piece.spread, piece.samples});
  }
  return collectives;
}

/// The collective that a sample is part of; -1: none.
int collective_of(const std::vector<CalibratedCollective>& collectives, const Sample& sample) {
  if (sample.kind != SampleKind::collective) return -1;
  const auto found = std::ranges::find_if(collectives, [key = key_of(sample)](const CalibratedCollective& c) {
    return key == MeasuredKey{c.op, c.gpus, c.nodes, c.processes_per_node, c.algorithm, c.protocol};
  });
  return found == collectives.end() ? -1 : static_cast<int>(found - collectives.begin());
}

std::vector<CalibrationFit::Residual> residuals_of(const ClusterSpec& fitted, const std::vector<Sample>& samples) {
  const SamplePredictions predictions = predict_samples(fitted, samples);
  std::vector<CalibrationFit::Residual> residuals;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    if (!predictions[i]) continue;
    residuals.push_back({describe(s), s.source, s.line, static_cast<double>(s.bytes), s.value, *predictions[i], s.unit,
                         collective_of(fitted.calibration.collectives, s)});
  }
  return residuals;
}

}  // namespace

std::string describe(const Sample& sample) {
  std::string text = fmt::format("{} {}", kSampleKindNames[static_cast<std::size_t>(sample.kind)], sample.what);
  if (sample.kind == SampleKind::collective || sample.kind == SampleKind::training)
    text += fmt::format(", {} GPU{} on {} node{}", sample.gpus, sample.gpus == 1 ? "" : "s", sample.nodes, sample.nodes == 1 ? "" : "s");
  return text;
}

CalibrationFit calibrate(const ClusterSpec& cluster, const std::vector<Sample>& samples, const Progress& progress) {
  CalibrationFit result;
  const std::vector<Sample> kept = usable(cluster, samples, result.left_out);
  ClusterSpec current = cluster;
  const std::vector<CalibrationStage>& stages = calibration_stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(stages.size()));
    std::vector<Sample> own;
    std::ranges::copy_if(kept, std::back_inserter(own), stages[i].takes);
    if (own.empty()) continue;
    ConstantFit fitted = fit_constants(current, own, stages[i].constants(current));
    std::ranges::move(fitted.refused, std::back_inserter(result.refused));
    std::ranges::move(fitted.constants, std::back_inserter(result.calibration.constants));
    std::ranges::copy(fitted.defaults, std::back_inserter(result.defaults));
    current = calibrated(cluster, result.calibration);
  }
  if (const auto jitter = rank_spread_of(samples)) {
    result.calibration.constants.push_back(*jitter);
    result.defaults.push_back(losses_of(cluster).rank_spread);
  }
  result.calibration.collectives = measured_collectives(kept);
  current = calibrated(cluster, result.calibration);
  result.residuals = residuals_of(current, kept);
  return result;
}

}  // namespace foretrain
