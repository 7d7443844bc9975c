// The answer to a search over settings. The setting that decides is the one whose best other value is worst,
// with all other settings as in the best case.
#include "sim/analysis/answer/tune_answer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"

namespace foretrain {

namespace {

/// Relative difference that nobody could measure.
constexpr double kUnmeasurable = 0.001;

/// Words for a goal of the search and the unit of its figure.
struct GoalWords {
  std::string_view goal, predicate, unit;
};
constexpr GoalWords kGoalWords[] = {{"total_s", "the run is shortest", "s"},
                                    {"epoch_s", "an epoch is shortest", "s"},
                                    {"step_s", "a step is shortest", "s"},
                                    {"samples_per_s", "most samples are trained a second", " samples/s"},
                                    {"gpu_hours", "the run takes the fewest GPU-hours", " GPU-hours"},
                                    {"energy_kwh", "the run takes the least energy", " kWh"},
                                    {"cost", "the run costs least", ""}};

const GoalWords& words_for(const TuneGoal& goal) {
  return *std::ranges::find(kGoalWords, goal.name, &GoalWords::goal);
}

std::string figure_words(const TuneGoal& goal, double figure) {
  const GoalWords& words = words_for(goal);
  return words.unit == "s" ? to_string(seconds(figure)) : fmt::format("{:.4g}{}", figure, words.unit);
}

std::string settings_words(const TuneResult& search) {
  std::string out;
  for (const TunedAxis& axis : search.axes)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", axis.name, text_of(axis.best));
  const TriedCase& best = search.tried[search.best];
  return printable(out.empty() ? counted(best.result.point.gpus, "GPU") : out);
}

/// Returns how many times as good `a` is as `b`, for goals to maximize and to minimize.
double times_as_good(const TuneGoal& goal, double a, double b) { return goal.is_largest ? a / b : b / a; }

/// Returns the comparison of the best case with the scenario as it stands.
std::string compared_with_own(const TuneResult& search, const std::string& scenario, int own_gpus,
                              std::optional<double> own_figure, const std::string& own_why_not) {
  const std::string own = fmt::format("{} as it stands on {}", printable(scenario), counted(own_gpus, "GPU"));
  if (!own_figure)
    return fmt::format(" {} does not run: {}.", own,
                       own_why_not.empty() ? "it does not fit into memory" : printable(own_why_not));
  const double gain = times_as_good(search.goal, search.tried[search.best].figure, *own_figure);
  const std::string figure = figure_words(search.goal, *own_figure);
  if (std::abs(gain - 1) < kUnmeasurable) return fmt::format(" {} is as good ({}).", own, figure);
  if (gain < 1)
    return fmt::format(" {} is better than all of them by {:.1f} % ({}).", own, 100 * (1 / gain - 1), figure);
  return fmt::format(" That is {:.2f} times as good as {} ({}).", gain, own, figure);
}

/// Returns how much worse the best other value of an axis is; 0 where some value was not tried, because it
/// might be as good.
double least_loss(const TuneResult& search, const TunedAxis& axis) {
  double least = INFINITY;
  for (const NeighbourCase& other : axis.others) {
    if (other.known == ComparisonCertainty::not_looked_at) return 0;
    if (other.known == ComparisonCertainty::cannot_run) continue;
    least = std::min(least, times_as_good(search.goal, search.tried[search.best].figure, other.figure) - 1);
  }
  return std::isfinite(least) ? std::max(0.0, least) : 0;
}

/// Returns the sentence on the setting with the largest such loss.
std::string which_decides(const TuneResult& search) {
  const TunedAxis* most = nullptr;
  for (const TunedAxis& axis : search.axes)
    if (most == nullptr || least_loss(search, axis) > least_loss(search, *most)) most = &axis;
  if (most == nullptr || least_loss(search, *most) < kUnmeasurable)
    return "No setting decides alone: for each another value is as good, or was not looked at.";
  return fmt::format("{} decides most: every other value is worse by {:.1f} % or more.",
                     printable(most->name), 100 * least_loss(search, *most));
}

}  // namespace

Answer answer_of(const TuneResult& search, const std::string& scenario, int own_gpus,
                 std::optional<double> own_figure, const std::string& own_why_not) {
  Answer answer;
  answer.question =
      fmt::format("the best of {} of {}", counted(search.cases.cases, "case"), printable(scenario));
  answer.quantity = search.goal.name;
  answer.gpus = own_gpus;
  answer.counts = {own_gpus};
  if (!search.found()) {
    answer.kind = VerdictKind::does_not_fit;
    answer.verdict = fmt::format("None of {} runs and fits into memory; the first: {}.",
                                 counted(search.cases.cases, "case"), search.why_none);
    answer.action = "Search over other values, or on other numbers of GPUs (--gpus).";
    return answer;
  }
  const TriedCase& best = search.tried[search.best];
  answer.gpus = best.result.point.gpus;
  answer.counts = {answer.gpus};
  if (answer.gpus != own_gpus) answer.counts.push_back(own_gpus);
  std::ranges::sort(answer.counts);
  answer.value_s = best.figure;
  answer.verdict = fmt::format("With {}, {}: {}.{}", settings_words(search), words_for(search.goal).predicate,
                               figure_words(search.goal, best.figure),
                               compared_with_own(search, scenario, own_gpus, own_figure, own_why_not));
  answer.cause = which_decides(search);
  answer.action = fmt::format("Set {}.", settings_words(search));
  return answer;
}

}  // namespace foretrain
