// Options of predict about the job to request. Durations are spelled as in scenarios: 8h, 90 min.
#include "sim/app/options/recommendation_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

// Largest hours and prices; larger ones are typing errors, and sums up to here stay exact.
constexpr double kMostNumber = 1e12;
constexpr int kMostGpus = 1'000'000;
// Percent of --efficiency. At 50 a doubling gives no speedup at all, and at 100 it has no loss.
constexpr double kLeastEfficiency = 51, kMostEfficiency = 99;

/// Returns true for a date such as 2026-11-27, 27.11.2026 or 11/27/2026: three numbers between two equal
/// marks.
bool is_date(std::string_view text) {
  const std::size_t first = text.find_first_not_of("0123456789");
  if (first == 0 || first == std::string_view::npos) return false;
  const char mark = text[first];
  const std::size_t second = text.find_first_not_of("0123456789", first + 1);
  return (mark == '-' || mark == '.' || mark == '/') && second > first + 1 &&
         second != std::string_view::npos && text[second] == mark;
}

/// Converts the texts of options to values. Mistakes are collected, so that all of them are thrown together.
class Reader {
 public:
  /// Returns the seconds of a positive duration.
  double duration(std::string_view option, std::string_view text) {
    const ParsedQuantity parsed = parse_quantity(text, Dimension::time);
    if (parsed && parsed.value > 0) return parsed.value;
    report(fmt::format("{}: {}", option, parsed ? "a duration is longer than zero" : parsed.error),
           parsed.error.ends_with("out of range") ? parsed.hint : "as in 8h or 90min");
    return 0;
  }

  /// Returns the seconds of --deadline. Dates and deadlines that have passed get messages of their own, as
  /// users often type them.
  double deadline(std::string_view text) {
    const std::string quoted = fmt::format("--deadline: \"{}\"", shortened(printable(text), 20));
    const char* hint = "say how long the run may take, as in 24h or 3d";
    const ParsedQuantity parsed = parse_quantity(text, Dimension::time);
    if (is_date(text))
      report(quoted + " is a date; a deadline counts from the start of the run", hint);
    else if (parsed.error.ends_with("is negative"))
      report(quoted + " is negative: that deadline has passed", hint);
    else if (parsed && parsed.value == 0)
      report(quoted + " leaves no time to train", hint);
    else
      return duration("--deadline", text);
    return 0;
  }

  /// Reads one wait: "2h" for every number of GPUs, "4=1h" for 4 GPUs.
  void queue_wait(std::string_view text, RecommendationRequest& request) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      request.queue_wait_s = duration("--queue-wait", text);
      return;
    }
    int gpus = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + equals, gpus);
    if (problem != std::errc{} || end != text.data() + equals || gpus < 1)
      return report(fmt::format("--queue-wait: \"{}\" is no number of GPUs",
                                text.substr(0, std::min<std::size_t>(equals, 20))),
                    "as in --queue-wait 30min,8=4h");
    request.queue_waits_s[gpus] = duration("--queue-wait", text.substr(equals + 1));
  }

  /// Reports NaN, which the parser's checks of a range let pass.
  void refuse_nan(std::string_view option, double value) {
    if (std::isnan(value)) report(fmt::format("{}: nan is no number", option), "as in 100");
  }

  /// Reports an --efficiency that has no effect: it only decides a balanced job without a deadline.
  void refuse_idle_efficiency(const RecommendationTexts& texts, const RecommendationRequest& request) {
    if (texts.efficiency == 0) return;
    if (request.goal != Goal::balanced)
      report(fmt::format("--efficiency decides a balanced job, and --goal is {}", texts.goal),
             "leave one of them out");
    else if (request.deadline_s)
      report("--efficiency decides nothing with --deadline: the smallest job that ends in time is chosen",
             "leave one of them out");
  }

  /// Throws InputError when there was a mistake.
  void throw_if_any() const {
    if (!mistakes_.empty()) throw InputError(mistakes_);
  }

 private:
  void report(std::string message, std::string hint) {
    mistakes_.push_back({"", {}, "", std::move(message), std::move(hint)});
  }

  std::vector<Diagnostic> mistakes_;
};

// Only names of kGoalNames arrive here, so the index is that of an enum value.
Goal goal_named(std::string_view name) {
  return static_cast<Goal>(std::find(kGoalNames.begin(), kGoalNames.end(), name) - kGoalNames.begin());
}

}  // namespace

// Each script goes to a file of its own, so several systems can be asked for at once.
void add_job_scripts(CLI::App& command, RecommendationOptions& options, const char* group) {
  command.add_option("--sbatch", options.sbatch, "Also write the job as a Slurm script, ready to edit")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--condor", options.condor, "The same as an HTCondor submit file")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--job-script", options.job_script, "The same for the cluster's own batch system")
      ->type_name("FILE")
      ->group(group);
  // The first name stands for an unknown system and cannot be requested.
  const std::vector<std::string> systems(kBatchSystemNames.begin() + 1, kBatchSystemNames.end());
  command.add_option("--job-system", options.job_system, "Or for this one")
      ->transform(one_of(systems))
      ->type_name(joined(systems))
      ->group(group);
}

// Texts are converted by read_recommendation(), which reports all mistakes together.
void add_recommendation(CLI::App& command, RecommendationOptions& options, RecommendationTexts& texts) {
  const std::vector<std::string> goals(kGoalNames.begin(), kGoalNames.end());
  const char* group = "Which job to ask for";
  // The order is: what is wanted, then limits of the job, then limits of the run, then prices and waits.
  command
      .add_flag("--recommend", options.recommend,
                "Also say how many GPUs to request, for how long, and what two others would trade")
      ->group(group);
  command
      .add_option(
          "--goal", texts.goal,
          "fastest: the shortest run; cheapest: the least cost; balanced: the smallest job that keeps "
          "--deadline, else twice the GPUs while that pays (--efficiency), on two nodes at most "
          "(default)")
      ->transform(one_of(goals))
      ->type_name(joined(goals))
      ->group(group);
  // The unit is percent; the request holds a fraction of 1.
  command
      .add_option("--efficiency", texts.efficiency,
                  "Percent that each doubling of the GPUs must buy in a balanced job; 70: twice the GPUs are "
                  "1.4 times as fast (default)")
      ->check(CLI::Range(kLeastEfficiency, kMostEfficiency))
      ->type_name("%")
      ->group(group);
  command.add_option("--max-gpus", options.request.most_gpus, "No job on more GPUs")
      ->check(CLI::Range(1, kMostGpus))
      ->type_name("N")
      ->group(group);
  command.add_option("--max-nodes", options.request.most_nodes, "No job on more nodes")
      ->check(CLI::Range(1, kMostGpus))
      ->type_name("N")
      ->group(group);
  // Durations have units, so they stay texts until read_recommendation() converts them.
  command.add_option("--deadline", texts.deadline, "The run is over in time with 95 %, as in 8h")
      ->type_name("TIME")
      ->group(group);
  // GPU-hours are the job's GPUs times the hours of the run; the price may be in any currency.
  command.add_option("--budget", texts.budget, "GPU-hours at most")
      ->check(CLI::Range(1e-6, kMostNumber))
      ->type_name("GPUh")
      ->group(group);
  command.add_option("--price", texts.price, "Of a GPU-hour, instead of what the cluster's file says")
      ->check(CLI::Range(1e-6, kMostNumber))
      ->type_name("X")
      ->group(group);
  // Waits depend on the size of the job, so each size may have its own.
  command
      .add_option("--queue-wait", texts.queue_wait,
                  "How long jobs wait, as in 30min,8=4h: for any number of GPUs, and for 8. Never part of "
                  "the speedup; the time to the result "
                  "is a column of its own")
      ->delimiter(',')
      ->type_name("LIST")
      ->group(group);
  add_job_scripts(command, options, group);
}

// Zero means that an option was not given, as its range excludes zero.
void read_recommendation(const RecommendationTexts& texts, RecommendationOptions& options) {
  Reader reader;
  RecommendationRequest& request = options.request;
  // Names and numbers have passed the parser's checks; only NaN and the spelling of durations are left.
  if (!texts.goal.empty()) request.goal = goal_named(texts.goal);
  if (!texts.deadline.empty()) request.deadline_s = reader.deadline(texts.deadline);
  reader.refuse_nan("--budget", texts.budget);
  reader.refuse_nan("--price", texts.price);
  if (texts.budget > 0) request.budget_gpu_hours = texts.budget;
  if (texts.price > 0) request.price_per_gpu_hour = texts.price;
  if (texts.efficiency > 0) request.efficiency = texts.efficiency / 100;
  for (const std::string& wait : texts.queue_wait) reader.queue_wait(wait, request);
  // All mistakes are known here and are thrown together.
  reader.refuse_idle_efficiency(texts, request);
  reader.throw_if_any();
  const bool is_asked = request.goal != Goal::balanced || texts.efficiency > 0 || request.most_gpus > 0 ||
                        request.most_nodes > 0 || request.deadline_s || request.budget_gpu_hours ||
                        request.price_per_gpu_hour || !texts.queue_wait.empty() || !texts.goal.empty();
  // A limit without --recommend still asks for a recommendation.
  options.recommend = options.recommend || is_asked;
}

}  // namespace foretrain
