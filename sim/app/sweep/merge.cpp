// The commands sweep merge, which joins databases of one sweep, and sweep status, which counts what each
// holds.
//
// `foretrain sweep merge A B -o C` prints how many cases the result has and how many are missing. Databases
// of different sweeps are wrong input (exit code 1), and an interrupted merge ends with exit code 130.
#include <algorithm>

#include <fmt/format.h>

#include "sim/app/sweep/heeded_signals.hpp"
#include "sim/app/sweep/sweep_commands.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/sweep/sweep_database.hpp"
#include "sim/report/sweep/sweep_reports.hpp"

namespace foretrain {

namespace {

// Largest number of crashed cases that are listed with their messages.
constexpr int kShownCrashes = 5;

/// Returns the state of a database. The number of all cases is computed from the sweep that the database
/// holds, so the sweep's file is not needed.
SweepState state_of(const std::string& path) {
  SqlFile file(path, SqlAccess::read);
  const SweepHead head = read_sweep_head(file);
  const Sweep sweep = kept_sweep(head);
  SweepCases cases(sweep, head.strategy, {head.name, head.text});
  SweepState state{path, head.name, head.version, head.shard, {}, cases.count(head.shard), head.rate};
  state.done = file.integer_of("SELECT count(*) FROM cases");
  state.failed = file.integer_of("SELECT count(*) FROM cases WHERE message IS NOT NULL");
  const std::string crashed = "FROM cases WHERE " + is_ended_case("cases");
  state.crashed = file.integer_of("SELECT count(*) " + crashed);
  SqlStatement rows =
      file.prepare(fmt::format("SELECT number, message {} ORDER BY number LIMIT {}", crashed, kShownCrashes));
  while (rows.step()) state.crashes.push_back(fmt::format("case {}: {}", rows.integer(0), rows.text(1)));
  return state;
}

}  // namespace

// The merge can be interrupted; the output is then as it was before.
void run_sweep_merge(const SweepMergeCommand& command) {
  const HeededSignals signals;
  const MergeCounts counts = merge_sweeps(command.databases, command.output, has_come_signal);
  std::string text = fmt::format("{} of {}", counted(counts.rows, "case"),
                                 counted(static_cast<std::int64_t>(command.databases.size()), "file"));
  if (counts.repeated > 0) text += fmt::format(", {} of them in several", counts.repeated);
  const SweepState state = state_of(command.output);
  if (state.all.is_exact && state.done < state.all.cases)
    text += fmt::format("; {} are missing", state.all.cases - state.done);
  text = fmt::format("{}: {}\n", text, command.output);
  if (counts.others > 0)
    text += fmt::format(
        "{}.parts holds {} of merges that did not end or are still at work; delete the folder when none "
        "is.\n",
        command.output, counted(counts.others, "file"));
  write_output("", text);
}

// Databases are opened for reading only, so that the status can be asked while a run writes them.
void run_sweep_status(const SweepStatusCommand& command) {
  std::vector<SweepState> states;
  for (const std::string& database : command.databases) states.push_back(state_of(database));
  write_report(command.output, command.format, find_row(kStateReports, command.format)->write(states));
}

}  // namespace foretrain
