// The command sweep submit: times some of the sweep's cases, derives the time and memory of a shard, and
// writes a script with one job for each shard. --now also submits it.
//
// `foretrain sweep submit SWEEP --slurm --shards 8 -o FILE` writes a script of report/sweep/submission.cpp.
// When the command that submits fails, the exit code is 3, and the script stays.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <sys/resource.h>

#include "sim/app/machine/programs.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/sweep/case_workers.hpp"
#include "sim/app/sweep/opened_sweep.hpp"
#include "sim/app/sweep/sweep_commands.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/import/detection/command_output.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/sweep/submission.hpp"

namespace foretrain {

namespace {

// Number of groups that are timed, and the longest time in seconds for that.
constexpr std::int64_t kTimedGroups = 200;
constexpr double kLongestTrial = 5;
// The requested time is this multiple of the estimate, since nodes may be slower than this machine and shards
// differ. It is at least ten minutes and a multiple of five minutes, in seconds.
constexpr double kTimeMargin = 3, kShortestS = 600, kGrainS = 300;
// Least memory of a job and of each of its processes in MiB, used where less was measured.
constexpr std::int64_t kLeastMemoryMib = 512, kMemoryOfWorkerMib = 256;

// Measurements on this machine.
struct Trial {
  // Cases per second of one worker.
  double cases_per_s = 0;
  std::int64_t cases = 0;
  std::int64_t memory_mib = 0;
};

/// Predicts evenly spaced groups in one worker process, so that a case that crashes ends only that worker.
Trial measured_rate(const OpenedSweep& opened, SweepCases& cases) {
  Trial trial;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  CaseWorkers how;
  // Every n-th group is a shard of 1/n, so the sample covers all axes.
  how.shard.of = std::max<std::int64_t>(1, cases.groups() / kTimedGroups);
  how.take = [&trial](const GroupRows& group) {
    trial.cases += static_cast<std::int64_t>(group.numbers.size());
  };
  how.stops = [&seconds] { return seconds() > kLongestTrial; };
  predict_cases(opened.scenario, cases, how);
  struct rusage usage {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  // Linux reports the largest resident size of the children in KiB.
  trial.memory_mib = usage.ru_maxrss / 1024;
  trial.cases_per_s = static_cast<double>(trial.cases) / std::max(seconds(), 1e-6);
  return trial;
}

/// Returns the seconds to request, rounded up to five minutes.
double time_of(double cases, const Trial& trial, int threads) {
  const double seconds = kTimeMargin * cases / std::max(trial.cases_per_s * threads, 1e-9);
  return std::ceil(std::max(kShortestS, seconds) / kGrainS) * kGrainS;
}

/// Returns everything that a script needs. There are never more shards than groups.
SweepSubmission submission_of(const SweepSubmitCommand& command, const OpenedSweep& opened) {
  SweepCases cases(opened.sweep, opened.head.strategy, opened.file);
  const CaseCount all = cases.count({});
  const std::int64_t shards = std::min(command.shards, cases.groups());
  const double of_each = std::ceil(static_cast<double>(all.cases) / static_cast<double>(shards));
  const Trial trial = measured_rate(opened, cases);
  SweepSubmission out;
  out.name = opened.head.name, out.sweep = command.sweep;
  out.database = command.database.empty() ? opened.head.name : command.database;
  out.shards = shards, out.threads = command.threads;
  out.memory_mib =
      // There is one process more than there are workers: the process that writes the database.
      std::max(kLeastMemoryMib, (command.threads + 1) * std::max(kMemoryOfWorkerMib, trial.memory_mib));
  out.seconds = time_of(of_each, trial, command.threads);
  // An image has a program of its own, which is found by its name there.
  out.program = command.image.empty() ? own_program() : "foretrain";
  out.image = command.image, out.claim = command.claim;
  out.estimate =
      fmt::format("{}{} in all, {:.0f} a second and thread here ({} timed)", all.is_exact ? "" : "About ",
                  counted(all.cases, "case"), trial.cases_per_s, trial.cases);
  return out;
}

/// Submits the file with the engine's command, and prints its output. A name with a dash would be taken as an
/// option.
void hand_in(const SweepEngine& engine, const std::string& file) {
  std::vector<std::string> line = engine.submit;
  line.push_back(file.starts_with('-') ? "./" + file : file);
  const CommandOutput said = command_output(line);
  if (!said.problem.empty())
    throw EnvironmentError(fmt::format("{} {}: the script is in {}", line.front(), said.problem, file));
  write_output("", said.text);
}

}  // namespace

void run_sweep_submit(const SweepSubmitCommand& command) {
  const OpenedSweep opened = open_sweep(command.sweep, {});
  check_outputs({{"-o", command.output}});
  const SweepEngine& engine = *find_row(sweep_engines(), command.engine);
  write_output(command.output, written_submission(engine, submission_of(command, opened)));
  if (command.now) hand_in(engine, command.output);
}

}  // namespace foretrain
