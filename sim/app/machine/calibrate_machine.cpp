// The command calibrate machine: measures this machine in stages and fits a calibration to it. Stages are
// rows of a table and run in order. progress.toml is written after each, so that --resume continues a run
// that ended at any moment.
//
// `foretrain calibrate machine -o FOLDER` prints a line before and after each stage. It ends with exit code 3
// when a stage failed or nothing was measured, and with 130 when a signal interrupted it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/app/commands.hpp"
#include "sim/app/machine/programs.hpp"
#include "sim/app/machine/run_folder.hpp"
#include "sim/app/machine/stages.hpp"
#include "sim/app/sweep/heeded_signals.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/interrupted.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

// Time of all stages together when --budget is not given.
constexpr std::string_view kUsualBudget = "8m";
// A stage may take this fraction of the remaining time, when its `patience_s` exceeds its share.
constexpr double kMostPatience = 0.25;

/// Returns the seconds of --budget, spelled as foretrain-bench takes them. Throws InputError.
double budget_of(const std::string& text) {
  // Hours, minutes and seconds as foretrain-bench takes them, too.
  std::string spelt = text;
  if (spelt.ends_with('m') && !spelt.ends_with("min")) spelt += "in";
  const ParsedQuantity time = parse_quantity(spelt, Dimension::time, kDurationRange);
  if (!time)
    throw InputError(fmt::format("--budget {}: {}", printable(shortened(text, 40)), time.error),
                     "a time as in 90s, 8m, 1h");
  return time.value;
}

/// Returns the stages of --stages, or all, in the order of the table. Throws InputError for an unknown name.
std::vector<const StageRow*> requested_stages(const MeasureMachineCommand& command) {
  std::vector<std::string> names;
  for (const StageRow& row : machine_stages()) names.emplace_back(row.name);
  std::vector<std::string> wanted;
  for (const std::string& word : command.stages) {
    wanted.push_back(spelt_alike(word, names));
    if (wanted.back().empty())
      throw InputError(fmt::format("--stages: there is no stage \"{}\"", printable(shortened(word, 40))),
                       did_you_mean(word, names));
  }
  std::vector<const StageRow*> rows;
  for (const StageRow& row : machine_stages())
    if (wanted.empty() || std::ranges::find(wanted, row.name) != wanted.end()) rows.push_back(&row);
  return rows;
}

/// Throws InputError for a name of a network that cannot be one, since names become file names and arguments.
void check_networks(const std::vector<std::string>& networks) {
  for (const std::string& name : networks) {
    if (name.empty() || name.front() == '-' || name.find_first_of("/\\ ,\"'") != std::string::npos)
      throw InputError(fmt::format("--networks: \"{}\" is no name", printable(shortened(name, 40))),
                       "names separated by commas, as in resnet50,gpt2");
  }
}

/// Stores the options in `run`. What the command line states replaces what a resumed run was begun with,
/// except the device: InputError is thrown when it differs.
void take_command(MachineRun& run, const MeasureMachineCommand& command, bool holds_run) {
  if (holds_run && command.device && *command.device != run.device)
    throw InputError(fmt::format("the run in {} measures {}", printable(command.folder), run.device),
                     "another device needs another folder: -o");
  if (!holds_run || command.budget)
    run.budget_s = budget_of(command.budget.value_or(std::string(kUsualBudget)));
  if (!holds_run) run.device = command.device.value_or("cuda");
  if (!command.networks.empty()) run.networks = command.networks;
}

/// Throws InputError when the budget is shorter than the least times of all stages.
void refuse_short_budget(const MachineRun& run, const std::vector<const StageRow*>& rows) {
  double least = 0;
  for (const StageRow* row : rows) least += row->least_s;
  if (run.budget_s >= least) return;
  throw InputError(
      fmt::format("a budget of {:g} s is too short: the stages need {:g} s", run.budget_s, least),
      "give more time, as in --budget 8m, or ask for fewer stages: --stages");
}

/// Returns the sum of shares of the stages from index `from` on.
double shares_of(const std::vector<const StageRow*>& rows, std::size_t from) {
  double shares = 0;
  for (std::size_t i = from; i < rows.size(); ++i) shares += rows[i]->share;
  return shares;
}

/// Returns the time limit in seconds of the stage at `place`, when `left_s` seconds remain for it and all
/// later ones.
double limit_of(const std::vector<const StageRow*>& rows, std::size_t place, double left_s) {
  const StageRow& row = *rows[place];
  const double share = left_s * row.share / shares_of(rows, place);
  const double patience = std::min(row.patience_s, kMostPatience * left_s);
  return std::max({share, patience, row.least_s});
}

/// Stores the result of a stage in place of an earlier one of the same name, and writes progress.toml.
void replace(MachineRun& run, FinishedStage stage) {
  const auto known = std::ranges::find(run.finished, stage.name, &FinishedStage::name);
  if (known == run.finished.end())
    run.finished.push_back(std::move(stage));
  else
    *known = std::move(stage);
  write_progress(run);
}

/// Runs a stage. Returns `skipped` when something that it needs is missing, `failed` when it throws
/// InputError.
StageEnd end_of(const StageRow& row, MachineRun& run) {
  if (std::string missing = row.missing(run); !missing.empty())
    return {StageState::skipped, std::move(missing)};
  try {
    return row.run(run);
  } catch (const InputError& error) {
    return {StageState::failed, error.first_message() + "."};
  }
}

/// Runs and reports one stage. Returns false when a signal ended it.
bool run_stage(const StageRow& row, MachineRun& run) {
  fmt::print("{:<8} {}, at most {:.0f} s\n", row.name, row.what, run.limit_s);
  std::fflush(stdout);
  run.stage_begin = MachineRun::Clock::now();
  StageEnd end = end_of(row, run);
  if (has_come_signal()) end.state = StageState::interrupted;
  const double seconds = std::chrono::duration<double>(MachineRun::Clock::now() - run.stage_begin).count();
  fmt::print("         {} in {:.1f} s{}\n", kStageStateNames[static_cast<std::size_t>(end.state)], seconds,
             end.said.empty() ? "." : ". " + printable(end.said));
  const bool goes_on = end.state != StageState::interrupted;
  replace(run, {std::string(row.name), std::move(end), seconds});
  return goes_on;
}

/// Returns the table of --dry-run: stage, seconds, what it does, what it needs and which files it writes.
std::string dry_run_of(const MachineRun& run, const std::vector<const StageRow*>& rows) {
  std::string out = fmt::format("{:<8} {:>9}  {}\n", "stage", "seconds", "what it does");
  const double shares = shares_of(rows, 0);
  for (const StageRow* row : rows) {
    const std::string missing = run.has_finished(row->name) ? "It is done." : row->missing(run);
    const std::string needs = row->needs.empty() ? "" : fmt::format(" (needs {})", row->needs);
    out += fmt::format("{:<8} {:>9.0f}  {}{}: {}\n", row->name, run.budget_s * row->share / shares, row->what,
                       needs, fmt::join(row->outputs, ", "));
    if (!missing.empty()) out += fmt::format("{:<20}{}\n", "", missing);
  }
  return out + fmt::format("All together take {:g} s at most. Nothing was run or written.\n", run.budget_s);
}

/// Throws EnvironmentError (exit code 3) when a stage failed or nothing was measured. Files that exist are
/// kept.
void judge(const MachineRun& run, const std::vector<const StageRow*>& rows, const std::string& folder) {
  std::vector<std::string_view> failed;
  for (const StageRow* row : rows) {
    const FinishedStage* stage = run.find(row->name);
    if (stage != nullptr && stage->end.state == StageState::failed) failed.push_back(row->name);
  }
  const auto is_asked = [&rows](std::string_view name) {
    return std::ranges::any_of(rows, [name](const StageRow* row) { return row->name == name; });
  };
  std::error_code unknown;
  const bool has_measured =
      std::filesystem::exists("samples.csv", unknown) || std::filesystem::exists("steps.jsonl", unknown);
  if (!has_measured && (is_asked("bench") || is_asked("steps")))
    throw EnvironmentError(fmt::format("nothing was measured; {}/report.md says why", folder));
  if (!failed.empty())
    throw EnvironmentError(
        fmt::format("{} failed; what else was measured is in {}", fmt::join(failed, ", "), folder));
}

/// Checks the options. Throws InputError before any folder or file is made.
void check_command(const MeasureMachineCommand& command, const std::vector<const StageRow*>& rows) {
  check_networks(command.networks);
  const FolderState state = state_of_folder(command.folder, command.resume);
  if (!state.mistake.empty()) throw InputError(printable(state.mistake), state.hint);
  // A resumed run keeps its budget, which was checked when it began.
  if (state.holds_run && !command.budget) return;
  MachineRun asked;
  take_command(asked, command, false);
  refuse_short_budget(asked, rows);
}

/// Prints the table of --dry-run. With --resume, the state of the existing run is read and nothing is
/// written.
void say_dry_run(const MeasureMachineCommand& command, const std::vector<const StageRow*>& rows) {
  const std::string start = std::filesystem::current_path().string();
  std::optional<RunFolder> folder;
  if (command.resume) folder.emplace(command.folder, true);
  MachineRun run = folder ? read_progress() : MachineRun{};
  take_command(run, command, folder.has_value());
  run.start_folder = start, run.is_dry = true;
  write_output("", dry_run_of(run, rows));
}

/// Returns the stages that remain. A stage that is named runs again, and so does one that `follows` a stage
/// that runs.
std::vector<const StageRow*> stages_to_do(const MachineRun& run, const std::vector<const StageRow*>& rows,
                                          bool are_named) {
  std::vector<const StageRow*> out;
  for (const StageRow* row : rows)
    if (are_named || !run.has_finished(row->name) || (row->follows && !out.empty())) out.push_back(row);
  return out;
}

/// Returns the seconds for `rows`: what the run has left, but at least what they would have had in an
/// unbroken run.
double seconds_for(const MachineRun& run, const std::vector<const StageRow*>& rows) {
  double used = 0;
  for (const FinishedStage& stage : run.finished) {
    const bool runs_again =
        std::ranges::any_of(rows, [&stage](const StageRow* row) { return row->name == stage.name; });
    used += runs_again ? 0 : stage.seconds;
  }
  return std::max(run.budget_s - used, run.budget_s * shares_of(rows, 0));
}

/// Runs the stages in order. Returns false when a signal ended one of them.
bool run_stages(MachineRun& run, const std::vector<const StageRow*>& rows, double left_s) {
  const auto begin = MachineRun::Clock::now();
  // timeout and batch systems may send a signal twice. The second must not end this process, as the programs
  // that were started still have to be ended.
  const HeededSignals signals(SecondSignal::is_noted);
  write_progress(run);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double passed = std::chrono::duration<double>(MachineRun::Clock::now() - begin).count();
    run.limit_s = limit_of(rows, i, std::max(0.0, left_s - passed));
    if (!run_stage(*rows[i], run)) return false;
  }
  return true;
}

}  // namespace

// Checks come first, then the folder, so that a wrong command leaves no traces.
void run_calibrate_machine(const MeasureMachineCommand& command) {
  need_own_process("foretrain calibrate machine");
  const std::vector<const StageRow*> rows = requested_stages(command);
  check_command(command, rows);
  add_package_to_python_path();
  if (command.dry_run) return say_dry_run(command, rows);
  const RunFolder folder(command.folder, command.resume);
  MachineRun run = folder.holds_run() ? read_progress() : MachineRun{};
  take_command(run, command, folder.holds_run());
  run.folder = folder.path(), run.start_folder = folder.start();
  const std::vector<const StageRow*> to_do = stages_to_do(run, rows, !command.stages.empty());
  const std::string name = printable(command.folder);
  if (!run_stages(run, to_do, seconds_for(run, to_do)))
    throw Interrupted(fmt::format(
        "interrupted: what is done stays in {0}; go on with: foretrain calibrate machine -o {0} --resume",
        name));
  judge(run, rows, name);
  fmt::print("The report is {0}/report.md, and {0}/report.html is the same as a page.\n", name);
}

}  // namespace foretrain
