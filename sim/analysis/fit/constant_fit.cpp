// Robust least squares on the model itself. A constant that ends at its limit is refused and keeps its
// default, and so does one that the samples say less about than the prior does. The others are then fitted
// again beside that default, until all remaining constants are determined by the samples.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "calibrate/fit/least_squares.hpp"
#include "sim/analysis/fit/calibration_stages.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"

namespace foretrain {

namespace {

/// Prediction that a trial makes impossible; it counts as far off, not as a fault.
constexpr double kImpossible = 1e300;

/// Returns the calibration with trial values in place of its own.
Calibration with_values(Calibration calibration, const std::vector<WantedConstant>& wanted,
                        const std::vector<double>& values) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CalibratedConstant constant;
    constant.name = wanted[i].range.name, constant.value = values[i];
    std::erase_if(calibration.constants,
                  [&](const CalibratedConstant& c) { return c.name == constant.name; });
    calibration.constants.push_back(constant);
  }
  return calibration;
}

/// Builds the problem: each evaluation applies the trial values and predicts all samples.
fit::Problem problem_of(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                        const std::vector<WantedConstant>& wanted, SampleContext& context) {
  fit::Problem problem;
  for (const WantedConstant& constant : wanted)
    problem.parameters.push_back({constant.range.name, constant.start, constant.range.least,
                                  constant.range.most, constant.range.prior});
  for (const Sample& sample : samples) {
    problem.measured.push_back(sample.value);
    problem.spread.push_back(sample.spread);
  }
  problem.predict = [&](const std::vector<double>& values) {
    const ClusterSpec trial = calibrated(cluster, with_values(cluster.calibration, wanted, values));
    std::vector<double> predicted;
    for (const std::optional<double>& value : predict_samples(trial, samples, context))
      predicted.push_back(value && *value > 0 && std::isfinite(*value) ? *value : kImpossible);
    return predicted;
  };
  return problem;
}

/// Erases constants that no sample depends on, because each costs an evaluation in every step of the fit. A
/// large move to both sides shows them at once.
void drop_inert(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                std::vector<WantedConstant>& wanted, SampleContext& context) {
  constexpr double kFar = 1.5;
  const fit::Problem problem = problem_of(cluster, samples, wanted, context);
  std::vector<double> start;
  for (const WantedConstant& constant : wanted) start.push_back(constant.start);
  const std::vector<double> usual = problem.predict(start);
  std::vector<WantedConstant> live;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto moves = [&](double factor) {
      std::vector<double> moved = start;
      moved[i] = std::clamp(start[i] * factor, wanted[i].range.least, wanted[i].range.most);
      return problem.predict(moved) != usual;
    };
    if (moves(kFar) || moves(1 / kFar)) live.push_back(wanted[i]);
  }
  wanted = std::move(live);
}

/// Returns the sentence on a constant at its limit.
std::string refusal_of(const WantedConstant& constant, double value) {
  const ConstantRange& range = constant.range;
  const bool low = value < std::sqrt(range.least * range.most);
  const double limit = low ? range.least : range.most;
  return fmt::format("{}: the samples ask for {} than {}, which is the {} that physics allows ({})",
                     range.name, low ? "less" : "more",
                     range.dimension ? write_quantity(limit, *range.dimension) : fmt::format("{:.4g}", limit),
                     low ? "least" : "most", range.meaning);
}

/// Erases the constant that the samples say least about relative to its prior, if that is less than the
/// prior. One at a time: of two constants that only their product shows, the other is then determined.
void drop_least_known(std::vector<WantedConstant>& wanted, const fit::Fit& fitted) {
  std::size_t least = wanted.size();
  const auto width = [&](std::size_t i) { return fitted.parameters[i].spread / wanted[i].range.prior; };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (fitted.parameters[i].by_prior && (least == wanted.size() || width(i) > width(least))) least = i;
  }
  if (least < wanted.size()) wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(least));
}

/// The smallest and the largest size of some samples, in bytes.
struct SizeRange {
  double least = 0, most = 0;
};

/// Returns the range of the samples with these indices; zero where none has a size.
SizeRange sizes_of(const std::vector<Sample>& samples, const std::vector<std::size_t>& which) {
  SizeRange range{std::numeric_limits<double>::infinity(), 0};
  for (const std::size_t i : which) {
    if (samples[i].bytes < 1) continue;
    range.least = std::min(range.least, static_cast<double>(samples[i].bytes));
    range.most = std::max(range.most, static_cast<double>(samples[i].bytes));
  }
  return range.most > 0 ? range : SizeRange{};
}

/// Returns the root mean square of the residuals with these indices; 0 for none.
double root_mean_square(const std::vector<double>& residuals, const std::vector<std::size_t>& which) {
  double sum = 0;
  for (const std::size_t i : which) sum += residuals[i] * residuals[i];
  return which.empty() ? 0 : std::sqrt(sum / static_cast<double>(which.size()));
}

}  // namespace

/// Starts with an empty cache of scenarios and node graphs.
ConstantFit fit_constants(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                          std::vector<WantedConstant> wanted) {
  SampleContext context;
  return fit_constants(cluster, samples, std::move(wanted), context);
}

ConstantFit fit_constants(const ClusterSpec& cluster, const std::vector<Sample>& samples,
                          std::vector<WantedConstant> wanted, SampleContext& context) {
  ConstantFit result;
  // The fit works on logarithms, so it needs positive values and a range.
  std::erase_if(wanted,
                [](const WantedConstant& c) { return !(c.start > 0) || !(c.range.least < c.range.most); });
  if (!samples.empty()) drop_inert(cluster, samples, wanted, context);
  // A round fits all wanted constants; the loop ends when a round refuses or drops none.
  while (!wanted.empty() && !samples.empty()) {
    const fit::Fit fitted = fit::fit(problem_of(cluster, samples, wanted, context));
    std::vector<WantedConstant> rest;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (fitted.parameters[i].at_limit)
        result.refused.push_back(refusal_of(wanted[i], fitted.parameters[i].value));
      else if (fitted.parameters[i].samples > 0)
        rest.push_back(wanted[i]);
    }
    // Refusals come first; only when there are none may a barely known constant be dropped.
    if (rest.size() == wanted.size()) drop_least_known(rest, fitted);
    if (rest.size() < wanted.size()) {
      wanted = std::move(rest);
      continue;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const fit::FittedParameter& p = fitted.parameters[i];
      const SizeRange sizes = sizes_of(samples, p.measurements);
      result.defaults.push_back(wanted[i].start);
      result.constants.push_back({wanted[i].range.name, p.value, p.spread, sizes.least, sizes.most, p.samples,
                                  root_mean_square(fitted.residuals, p.measurements)});
    }
    break;
  }
  return result;
}

}  // namespace foretrain
