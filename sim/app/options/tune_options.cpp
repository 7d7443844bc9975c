// Options of the command `tune`: a scenario, the settings that vary, the goal, and when the search ends.
#include "sim/app/options/tune_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/options/evidence_options.hpp"
#include "sim/app/options/gpu_numbers.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/sweep/tune_reports.hpp"

namespace foretrain {

namespace {

// Limits of --searches and --most.
constexpr int kMostSearches = 10'000;
constexpr std::int64_t kMostPredictions = 1'000'000;

/// Adds the space that is searched: settings with usual values (--over), axes as in a sweep's file (--axis),
/// and conditions on them (--where).
void add_space(CLI::App& command, TuneOptions& options) {
  TuneCommand& tune = options.tune;
  command.add_option("SCENARIO", tune.scenario, "A scenario file or one of the catalog")->required();
  // Names stand for settings with a usual list of values; --axis states the values itself.
  command
      .add_option("--over", tune.over,
                  "Settings that vary over their usual values, as in strategy,bucket_cap,batch,workers,gpus; "
                  "choices over all their names")
      ->delimiter(',')
      ->type_name("LIST");
  command
      .add_option("--axis", tune.axes,
                  "A setting and its values as in a sweep's [axes]: 'batch = [64, 96]' or "
                  "'workers = { from = 0, to = 12, step = 2 }'; may be repeated")
      ->type_name("AXIS")
      ->allow_extra_args(false);
  // Conditions are checked before a case is predicted, so they save predictions.
  command
      .add_option("--where", tune.where,
                  "Only cases of which this holds: SQL over the axes, as in \"gpus * batch <= 1024\"; may be "
                  "repeated")
      ->type_name("SQL")
      ->allow_extra_args(false);
  command.add_option("--gpus", options.gpus, "On so many GPUs, where their number does not vary")
      ->delimiter(',')
      ->type_name("N");
  command
      .add_option("--set", tune.overrides.settings,
                  "Any key of the scenario before the search, as for predict; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

/// Adds the goal, the limits of the search and the outputs.
void add_search(CLI::App& command, TuneCommand& tune) {
  const std::vector<std::string> goals = names_of_rows(kTuneGoals);
  // The goal is a figure of a sweep's case.
  command
      .add_option(
          "--best", tune.goal,
          "What is best: the smallest of a figure, of samples_per_s the largest; by default total_s, or "
          "samples_per_s where the size of the data set is unknown")
      ->transform(one_of(goals))
      ->type_name(joined(goals));
  // --searches ends the walks from random starts; --most bounds the predictions of the whole search.
  command
      .add_option("--searches", tune.searches,
                  "It ends after so many starts in a row that led to nothing better")
      ->check(CLI::Range(1, kMostSearches))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--most", tune.most, "Predictions at most")
      ->check(CLI::Range(std::int64_t{1}, kMostPredictions))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", tune.seed, "Of the starts that are drawn")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 53))
      ->type_name("N")
      ->capture_default_str();
  const std::vector<std::string> formats = names_of_rows(kTuneReports);
  command.add_option("--format", tune.format, joined(formats))
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("-o,--output", tune.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  add_evidence_option(command, tune.evidence);
}

}  // namespace

// The same seed gives the same search.
void add_tune(CLI::App& app, TuneOptions& options) {
  CLI::App* command = app.add_subcommand(
      "tune", "The best of many settings of a scenario, by search: what enumerating them would find");
  add_space(*command, options);
  add_search(*command, options.tune);
  command->footer(
      "Examples:\n  foretrain tune mahti-resnet50-ddp --over strategy,bucket_cap,batch,workers,gpus\n  "
      "foretrain "
      "tune mahti-resnet50-ddp --gpus 8 --over bucket_cap,workers,execution --best gpu_hours\n  foretrain "
      "tune "
      "my.toml --axis 'batch = [64, 96, 128]' --over workers,precision --format json");
  // Without an axis there would be nothing to search.
  command->callback([&options] {
    if (options.tune.over.empty() && options.tune.axes.empty()) throw CLI::RequiredError("--over or --axis");
    options.tune.overrides.gpus = gpu_numbers(options.gpus);
    run_tune(options.tune);
  });
}

}  // namespace foretrain
