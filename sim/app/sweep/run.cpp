// The command sweep run: opens the sweep, finds the cases that its database lacks, predicts them in worker
// processes and stores their rows. Rows are committed ten times a second, so that a run that is killed loses
// at most 0.1 s of work.
//
// `foretrain sweep run SWEEP --db FILE` prints one line at its end: cases, seconds, rate, and cases that
// cannot run. Such cases are results and no errors. A database of another sweep is wrong input (exit code 1).
#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/app/progress_line.hpp"
#include "sim/app/sweep/case_workers.hpp"
#include "sim/app/sweep/heeded_signals.hpp"
#include "sim/app/sweep/opened_sweep.hpp"
#include "sim/app/sweep/sweep_commands.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/interrupted.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

using Clock = std::chrono::steady_clock;
// Time between two commits. A commit does not wait for the disk.
constexpr std::chrono::milliseconds kBetweenCommits{100};

/// Returns a duration in the unit that a person would use.
std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return seconds < 6000 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

/// Shows how far a run is, on a terminal only; a file of standard error should hold nothing that is not worth
/// keeping.
class RunProgress {
 public:
  RunProgress(const std::string& name, std::int64_t before, CaseCount all)
      : line_("sweeping " + name), before_(before), all_(all) {}

  /// Counts cases that are done, and those of them that cannot run.
  void add(std::size_t cases, std::size_t failed) {
    done_ += static_cast<std::int64_t>(cases), failed_ += static_cast<std::int64_t>(failed);
  }
  /// Draws the line when it is due.
  void show() {
    const double share =
        all_.cases == 0 ? 1 : static_cast<double>(before_ + done_) / static_cast<double>(all_.cases);
    line_.show(share, text());
  }
  void clear() { line_.clear(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double rate() const { return static_cast<double>(done_) / std::max(seconds(), 1e-9); }
  std::int64_t done() const { return done_; }
  std::int64_t failed() const { return failed_; }

 private:
  /// Returns the text beside the bar: cases, rate, and the time that is left at this rate.
  std::string text() const {
    const auto left = static_cast<double>(std::max<std::int64_t>(0, all_.cases - before_ - done_));
    return fmt::format("{} of {}{} cases, {:.0f} a second, {} left", before_ + done_,
                       all_.is_exact ? "" : "about ", all_.cases, rate(),
                       done_ == 0 ? std::string("?") : duration_text(left / rate()));
  }

  ProgressLine line_;
  std::int64_t before_, done_ = 0, failed_ = 0;
  CaseCount all_;
  Clock::time_point start_ = Clock::now();
};

/// Returns the number of the group's rows that have a message instead of figures.
std::size_t failed_in(const GroupRows& group) {
  return static_cast<std::size_t>(
      std::ranges::count_if(group.rows, [](const CaseRow& row) { return !row.message.empty(); }));
}

/// Stores the group's rows, each under its number and a hash of its values and the scenario.
void add_rows(const GroupRows& group, const SweepCases& cases, std::uint64_t scenario,
              SweepDatabase& database) {
  for (std::size_t i = 0; i < group.numbers.size(); ++i)
    database.add(group.numbers[i], cases.hash(group.values[i], scenario), group.values[i], group.rows[i]);
}

/// Returns the bytes of the machine's memory; 0: unknown. Beyond it the system would end processes of its
/// choice, so it is the limit of each worker.
std::uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

/// Prints the number of cases, the rate, and how many cannot run, unless --quiet is given.
void summarize(const SweepRunCommand& command, const RunProgress& progress, std::int64_t before) {
  if (command.quiet) return;
  std::string text = fmt::format("{} predicted in {:.1f} s ({:.0f} a second)",
                                 counted(progress.done(), "case"), progress.seconds(), progress.rate());
  if (progress.failed() > 0) text += fmt::format(", of which {} cannot run", progress.failed());
  if (before > 0) text += fmt::format(", {} had been there", before);
  write_output("", fmt::format("{}: {}\n", text, command.database));
}

}  // namespace

// An interrupted run ends with exit code 130; the same command then continues it.
void run_sweep_run(const SweepRunCommand& command) {
  const OpenedSweep opened = open_sweep(command.sweep, command.shard);
  SweepCases cases(opened.sweep, opened.head.strategy, opened.file);
  // The database must not be one of the input files.
  if (was_read(command.database))
    throw InputError(fmt::format("{} was read and would be overwritten", command.database));
  SweepDatabase database(command.database, opened.head, cases);
  if (command.retry_crashed) database.forget_ended_cases();
  // From here on the first signal only ends the sending of cases; rows that arrive are still stored.
  const HeededSignals signals;
  CaseWorkers how;
  how.shard = command.shard, how.done = database.done(cases), how.most_bytes = physical_memory();
  how.workers = command.threads > 0 ? command.threads
                                    : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto before = static_cast<std::int64_t>(how.done.size());
  RunProgress progress(opened.head.name, before, cases.count(command.shard));
  const std::uint64_t scenario = content_hash(opened.head.scenario.text);
  auto last = Clock::now();
  // Rows are added as they come; commits are made between results.
  how.take = [&](const GroupRows& group) {
    add_rows(group, cases, scenario, database);
    progress.add(group.numbers.size(), failed_in(group));
  };
  how.stops = [&] {
    progress.show();
    if (Clock::now() - last < kBetweenCommits) return has_come_signal();
    database.commit();
    last = Clock::now();
    return has_come_signal();
  };
  predict_cases(opened.scenario, cases, how);
  progress.clear();
  // The rate is stored for `sweep status` and `sweep submit`.
  database.finish(progress.done() > 0 ? progress.rate() : 0, how.workers);
  if (has_come_signal())
    throw Interrupted(fmt::format("interrupted: {} of {} cases are there; the same command goes on",
                                  before + progress.done(), cases.count(command.shard).cases));
  summarize(command, progress, before);
}

}  // namespace foretrain
