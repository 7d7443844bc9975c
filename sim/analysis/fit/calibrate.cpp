// Stages run in order, each on the constants that earlier stages fitted. Collectives are then kept as
// measured, in linear pieces over the size, where these predict better than the model. Earlier stages never
// see later ones, so a constant is fitted to the samples that isolate it.
#include "sim/analysis/fit/calibrate.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/fit/calibration_stages.hpp"
#include "sim/analysis/fit/fitted_samples.hpp"
#include "sim/analysis/fit/measured_collectives.hpp"
#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/analysis/step/rank_jitter.hpp"
#include "sim/base/counted.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/strategy/process/losses.hpp"

namespace foretrain {

namespace {

/// Most samples that are left out with a reason of their own.
constexpr std::size_t kMostReasons = 1000;

/// Separates samples that the model predicts and physics allows from those that are left out.
class Usable {
 public:
  Usable(const ClusterSpec& cluster, const std::vector<Sample>& samples, SampleContext& context) {
    const std::vector<bool> second = second_times(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      // The second measurement of a collective counts neither as used nor as left out.
      if (second[i]) continue;
      const Sample& sample = samples[i];
      const std::string_view own = setting_of(sample, "cluster");
      const bool is_of_cluster =
          own.empty() || own == cluster.name || name_of_file(std::string(own)) == cluster.name;
      std::string why = is_of_cluster ? why_impossible(cluster, sample) : "measured on another cluster";
      whys_.push_back(std::move(why));
      places_.emplace_back(&sample, kept_.size());
      if (whys_.back().empty()) kept_.push_back(sample);
    }
    refuse_unpredicted(predict_samples(cluster, kept_, context), context);
  }

  /// Returns the samples that are left out, with their reasons.
  std::vector<CalibrationFit::Exclusion> left_out() const {
    std::vector<CalibrationFit::Exclusion> out;
    for (std::size_t i = 0; i < whys_.size(); ++i) {
      const Sample& sample = *places_[i].first;
      if (!whys_[i].empty())
        out.push_back({sample.source, sample.line, out.size() < kMostReasons ? whys_[i] : "as others above"});
    }
    return out;
  }

  /// Returns the usable samples and gives up its own copies.
  std::vector<Sample> take() {
    std::vector<Sample> usable;
    usable.reserve(kept_.size());
    for (std::size_t i = 0; i < whys_.size(); ++i) {
      if (whys_[i].empty()) usable.push_back(std::move(kept_[places_[i].second]));
    }
    return usable;
  }

 private:
  /// Adds reasons for samples without a prediction, and for values that no logarithm can compare.
  void refuse_unpredicted(const SamplePredictions& predictions, SampleContext& context) {
    for (std::size_t i = 0; i < whys_.size(); ++i) {
      if (!whys_[i].empty()) continue;
      const auto& [sample, at] = places_[i];
      if (!predictions[at])
        whys_[i] = std::move(context.reasons[at]);
      else if (!(*predictions[at] > 0))
        whys_[i] = "the model has nothing to compare it with";
      else if (!(sample->value > 0))
        whys_[i] = "no time was lost";
    }
  }

  std::vector<Sample> kept_;
  /// Reasons by sample, second measurements excepted; empty for a usable sample.
  std::vector<std::string> whys_;
  /// Pairs of these samples and their indices in kept_.
  std::vector<std::pair<const Sample*, std::size_t>> places_;
};

/// Returns the indices of collectives by what distinguishes them.
std::map<CollectiveKey, int> numbered(const std::vector<CalibratedCollective>& collectives) {
  std::map<CollectiveKey, int> numbers;
  for (const CalibratedCollective& c : collectives)
    numbers.try_emplace({c.op, c.gpus, c.nodes, c.processes_per_node, c.algorithm, c.protocol},
                        static_cast<int>(numbers.size()));
  return numbers;
}

/// Returns the index of the collective that a sample belongs to, -1 for none.
int collective_of(const std::map<CollectiveKey, int>& collectives, const Sample& sample) {
  if (sample.kind != SampleKind::collective) return -1;
  const auto found = collectives.find(key_of(sample));
  return found == collectives.end() ? -1 : found->second;
}

/// Compares every usable sample with the finished calibration.
std::vector<CalibrationFit::Residual> residuals_of(const ClusterSpec& fitted,
                                                   const std::vector<Sample>& samples,
                                                   SampleContext& context) {
  const SamplePredictions predictions = predict_samples(fitted, samples, context);
  const std::map<CollectiveKey, int> collectives = numbered(fitted.calibration.collectives);
  std::vector<CalibrationFit::Residual> residuals;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    if (!predictions[i]) continue;
    residuals.push_back({describe(s), s.source, s.line, static_cast<double>(s.bytes), s.value,
                         *predictions[i], s.unit, collective_of(collectives, s)});
  }
  return residuals;
}

}  // namespace

/// Collectives and trainings are named with the size of their job.
std::string describe(const Sample& sample) {
  std::string text =
      fmt::format("{} {}", kSampleKindNames[static_cast<std::size_t>(sample.kind)], sample.what);
  if (sample.kind == SampleKind::collective || sample.kind == SampleKind::training)
    text += fmt::format(", {} on {}", counted(sample.gpus, "GPU"), counted(sample.nodes, "node"));
  return text;
}

CalibrationFit calibrate(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                         const Progress& progress) {
  CalibrationFit result;
  SampleContext context;
  context.wants_reasons = true;
  Usable usable(cluster, samples, context);
  context.wants_reasons = false;
  result.left_out = usable.left_out();
  const std::vector<Sample> kept = usable.take();
  ClusterSpec current = cluster;
  // The cluster carries all constants fitted so far; each stage starts from it.
  const std::vector<CalibrationStage>& stages = calibration_stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(stages.size()));
    const std::vector<Sample> own = samples_to_fit(kept, stages[i].takes);
    if (own.empty()) continue;
    ConstantFit fitted = fit_constants(current, own, stages[i].constants(current), context);
    std::ranges::move(fitted.refused, std::back_inserter(result.refused));
    std::ranges::move(fitted.constants, std::back_inserter(result.calibration.constants));
    std::ranges::copy(fitted.defaults, std::back_inserter(result.defaults));
    current = calibrated(cluster, result.calibration);
  }
  // Jitter needs no fit: it is computed from logs of single steps.
  if (const auto jitter = rank_spread_of(samples)) {
    result.calibration.constants.push_back(*jitter);
    result.defaults.push_back(losses_of(cluster).rank_spread);
  }
  // Curves compete with the model as fitted so far, and are added afterwards.
  MeasuredCollectives measured = measured_collectives(kept, predict_samples(current, kept, context));
  result.calibration.collectives = std::move(measured.curves);
  std::ranges::move(measured.refused, std::back_inserter(result.refused));
  current = calibrated(cluster, result.calibration);
  result.residuals = residuals_of(current, kept, context);
  return result;
}

}  // namespace foretrain
