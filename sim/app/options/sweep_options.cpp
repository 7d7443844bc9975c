// Options of the commands sweep run, merge, status, show and submit.
#include "sim/app/options/sweep_options.hpp"

#include <charconv>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/sweep/submission.hpp"
#include "sim/report/sweep/sweep_reports.hpp"

namespace foretrain {

namespace {

// Limits of --threads and --shards.
constexpr int kMostThreads = 1024;
constexpr std::int64_t kMostShards = 1'000'000;

/// Returns the shard that a text such as "3/8" names: part 3 of 8. Throws InputError for anything else.
Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, problem] = std::from_chars(text.data(), end, shard.part);
  const bool is_cut = problem == std::errc{} && slash != end && *slash == '/';
  const auto [rest, other] =
      is_cut ? std::from_chars(slash + 1, end, shard.of) : std::from_chars_result{text.data(), problem};
  if (!is_cut || other != std::errc{} || rest != end || shard.part < 1 || shard.of < shard.part ||
      shard.of > kMostShards)
    throw InputError(fmt::format("--shard {} is no part of a whole", shortened(text, 40)),
                     "as in --shard 3/8");
  return shard;
}

/// Adds --format and -o.
void add_report_options(CLI::App& command, std::string& format, const std::vector<std::string>& formats,
                        std::string& output) {
  command.add_option("--format", format, joined(formats))
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("-o,--output", output, "Write to a file instead of standard output")->type_name("FILE");
}

/// Adds `sweep run`, which fills a database. It can be interrupted (exit code 130) and continues when it is
/// run again.
void add_sweep_run(CLI::App& sweep, SweepOptions& options) {
  CLI::App* command = sweep.add_subcommand(
      "run", "Predict every case that is not in the database yet; what is killed goes on where it was");
  SweepRunCommand& run = options.run;
  command->add_option("SWEEP", run.sweep, "A file with axes, samples and conditions (docs/models/choices.md)")
      ->required();
  // An existing database is continued when it belongs to the same sweep.
  command->add_option("--db", run.database, "The SQLite file of its results; made if it is not there")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("-j,--threads", run.threads,
                   "Worker processes; by default as many as there are processors")
      ->check(CLI::Range(1, kMostThreads))
      ->type_name("N");
  command
      ->add_option("--shard", options.shard, "Only this part of the cases, as in 3/8; each has its own file")
      ->type_name("PART/ALL");
  command->add_flag("--retry-crashed", run.retry_crashed,
                    "Also predict cases again that ended their worker process, as where memory was short");
  command->add_flag("--quiet", run.quiet, "No sentence at the end");
  command->footer(
      "Examples:\n  foretrain sweep run sweep.toml --db sweep.sqlite\n  foretrain sweep run sweep.toml --db "
      "part3.sqlite --shard 3/8 -j 4");
  // A shard is parsed after the line, so that its mistake is wrong input (exit code 1).
  command->callback([&options] {
    if (!options.shard.empty()) options.run.shard = parse_shard(options.shard);
    run_sweep_run(options.run);
  });
}

/// Adds `sweep merge`, which joins databases of shards.
void add_sweep_merge(CLI::App& sweep, SweepMergeCommand& merge) {
  CLI::App* command = sweep.add_subcommand("merge", "Databases of one sweep joined into one file");
  command->add_option("DATABASE", merge.databases, "Files of `sweep run`; some may be in it twice")
      ->required();
  // The file is replaced at the end, so an interrupted merge leaves the old one.
  command->add_option("-o,--output", merge.output, "The file; what is there is replaced when it is whole")
      ->type_name("FILE")
      ->required();
  command->footer("Example:\n  foretrain sweep merge part1.sqlite part2.sqlite -o sweep.sqlite");
  command->callback([&merge] { run_sweep_merge(merge); });
}

/// Adds `sweep status`, which prints counts of cases and changes nothing.
void add_sweep_status(CLI::App& sweep, SweepStatusCommand& status) {
  CLI::App* command =
      sweep.add_subcommand("status", "How many cases of each database are done, also while it is written");
  command->add_option("DATABASE", status.databases, "Files of `sweep run`")->required();
  add_report_options(*command, status.format, names_of_rows(kStateReports), status.output);
  command->footer("Example:\n  foretrain sweep status part1.sqlite part2.sqlite");
  command->callback([&status] { run_sweep_status(status); });
}

/// Adds `sweep show`, which prints rows, the best rows, the Pareto front, or the effect of each axis.
void add_sweep_show(CLI::App& sweep, SweepShowCommand& show) {
  CLI::App* command = sweep.add_subcommand(
      "show", "Rows of a database: some, the best, those that no other beats; or what each axis does");
  SweepQuestion& question = show.question;
  command->add_option("DATABASE", show.database, "A file of `sweep run` or `sweep merge`")->required();
  // The expressions are checked by SQLite when the question is asked.
  command
      ->add_option(
          "--where", question.where,
          "Only cases of which this holds: an expression of SQL over axes and figures, as in \"gpus <= "
          "8 AND fits\"")
      ->type_name("SQL");
  // --best, --pareto and --effects are three different questions and exclude each other.
  CLI::Option* best =
      command
          ->add_option("--best", question.best, "The smallest of this first, as in total_s or -samples_per_s")
          ->type_name("SQL");
  CLI::Option* pareto =
      command
          ->add_option("--pareto", question.pareto,
                       "Those that no other case beats in all of these, as in total_s,gpu_hours,energy_kwh")
          ->delimiter(',')
          ->type_name("LIST")
          ->excludes(best);
  command
      ->add_option("--effects", question.effects, "For each value of each axis the mean and the best of this")
      ->type_name("SQL")
      ->excludes(best)
      ->excludes(pareto);
  // Cases that cannot run have a message instead of figures; without the flag they are left out.
  command->add_flag("--failed", question.failed, "Cases that cannot run, with their reasons");
  command
      ->add_option("--columns", question.columns,
                   "What is shown, with commas; by default axes and usual figures")
      ->delimiter(',')
      ->type_name("LIST");
  command->add_option("--most", question.most, "So many rows")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_report_options(*command, show.format, names_of_rows(kAnswerReports), show.output);
  command->footer(
      "Examples:\n  foretrain sweep show sweep.sqlite --best total_s --where \"fits AND gpus <= 16\"\n  "
      "foretrain "
      "sweep show sweep.sqlite --pareto total_s,gpu_hours\n  foretrain sweep show sweep.sqlite --effects "
      "total_s\n  foretrain sweep show sweep.sqlite --most 1000000 --format csv -o rows.csv");
  command->callback([&show] { run_sweep_show(show); });
}

/// Adds `sweep submit`, which prints a job script and submits it only with --now.
void add_sweep_submit(CLI::App& sweep, SweepSubmitCommand& submit) {
  CLI::App* command = sweep.add_subcommand(
      "submit", "The script of a job array whose jobs run a shard each, with what a measured rate asks for");
  command->add_option("SWEEP", submit.sweep, "The sweep's file")->required();
  // These flags exclude each other one by one instead of being an option group: CLI11 2.3 loops forever on a
  // group when an empty word stands before one of its flags.
  std::vector<CLI::Option*> engines;
  for (const SweepEngine& engine : sweep_engines()) {
    CLI::Option* flag = command->add_flag_function(
        fmt::format("--{}", engine.name),
        [&submit, name = std::string(engine.name)](std::int64_t) { submit.engine = name; },
        std::string(engine.meaning));
    for (CLI::Option* other : engines) flag->excludes(other);
    engines.push_back(flag);
  }
  // There are never more jobs than groups of cases, whatever the number says.
  command->add_option("--shards", submit.shards, "So many jobs")
      ->check(CLI::Range(std::int64_t{1}, kMostShards))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("-j,--threads", submit.threads, "Of each job")
      ->check(CLI::Range(1, kMostThreads))
      ->type_name("N")
      ->capture_default_str();
  // Each shard has a database of its own; `sweep merge` joins them.
  command
      ->add_option("--db", submit.database,
                   "What the files of results begin with, as in PREFIX-3.sqlite; by default the sweep's name")
      ->type_name("PREFIX");
  command->add_option("--image", submit.image, "Of Kubernetes: the container that has foretrain")
      ->type_name("NAME");
  command->add_option("--claim", submit.claim, "Of Kubernetes: the volume claim that is mounted as /sweep")
      ->type_name("NAME");
  // A script can only be handed in as a file, so --now needs -o.
  CLI::Option* output =
      command
          ->add_option("-o,--output", submit.output, "Write the script to a file instead of standard output")
          ->type_name("FILE");
  command->add_flag("--now", submit.now, "Also hand the file in (sbatch, condor_submit, kubectl, flux)")
      ->needs(output);
  command->footer(
      "Examples:\n  foretrain sweep submit sweep.toml --slurm --shards 8 -j 4 -o sweep.sbatch\n  foretrain "
      "sweep "
      "submit sweep.toml --htcondor --shards 100 -o sweep.sub --now");
  // The message names all flags of batch systems, of which one is required.
  command->callback([&submit] {
    std::string engines;
    for (const SweepEngine& engine : sweep_engines())
      engines += fmt::format("{}--{}", engines.empty() ? "one of " : ", ", engine.name);
    if (submit.engine.empty()) throw CLI::RequiredError(engines);
    run_sweep_submit(submit);
  });
}

}  // namespace

// The order is that of use: run, look, ask, merge, submit.
void add_sweep(CLI::App& app, SweepOptions& options) {
  CLI::App* command = app.add_subcommand(
      "sweep", "Predict thousands or millions of variants of a scenario, and ask about them");
  command->require_subcommand(1);
  add_sweep_run(*command, options);
  add_sweep_status(*command, options.status);
  add_sweep_show(*command, options.show);
  add_sweep_merge(*command, options.merge);
  add_sweep_submit(*command, options.submit);
}

}  // namespace foretrain
