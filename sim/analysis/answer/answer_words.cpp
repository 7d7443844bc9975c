// The sentences of answers. Each names who does what, rounds figures for readers, and begins with what the
// reader can act on.
#include "sim/analysis/answer/answer_words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/search/crossover.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Probability from which a sentence does not mention the rest.
constexpr double kNearlySure = 0.95;
/// Relative difference below which a step counts as long as on one GPU.
constexpr double kAsFast = 0.02;

/// Returns "one GPU" or "8 GPUs".
std::string gpus_of(int gpus) { return gpus == 1 ? "one GPU" : counted(gpus, "GPU"); }

/// Returns the numbers as a list: "1, 4 and 8".
std::string listed(const std::vector<int>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ", numbers[i]);
  return out;
}

/// Returns the duration with its interval: "takes about 29 h (27 to 32 h)".
std::string takes(const Answer& answer, std::string_view verb) {
  std::string out = fmt::format("{} about {}", verb, spoken_duration(answer.value_s));
  if (answer.interval.high_s > 0)
    out += fmt::format(" ({})", spoken_range(answer.interval.low_s, answer.interval.high_s));
  return out;
}

/// Returns the speedup in words: "3.7 times faster than one GPU", or "as fast as one GPU".
std::string times_faster(double speedup) {
  const double factor = std::round(speedup * 100) / 100;
  if (std::abs(factor - 1) < kAsFast) return "as fast as one GPU";
  return fmt::format("{} times {}", spoken_factor(speedup),
                     speedup > 1 ? "faster than one GPU" : "as fast as one GPU");
}

/// Returns the largest part of a point's memory: "optimizer state (64 GB)".
std::string largest_part(const MemoryUse& use) {
  const std::array<std::pair<std::string_view, Bytes>, 6> parts{{{"parameters", use.parameters},
                                                                 {"gradients", use.gradients},
                                                                 {"optimizer state", use.optimizer},
                                                                 {"buckets", use.buckets},
                                                                 {"activations", use.activations},
                                                                 {"the framework", use.framework}}};
  const auto most = std::ranges::max_element(parts, {}, [](const auto& part) { return part.second.count; });
  return fmt::format("{} ({})", most->first, to_string(most->second));
}

/// Returns the share as "12 %".
std::string percentage(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Returns "an epoch" or "90 epochs".
std::string epochs_of(const Scenario& scenario) {
  return scenario.epochs == 1 ? "an epoch" : fmt::format("{:g} epochs", scenario.epochs);
}

}  // namespace

std::string question_words(const Scenario& scenario, const Prediction& prediction,
                           const std::vector<int>& counts) {
  const std::string batch = prediction.strong_scaling
                                ? fmt::format("global batch {}", prediction.global_batch)
                                : fmt::format("batch {} per GPU", prediction.points.front().batch_per_gpu);
  if (scenario.program)
    return fmt::format("{} on {} as it was recorded ({}), {}, on {}", scenario.model.name,
                       scenario.cluster.name, prediction.strategy, batch, counted_list(counts));
  return fmt::format("{} on {} with {}, {}, {}, on {}",
                     named_with(scenario.model.name, scenario.model.tuning), scenario.cluster.name,
                     prediction.strategy, prediction.precision, batch, counted_list(counts));
}

void set_quantity(Answer& answer, const PredictionPoint& p, const Scenario& scenario) {
  const KnownFigures known = known_figures(p);
  answer.quantity = !known.total_s ? "step" : scenario.epochs == 1 ? "epoch" : "total";
  answer.value_s = known.total_s.value_or(p.step_s);
  const std::optional<Interval>& interval = known.total_s ? known.total_interval : known.interval;
  if (interval) answer.interval = *interval;
}

std::string cause_words(const StepCauses& causes, const PredictionPoint& p) {
  // The causes are of the simulated step; measured runs correct all their times alike.
  const double scale = p.step_s / causes.step_s;
  const auto time = [scale](double step_s) { return spoken_duration(step_s * scale); };
  const StepCause* most = causes.largest();
  if (most == nullptr)
    return fmt::format("The GPU's own kernels are {} of the step; nothing else costs more than 1 %.",
                       percentage(causes.kernels_s / causes.step_s));
  std::string after = time(most->step_s), before = time(causes.step_s);
  // A saving below the rounding of durations needs more digits, or both figures would look equal.
  if (after == before) {
    after = to_string(seconds(most->step_s * scale));
    before = to_string(seconds(causes.step_s * scale));
  }
  std::string out =
      fmt::format("{}: {} of the step. {}, it would take {} instead of {}.", capitalized(most->name),
                  time(most->saves_s), capitalized(most->without), after, before);
  // Users often suspect the links, so a small saving by them is stated as well.
  const auto links = std::ranges::find(causes.alone, std::vector{Removable::links}, &StepCause::what);
  if (links != causes.alone.end() && &*links != most && links->saves_s > 0 &&
      links->saves_s < most->saves_s / 2)
    out += fmt::format(" {}: {}.", capitalized(links->name), time(links->saves_s));
  return out;
}

/// Names the first setting and counts the others; the question is about time if one of them decides time.
std::string cannot_say_words(const Answer& answer, const Scenario& scenario) {
  const bool of_time = std::ranges::any_of(scenario.unmodelled, &UnmodelledSetting::decides_time);
  const std::string more = answer.not_understood.size() > 1 ? fmt::format(" {} more such settings are below.",
                                                                          answer.not_understood.size() - 1)
                                                            : "";
  return fmt::format("Cannot say {}: {}{}", of_time ? "how long" : "whether it fits",
                     answer.not_understood.front(), more);
}

std::string idle_words(int working, int gpus) {
  return fmt::format("This job uses {} of its {}.", working, counted(gpus, "GPU"));
}

std::string idle_cause(int working, int gpus) {
  return fmt::format("{} without a process: the job pays for what does nothing.",
                     counted(gpus - working, "GPU"));
}

std::string idle_action(int gpus, int nodes) {
  return fmt::format(
      "Start one process for each GPU: torchrun --nproc_per_node={0}, or srun --ntasks-per-node={0}.",
      (gpus + nodes - 1) / nodes);
}

/// Adds the gain of one process for each GPU: in time where an epoch is known, else in samples per second.
std::string idle_words(const Scenario& scenario, const PredictionPoint& p,
                       const std::optional<PredictionPoint>& mended) {
  std::string out = idle_words(working_gpu_count(scenario, p.gpus), p.gpus);
  if (!mended) return out;
  const bool has_epoch = p.knows_epochs && p.steps_per_epoch > 0;
  if (!has_epoch)
    return out + fmt::format(" With one process for each GPU it trains {} samples a second instead of {}.",
                             spoken_factor(mended->samples_per_s), spoken_factor(p.samples_per_s));
  return out + fmt::format(" With one process for each GPU, {} take{} {} instead of {}.", epochs_of(scenario),
                           scenario.epochs == 1 ? "s" : "", spoken_duration(mended->total_s),
                           spoken_duration(p.total_s));
}

namespace {

/// Returns the verdict where the host's memory is too small for what is offloaded.
std::string host_does_not_fit_words(const Scenario& scenario, const PredictionPoint& p, bool is_sure) {
  return fmt::format("The host's memory {} {} on {}: what is offloaded needs {} on each node, and it has {}.",
                     is_sure ? "cannot hold" : "probably cannot hold", scenario.model.name, gpus_of(p.gpus),
                     to_string(p.host_memory.total()), to_string(p.host_capacity));
}

}  // namespace

/// Compares the two probabilities: the scarcer memory is the one to report.
bool lacks_host_memory(const PredictionPoint& p) {
  const double gpu = chance_of_fitting(static_cast<double>(p.memory.least().count),
                                       static_cast<double>(p.memory_capacity.count));
  return chance_of_host(p) < kSurelyFits && chance_of_host(p) <= gpu;
}

/// The sentence states the need, the largest part and, unless it is sure, the probability of an out-of-memory
/// error.
std::string does_not_fit_words(const Scenario& scenario, const PredictionPoint& p) {
  const double fits = chance_of_fitting(p);
  if (lacks_host_memory(p)) return host_does_not_fit_words(scenario, p, fits < 1 - kNearlySure);
  const bool is_sure = fits < 1 - kNearlySure;
  std::string out = fmt::format("{} {} on {} of {} ({}): training needs {} on each; the largest part is {}.",
                                scenario.model.name, is_sure ? "does not fit" : "probably does not fit",
                                gpus_of(p.gpus), gpu_of(p, scenario).name, to_string(p.memory_capacity),
                                to_string(p.memory.least()), largest_part(p.memory));
  if (!is_sure) out += fmt::format(" {} of such runs are out of memory.", spoken_chance(1 - fits));
  return out;
}

/// Says how much of the time is lost and what the proposed workers gain, in the same sentence.
std::string waits_words(const Answer& answer, const PredictionPoint& p) {
  const StepCauses& causes = *answer.causes;
  const std::string waits = percentage(causes.saving_of(Removable::input) / causes.step_s);
  const std::string who = p.gpus == 1 ? "The GPU waits" : "Mend the input before adding GPUs: each one waits";
  std::string out = fmt::format("{} {} of the time for data.", who, waits);
  if (!answer.remedy) return out;
  const auto place = std::ranges::find(answer.counts, p.gpus) - answer.counts.begin();
  return out + fmt::format(" {} loader workers for each {} instead of {} make it {} times faster.",
                           answer.remedy->workers, answer.remedy->unit, answer.remedy->workers_before,
                           spoken_factor(p.step_s / answer.remedy->step_s[static_cast<std::size_t>(place)]));
}

/// The advice comes first, then the loss; the interval is added where one GPU is the alternative.
std::string slower_words(const PredictionPoint& p, const PredictionPoint& fewer) {
  const double ratio = p.samples_per_s / fewer.samples_per_s;
  std::string out = fmt::format("Ask for {}: {} are {} slower ({} times as fast", gpus_of(fewer.gpus),
                                counted(p.gpus, "GPU"), percentage(1 - ratio), spoken_factor(ratio));
  if (fewer.gpus == 1 && p.speedup_range.high > 0)
    out += fmt::format("; between {} and {}", spoken_factor(p.speedup_range.low),
                       spoken_factor(p.speedup_range.high));
  return out + ").";
}

/// Ratio of the ends of a speedup's interval above which its middle says nothing.
constexpr double kTellsNothing = 3;

/// Returns the words for a speedup whose interval is too wide for a figure.
std::string cannot_say_how_much(const PredictionPoint& p) {
  const std::string between =
      fmt::format("between {} and {} times as fast", spoken_factor(p.speedup_range.low),
                  spoken_factor(p.speedup_range.high));
  return p.chance_of_gain >= kNearlySure
             ? fmt::format("faster than one GPU, but foretrain cannot say by how much ({})", between)
             : fmt::format("foretrain cannot say by how much that is faster than one GPU, if it is ({})",
                           between);
}

/// Returns the ratio of whole runs, start-up included, where that is far from the speedup, which is of
/// samples per second: a run of seconds is mostly start-up. Nothing where both say the same, or no row has
/// one GPU.
std::optional<double> other_ratio_of_runs(const Answer& answer, const PredictionPoint& p) {
  constexpr double kSameAsSpeedup = 0.9;
  const auto one = std::ranges::find(answer.rows, 1, &PredictionPoint::gpus);
  if (answer.quantity == "step" || one == answer.rows.end() || !(p.total_s > 0)) return std::nullopt;
  const double ratio = one->total_s / p.total_s;
  return ratio < kSameAsSpeedup * p.speedup ? std::optional(ratio) : std::nullopt;
}

/// Returns the comparison with one GPU where it can run the training, else with the fewest GPUs of the rows.
std::string compared_words(const Answer& answer, const PredictionPoint& p) {
  if (p.gpus == 1 || !p.fits()) return {};
  if (answer.one_gpu_fits && p.speedup_range.high > kTellsNothing * p.speedup_range.low)
    return ": " + cannot_say_how_much(p);
  if (answer.one_gpu_fits) {
    if (const auto runs = other_ratio_of_runs(answer, p))
      return fmt::format(": {}; the training steps alone are {} times as fast", times_faster(*runs),
                         spoken_factor(p.speedup));
    return ": " + times_faster(p.speedup);
  }
  const PredictionPoint& least = answer.rows.front();
  if (least.gpus == p.gpus || !least.fits()) return {};
  return fmt::format(": {} times faster than {}", spoken_factor(p.samples_per_s / least.samples_per_s),
                     gpus_of(least.gpus));
}

/// Returns a sentence on the first smaller row that is slower than one GPU; empty if there is none.
std::string slower_rows(const Answer& answer, const PredictionPoint& p) {
  if (!answer.one_gpu_fits) return {};
  for (const PredictionPoint& row : answer.rows)
    if (row.gpus > 1 && row.gpus < p.gpus && row.fits() && row.speedup < kSlower)
      return fmt::format(" {} are slower than one GPU ({} times as fast).", counted(row.gpus, "GPU"),
                         spoken_factor(row.speedup));
  return {};
}

/// Adds warnings about slower rows and about memory that may be too small to the duration.
std::string time_words(const Answer& answer, const PredictionPoint& p, const Scenario& scenario,
                       double fits) {
  const std::string subject = answer.quantity == "step" ? "a step" : epochs_of(scenario);
  std::string out =
      fmt::format("On {}, {} {}{}.", gpus_of(p.gpus), subject,
                  takes(answer, subject.starts_with("a") ? "takes" : "take"), compared_words(answer, p));
  out += slower_rows(answer, p);
  if (fits < kNearlySure && lacks_host_memory(p))
    out += fmt::format(
        " The host's memory may not hold it: {} of {} are needed on each node, and {} of such "
        "runs are out of memory.",
        to_string(p.host_memory.total()), to_string(p.host_capacity), spoken_chance(1 - fits));
  else if (fits < kNearlySure)
    out += " " + may_not_fit_words(to_string(p.memory.least()), to_string(p.memory_capacity), fits);
  return out;
}

std::string may_not_fit_words(const std::string& needed, const std::string& there, double fits) {
  return fmt::format("It may not fit: {} of {} are needed, and {} of such runs are out of memory.", needed,
                     there, spoken_chance(1 - fits));
}

std::vector<std::string> unmodelled_words(const Scenario& scenario, int nodes) {
  std::vector<std::string> out;
  for (const UnmodelledSetting& setting : scenario.unmodelled)
    if (setting.matters_on(nodes))
      out.push_back(
          fmt::format("{} ({}) is not modelled. {}", setting.setting, setting.place, setting.effect));
  return out;
}

void say_what_is_unmodelled(Answer& answer, const Scenario& scenario) {
  if (answer.not_understood.empty()) return;
  answer.kind = VerdictKind::cannot_say;
  answer.verdict = cannot_say_words(answer, scenario);
  answer.action = kLeaveOut;
  answer.says_more_gpus = false;
}

std::string counted_list(const std::vector<int>& counts) {
  return fmt::format("{} GPU{}", listed(counts), counts.back() == 1 ? "" : "s");
}

/// Names the job, its duration and, with a deadline, the probability of keeping it.
std::string request_words(const Recommendation& recommendation) {
  if (!recommendation.best) return fmt::format("No job keeps the limits: {}.", recommendation.why_none);
  const JobOption& job = *recommendation.best;
  const PredictionPoint& p = job.point;
  std::string out =
      fmt::format("Ask for {} on {}: done in about {} ({})", counted(p.gpus, "GPU"),
                  p.nodes == 1 ? "one node" : counted(p.nodes, "node"), spoken_duration(p.total_s),
                  spoken_range(p.total_interval.low_s, p.total_interval.high_s));
  if (recommendation.deadline_s && job.keeps_deadline)
    out += fmt::format(", inside your {} with {} probability", spoken_duration(*recommendation.deadline_s),
                       spoken_chance(*job.keeps_deadline));
  return out + ".";
}

/// The advice of the step model comes first; `foretrain plan` is the alternative in any case.
std::string does_not_fit_action(PointPredictor& points, const PredictionPoint& p) {
  if (lacks_host_memory(p))
    return "More nodes divide what each holds; NVMe takes it off the host, and without offload nothing is "
           "there.";
  const std::string advice = memory_advice(p, points.simulator().scenario(), points.step(p.gpus).memory);
  const std::string plan = "foretrain plan looks for layouts that fit.";
  return advice.empty() ? plan : fmt::format("{}. {}", capitalized(advice), plan);
}

std::string fitting_action(const FittingWay& way) {
  std::string what = way.what;
  if (const std::size_t comma = what.rfind(", "); comma != std::string::npos) what.replace(comma, 2, " and ");
  return fmt::format("With {} it needs {} and fits: add {}", what, to_string(way.memory), way.option);
}

/// Workers help only a loader whose workers the user sets; otherwise the input itself must become cheaper.
std::string waits_action(const Answer& answer, const Scenario& scenario) {
  if (answer.remedy)
    return fmt::format("DataLoader(…, num_workers={}); foretrain: --set data.workers_per_gpu={}",
                       answer.remedy->workers, answer.remedy->workers);
  if (scenario.workload.data.loader == LoaderKind::torch)
    return "More workers do not help on these cores: decode less, cache the data, or load on the GPU.";
  return "Make the input cheaper: cache the data, read it from faster memory, or prepare it beforehand.";
}

std::string slower_action(const std::vector<FasterChange>& ways, const PredictionPoint& fewer) {
  if (ways.empty())
    return fmt::format("Stay with {}: neither another strategy nor a larger batch makes more GPUs pay.",
                       gpus_of(fewer.gpus));
  std::string out;
  for (const FasterChange& way : ways)
    out += fmt::format("{}{} ({} times as fast as {}, {})", out.empty() ? "" : ", or ", way.what,
                       spoken_factor(way.ratio), gpus_of(fewer.gpus), way.option);
  return capitalized(out) + ".";
}

/// States the speedup against the additional GPU-hours.
std::string fewer_words(const PredictionPoint& p, const PredictionPoint& worth) {
  const double faster = p.samples_per_s / worth.samples_per_s, more = p.gpus / faster / worth.gpus;
  const std::string begin = worth.gpus == 1 ? std::string("More than one GPU does not pay")
                                            : fmt::format("More than {} GPUs do not pay", worth.gpus);
  return fmt::format("{}: {} are {} times as fast and take {} times the GPU-hours.", begin,
                     counted(p.gpus, "GPU"), spoken_factor(faster), spoken_factor(more));
}

std::string more_words(const PredictionPoint& p, bool more_pay, const Prediction& prediction) {
  if (p.gpus >= prediction.cluster_gpus) return "These are all GPUs that the job can have.";
  if (p.gpus >= prediction.crossover.searched) return "This job cannot use more GPUs.";
  return more_pay ? "Further GPUs still pay: each stays at least 70 % used. --gpus shows them."
                  : "Further GPUs do not pay: each would be less than 70 % used.";
}

}  // namespace foretrain
