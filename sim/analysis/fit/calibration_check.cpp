// Cross-validation of calibrations. Even sizes and shapes are fitted and odd ones predicted, so that nearly
// every held-out size lies between two that were seen.
#include "sim/analysis/fit/calibration_check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/analysis/fit/calibrate.hpp"
#include "sim/analysis/fit/fitted_samples.hpp"
#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/cluster/calibrated_cluster.hpp"

namespace foretrain {

namespace {

/// Largest median error of a platform that counts as good.
constexpr double kGood = 0.05;

/// Returns true for a text of digits.
bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Returns true for a token such as "2x8", nodes times GPUs.
bool is_job_size(std::string_view token) {
  const std::size_t cross = token.find('x');
  return cross != std::string_view::npos && is_digits(token.substr(0, cross)) &&
         is_digits(token.substr(cross + 1));
}

/// Returns the series without its tokens for operation and job size.
std::string run_of(const Sample& sample) {
  std::string run;
  std::string_view series = setting_of(sample, "series");
  while (!series.empty()) {
    const std::size_t end = std::min(series.find('-'), series.size());
    const std::string_view token = series.substr(0, end);
    const bool is_job = token == sample.what || is_job_size(token) || token == std::to_string(sample.gpus);
    if (!is_job) run += (run.empty() ? "" : "-") + std::string(token);
    series.remove_prefix(std::min(end + 1, series.size()));
  }
  return run;
}

/// The samples to fit and those held out.
struct Split {
  std::vector<Sample> fitted, held;
};

/// Returns true for samples whose size is in their settings.
bool is_product(const Sample& s) { return s.kind == SampleKind::gemm || s.kind == SampleKind::conv; }
bool has_size(const Sample& s) { return s.bytes > 0 || is_product(s); }

/// The identity of a job apart from its size; a product's shape is its size.
using SizedJob = std::tuple<SampleKind, std::string, int, int, Settings>;
using Shape = std::pair<std::int64_t, Settings>;

/// Products of one precision are one job, whatever their shape.
SizedJob sized_job_of(const Sample& s) {
  if (!is_product(s)) return {s.kind, s.what, s.gpus, s.nodes, s.settings};
  return {s.kind, s.what + std::string(setting_of(s, "precision")), s.gpus, s.nodes, {}};
}

Shape shape_of_sample(const Sample& s) { return {s.bytes, is_product(s) ? s.settings : Settings{}}; }

/// Holds out every second distinct size of each job.
Split split_by_sizes(const std::vector<Sample>& samples) {
  std::map<SizedJob, std::set<Shape>> sizes;
  for (const Sample& sample : samples) {
    if (has_size(sample)) sizes[sized_job_of(sample)].insert(shape_of_sample(sample));
  }
  Split split;
  for (const Sample& sample : samples) {
    const std::set<Shape>& own = sizes[sized_job_of(sample)];
    const bool odd =
        has_size(sample) && std::distance(own.begin(), own.find(shape_of_sample(sample))) % 2 == 1;
    (odd ? split.held : split.fitted).push_back(sample);
  }
  return split;
}

/// Holds out all samples above the smallest value of one member.
Split split_above_least(const std::vector<Sample>& samples, int Sample::*number) {
  int least = 0;
  for (const Sample& sample : samples) least = least == 0 ? sample.*number : std::min(least, sample.*number);
  Split split;
  for (const Sample& sample : samples) (sample.*number > least ? split.held : split.fitted).push_back(sample);
  return split;
}

/// Chooses the split of a hold-out.
Split split_of(const std::vector<Sample>& samples, HoldOut hold_out) {
  if (hold_out == HoldOut::sizes) return split_by_sizes(samples);
  return split_above_least(samples, hold_out == HoldOut::nodes ? &Sample::nodes : &Sample::gpus);
}

/// Relative errors of samples that both models predict.
struct Errors {
  std::vector<double> before, after;
};

/// Returns the errors of held-out samples under both models; second measurements do not count.
Errors errors_of(const ClusterSpec& before, const ClusterSpec& after, const std::vector<Sample>& held) {
  const SamplePredictions first = predict_samples(before, held), second = predict_samples(after, held);
  const std::vector<bool> measured_twice = second_times(held);
  Errors errors;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!first[i] || !second[i] || measured_twice[i]) continue;
    errors.before.push_back(*first[i] / held[i].value - 1);
    errors.after.push_back(*second[i] / held[i].value - 1);
  }
  return errors;
}

}  // namespace

std::vector<Platform> platforms_of(const std::vector<Sample>& samples, const std::string& cluster) {
  std::map<std::pair<std::string, std::string>, std::vector<Sample>> found;
  for (const Sample& sample : samples) {
    const std::string_view own = setting_of(sample, "cluster");
    found[{own.empty() ? cluster : std::string(own), run_of(sample)}].push_back(sample);
  }
  std::vector<Platform> platforms;
  for (auto& [key, members] : found)
    platforms.push_back({key.second.empty() ? key.first : key.first + " (" + key.second + ")", key.first,
                         std::move(members)});
  return platforms;
}

CalibrationCheck check_calibration(const std::vector<Platform>& platforms, HoldOut hold_out,
                                   const std::function<ClusterSpec(const std::string&)>& open,
                                   const Progress& progress) {
  CalibrationCheck check;
  check.hold_out = hold_out;
  Errors all;
  for (std::size_t i = 0; i < platforms.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(platforms.size()));
    CheckedPlatform& row = check.checked.emplace_back();
    row.name = platforms[i].name;
    const Split split = split_of(platforms[i].samples, hold_out);
    // A platform with a single size or job has nothing to hold out.
    if (split.held.empty() || split.fitted.empty()) {
      row.why_not = hold_out == HoldOut::sizes   ? "one size"
                    : hold_out == HoldOut::nodes ? "one number of nodes"
                                                 : "one number of GPUs";
      continue;
    }
    try {
      const ClusterSpec cluster = open(platforms[i].cluster);
      const CalibrationFit fit = calibrate(cluster, split.fitted);
      Errors errors = errors_of(cluster, calibrated(cluster, fit.calibration), split.held);
      row.fitted = static_cast<int>(fit.residuals.size()), row.held = static_cast<int>(errors.after.size());
      all.before.insert(all.before.end(), errors.before.begin(), errors.before.end());
      all.after.insert(all.after.end(), errors.after.begin(), errors.after.end());
      row.before = statistics_of(std::move(errors.before)),
      row.after = statistics_of(std::move(errors.after));
      if (row.held == 0) row.why_not = "nothing that was held out can be predicted";
    } catch (const InputError& error) {
      row.why_not = error.diagnostics().empty() ? error.what() : error.diagnostics().front().message;
    }
    if (!row.why_not.empty()) continue;
    ++check.platforms;
    check.within_five_percent += row.after.median <= kGood ? 1 : 0;
    check.fitted += row.fitted, check.held += row.held;
  }
  check.before = statistics_of(std::move(all.before)), check.after = statistics_of(std::move(all.after));
  std::ranges::stable_sort(check.checked, [](const CheckedPlatform& a, const CheckedPlatform& b) {
    return a.after.median > b.after.median;
  });
  return check;
}

}  // namespace foretrain
