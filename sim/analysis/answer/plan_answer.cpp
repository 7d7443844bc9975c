// The answer to a plan. With one number of GPUs it is about that number's first layout; with several it is
// about the last number that pays, and what the next one would gain.
#include "sim/analysis/answer/plan_answer.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/answer/answer_words.hpp"
#include "sim/analysis/search/layout_points.hpp"
#include "sim/analysis/search/paying.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"
#include "sim/import/jobs/large_model_program.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Relative difference of computing times that counts as rounding.
constexpr double kSameTime = 1e-6;

std::string bytes_text(double bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }

std::string name_of_layout(const ModelLayout& layout) {
  return fmt::format("{} ({})", layout.point.layout, settings_of(layout.job));
}

/// Returns a key that is equal for layouts which differ only in recomputation.
std::string without_recompute(LargeModelRun job) {
  job.recompute = Recompute::none;
  return fmt::format("{}; {}; {}", to_string(job.degrees), settings_of(job), name_of(job.sharding));
}

/// Returns a sentence for each layout that computes for less time than the same one without recomputation,
/// which no machine can. It guards against faults of the model.
std::vector<std::string> shortened_by_recomputing(const LayoutSearch& search) {
  const auto compute = static_cast<std::size_t>(Account::compute);
  std::map<std::string, double> plain;
  for (const ModelLayout& layout : search.layouts)
    if (layout.job.recompute == Recompute::none)
      plain[without_recompute(layout.job)] = layout.breakdown[compute];
  std::vector<std::string> out;
  for (const ModelLayout& layout : search.layouts) {
    const auto same = plain.find(without_recompute(layout.job));
    if (layout.job.recompute == Recompute::none || same == plain.end()) continue;
    if (layout.breakdown[compute] < same->second * (1 - kSameTime))
      out.push_back(fmt::format("{} computes for less time with recomputation than without it.",
                                name_of_layout(layout)));
  }
  return out;
}

/// Builds the answer to one plan.
class PlanAnswerMaker {
 public:
  PlanAnswerMaker(const Scenario& scenario, const PlannedCounts& plan)
      : scenario_(scenario), plan_(plan), named_(plan.counts[plan.best.value_or(plan.counts.size() - 1)]) {}

  Answer make() {
    for (const PlannedCount& count : plan_.counts) answer_.counts.push_back(count.gpus);
    answer_.gpus = named_.gpus;
    answer_.question = question();
    answer_.not_understood = unmodelled_words(scenario_, named_.nodes);
    add_assumptions();
    answer_.quantity = "step";
    if (const ModelLayout* best = named_.best()) {
      about(*best);
    } else {
      answer_.kind = VerdictKind::does_not_fit;
      answer_.verdict = nothing_fits();
      answer_.action = "Ask for more GPUs, or try --set parallel.offload=optimizer.";
    }
    say_what_is_unmodelled(answer_, scenario_);
    return std::move(answer_);
  }

 private:
  bool is_of_several() const { return plan_.counts.size() > 1; }

  std::string question() const {
    const LayoutSearch& search = named_.search;
    return fmt::format("{} on {}, {} sequences ({:.2f} M tokens) a step, on {}", search.model, search.cluster,
                       search.global_batch, static_cast<double>(search.tokens) / 1e6,
                       counted_list(answer_.counts));
  }

  void add_assumptions() {
    if (plan_.assumes_batch)
      answer_.assumptions.push_back(
          {counted(named_.search.global_batch, "sequence") + " a step", "--global-batch N"});
    for (Assumption& other : assumptions_of(scenario_))
      if (answer_.assumptions.size() < kMostAssumptions) answer_.assumptions.push_back(std::move(other));
  }

  /// Fills the answer for a plan whose named layout fits. Only that layout's causes are simulated.
  void about(const ModelLayout& best) {
    answer_.kind = is_of_several() ? VerdictKind::request : VerdictKind::time;
    answer_.value_s = best.step_s;
    if (best.interval) answer_.interval = *best.interval;
    answer_.verdict = verdict(best);
    answer_.causes = LayoutPoints(scenario_, named_.gpus).causes_of(best.job);
    PredictionPoint point;
    point.step_s = best.step_s;
    answer_.cause = cause_words(*answer_.causes, point);
    answer_.not_credible = shortened_by_recomputing(named_.search);
    if (best.point.mfu > 1) answer_.not_credible.push_back(faster_than_peak(named_.gpus, best.point.mfu));
    answer_.says_more_gpus = is_of_several();
    answer_.action = is_of_several() ? about_more() : next_step(best);
  }

  std::string verdict(const ModelLayout& best) const {
    const std::string range =
        best.interval ? fmt::format(" ({})", spoken_range(best.interval->low_s, best.interval->high_s)) : "";
    std::string out =
        fmt::format("{}, {} takes about {} a step{}: {} tokens/s per GPU, {} % of the peak.",
                    is_of_several() ? fmt::format("Ask for {}: there", counted(named_.gpus, "GPU"))
                                    : fmt::format("On {}", counted(named_.gpus, "GPU")),
                    name_of_layout(best), spoken_duration(best.step_s), range,
                    spoken_count(best.point.tokens_per_s_per_gpu), percent(best.point.mfu, 0));
    if (is_of_several() && plan_.best != plan_.fewest)
      out += fmt::format(" That is {}.", times(named_, plan_.counts[*plan_.fewest]));
    return out + " " + fits_words(best);
  }

  /// Returns the sentence on the probability of fitting.
  std::string fits_words(const ModelLayout& layout) const {
    if (layout.fits < kSurelyFits)
      return may_not_fit_words(bytes_text(layout.memory_bytes), bytes_text(named_.search.capacity_bytes),
                               layout.fits);
    return fmt::format("It fits with {} probability ({} of {}).", spoken_chance(layout.fits),
                       bytes_text(layout.memory_bytes), bytes_text(named_.search.capacity_bytes));
  }

  /// Returns the ratio of two numbers' tokens per second, in words.
  static std::string times(const PlannedCount& more, const PlannedCount& fewer) {
    return fmt::format("{} times as fast as {}", spoken_factor(more.tokens_per_s / fewer.tokens_per_s),
                       counted(fewer.gpus, "GPU"));
  }

  /// Returns the sentence on the next larger number: the first that does not pay, or that none was asked for.
  std::string about_more() const {
    std::string out;
    const PlannedCount& fewest = plan_.counts[*plan_.fewest];
    if (fewest.gpus > plan_.counts.front().gpus)
      out = fmt::format("{} are the fewest on which it fits. ", counted(fewest.gpus, "GPU"));
    const auto stop = std::ranges::find_if(
        plan_.counts, [](const PlannedCount& c) { return c.best() != nullptr && !c.pays; });
    if (stop != plan_.counts.end())
      return out +
             fmt::format("{} do not pay: they are {}.", counted(stop->gpus, "GPU"), times(*stop, named_));
    return out + fmt::format(
                     "Every doubling up to there is at least {:.1f} times as fast; larger numbers were not "
                     "asked for.",
                     2 * kPays);
  }

  /// Returns the layout that surely fits, where the first may not; else the line that starts the first.
  std::string next_step(const ModelLayout& best) const {
    const auto safer = std::ranges::find_if(
        named_.search.layouts, [](const ModelLayout& layout) { return layout.fits >= kSurelyFits; });
    if (best.fits < kSurelyFits && safer != named_.search.layouts.end())
      return fmt::format("Safer: {} needs {} of memory and takes {} % longer.", name_of_layout(*safer),
                         bytes_text(safer->memory_bytes), percent(safer->step_s / best.step_s - 1, 0));
    if (best.fits < kSurelyFits) return "No layout surely fits: more GPUs leave more memory on each.";
    const std::string launch = launch_line(best);
    return launch.empty() ? "" : fmt::format("{}{}", kStartItAs, launch);
  }

  /// Returns the verdict where no layout probably fits; without any layout, nothing divides.
  std::string nothing_fits() const {
    const LayoutSearch& search = named_.search;
    if (search.layouts.empty() && search.without_memory == 0)
      return fmt::format("No layout runs on {}: {}.", counted_list(answer_.counts), search.why_none);
    const bool may = !search.layouts.empty();
    return fmt::format("{} {} on {} of {}: {}.", search.model, may ? "probably does not fit" : "does not fit",
                       counted_list(answer_.counts), search.cluster, search.why_none);
  }

  const Scenario& scenario_;
  const PlannedCounts& plan_;
  /// The number of GPUs that the verdict is about.
  const PlannedCount& named_;
  Answer answer_;
};

}  // namespace

std::string launch_line(const ModelLayout& layout) {
  const LargeModelProgram own = large_model_program(layout.job);
  if (own.program.empty()) return {};
  return fmt::format("{} … {}", name_of(own.launcher), own.program);
}

Answer answer_of(const Scenario& scenario, const PlannedCounts& plan) {
  return PlanAnswerMaker(scenario, plan).make();
}

}  // namespace foretrain
