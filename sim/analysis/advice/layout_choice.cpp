// Recommendations for [parallel]: each number of GPUs has the layout of its own that `foretrain plan` names
// first.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/search/layout_points.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Largest number of GPUs that is searched unless it was asked for, because each search takes seconds.
constexpr int kMostSearchedGpus = 1024;

std::string bytes_text(double bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }

/// Searches layouts for all numbers of GPUs and chooses among the resulting jobs.
class LayoutRecommender {
 public:
  LayoutRecommender(const Scenario& scenario, const RecommendationRequest& request, const Progress& progress)
      : scenario_(scenario), request_(request), progress_(progress), layouts_{8, 0, request.fixed, false} {}
  Recommendation recommend();

 private:
  /// Returns the numbers of GPUs to search.
  std::vector<int> numbers() const;
  /// Searches one number and adds its first layout as an option.
  void add_option(int gpus, LayoutPoints& points);
  /// Sets speedups, efficiencies and prices of all options.
  void count_from_fewest();
  /// Adds the notes on the chosen layout.
  void note(Recommendation& out) const;

  const Scenario& scenario_;
  const RecommendationRequest& request_;
  const Progress& progress_;
  LayoutRequest layouts_;
  std::vector<JobOption> options_;
  /// Searches, by index of the options.
  std::vector<LayoutSearch> searches_;
  /// Reason of the last number that has no layout.
  std::string why_none_;
};

std::vector<int> LayoutRecommender::numbers() const {
  std::vector<int> numbers = numbers_within(scenario_, request_);
  if (request_.only_gpus.empty()) std::erase_if(numbers, [](int gpus) { return gpus > kMostSearchedGpus; });
  return numbers;
}

/// Returns, of the layouts that are as fast as the first, the one with the least memory.
const ModelLayout& smallest(const LayoutSearch& search) {
  const ModelLayout* best = &search.layouts.front();
  for (const ModelLayout& layout : search.layouts)
    if (layout.is_tied && layout.memory_bytes < best->memory_bytes) best = &layout;
  return *best;
}

std::string name_of_layout(const ModelLayout& layout) {
  return fmt::format("{} ({})", layout.point.layout, settings_of(layout.job));
}

void LayoutRecommender::add_option(int gpus, LayoutPoints& points) {
  layouts_.gpus = gpus;
  LayoutSearch search;
  try {
    search = search_layouts(scenario_, layouts_);
  } catch (const InputError& error) {
    why_none_ = fmt::format("on {} {}", counted(gpus, "GPU"), error.first_message());
    return;
  }
  if (search.best() == nullptr) {
    why_none_ = fmt::format("on {} {}", counted(gpus, "GPU"), search.why_none);
    return;
  }
  const ModelLayout& best = *search.best();
  JobOption& option = options_.emplace_back();
  option.layout = best.job;
  option.strategy = name_of_layout(best);
  option.point = points.at(best.job);
  searches_.push_back(std::move(search));
}

/// Speedups of all options count from one GPU's share of the fewest GPUs that fit.
void LayoutRecommender::count_from_fewest() {
  const double one = options_.front().point.samples_per_s / options_.front().point.gpus;
  for (JobOption& option : options_) {
    PredictionPoint& p = option.point;
    // The range keeps its relative width when the baseline changes.
    const double speedup = p.samples_per_s / one, factor = speedup / p.speedup;
    p.speedup_range.low *= factor, p.speedup_range.high *= factor;
    p.speedup = speedup, p.efficiency = speedup / p.gpus;
    price_job(option, scenario_, request_);
  }
}

void LayoutRecommender::note(Recommendation& out) const {
  const auto same = std::ranges::find_if(
      options_, [&](const JobOption& option) { return option.point.gpus == out.best->point.gpus; });
  const LayoutSearch& search = searches_[static_cast<std::size_t>(same - options_.begin())];
  out.notes.insert(out.notes.begin(),
                   fmt::format("{} on {}: {}",
                               search.layouts.size() == 1
                                   ? "the only layout that fits"
                                   : fmt::format("the fastest of {} layouts that fit", search.layouts.size()),
                               counted(search.gpus, "GPU"), search.why_first));
  if (const ModelLayout& other = smallest(search); &other != &search.layouts.front())
    out.notes.push_back(fmt::format("{} takes as long within {:.0f} % and needs {} instead of {} of memory",
                                    name_of_layout(other), 100 * kTie, bytes_text(other.memory_bytes),
                                    bytes_text(search.layouts.front().memory_bytes)));
  if (options_.front().point.gpus > 1)
    out.notes.push_back(fmt::format("speedups and efficiencies count from {}, the fewest that fit",
                                    counted(options_.front().point.gpus, "GPU")));
}

Recommendation LayoutRecommender::recommend() {
  refuse_unknown_length(scenario_);
  refuse_contradiction(scenario_, request_);
  const std::vector<int> all = numbers();
  if (!all.empty()) {
    // The numbers of GPUs all train with the usual global batch of the largest one, so that their times can
    // be compared.
    layouts_.global_batch = usual_batch(layout_of(scenario_), all.back());
    LayoutPoints points(scenario_, all.back());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (progress_) progress_(static_cast<double>(i) / static_cast<double>(all.size()));
      add_option(all[i], points);
    }
  }
  if (!options_.empty()) count_from_fewest();
  Recommendation out = choose_jobs(options_, request_, billing_of(scenario_, request_));
  if (options_.empty() && !why_none_.empty()) out.why_none = why_none_;
  if (!out.best) return out;
  note(out);
  out.plan = plan_of(scenario_, *out.best);
  out.grid_g_per_kwh = scenario_.cluster.site.grid_g_per_kwh;
  out.confirming = confirming_runs(scenario_, out);
  return out;
}

}  // namespace

Recommendation recommend_layouts(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                                 const Progress& progress, const EvidenceUse& /*evidence*/) {
  return LayoutRecommender(scenarios.own, request, progress).recommend();
}

JobPlan plan_of_layout(const Scenario& scenario, const ModelLayout& layout) {
  JobOption option;
  option.layout = layout.job, option.strategy = name_of_layout(layout);
  option.point = LayoutPoints(scenario, layout.job.gpus()).at(layout.job);
  price_job(option, scenario, {});
  return plan_of(scenario, option);
}

}  // namespace foretrain
