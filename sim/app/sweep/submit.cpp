// sweep submit: sweep → some of its cases, timed → what a shard needs → script → file → the engine.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <sys/resource.h>

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

/// Groups that are timed, evenly spaced, and for how long at most.
constexpr std::int64_t kTimedGroups = 200;
constexpr double kLongestTrial = 5;
/// Nodes may be slower than this machine, and shards are not alike.
constexpr double kTimeMargin = 3, kShortestS = 600, kGrainS = 300;
/// What a job takes at least, and what each of its processes does, where nothing larger was measured.
constexpr std::int64_t kLeastMemoryMib = 512, kMemoryOfWorkerMib = 256;

struct Trial {
  double cases_per_s = 0;  ///< of one worker
  std::int64_t cases = 0;
  std::int64_t memory_mib = 0;
};

/// Evenly spaced groups, in one worker, so that a case that ends it ends nothing else.
Trial measured_rate(const OpenedSweep& opened, SweepCases& cases) {
  Trial trial;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  CaseWorkers how;
  how.shard.of = std::max<std::int64_t>(1, cases.groups() / kTimedGroups);
  how.take = [&trial](const GroupRows& group) {
    trial.cases += static_cast<std::int64_t>(group.numbers.size());
  };
  how.stops = [&seconds] { return seconds() > kLongestTrial; };
  predict_cases(opened.scenario, cases, how);
  struct rusage usage {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  trial.memory_mib = usage.ru_maxrss / 1024;
  trial.cases_per_s = static_cast<double>(trial.cases) / std::max(seconds(), 1e-6);
  return trial;
}

/// Rounded up to five minutes.
double time_of(double cases, const Trial& trial, int threads) {
  const double seconds = kTimeMargin * cases / std::max(trial.cases_per_s * threads, 1e-9);
  return std::ceil(std::max(kShortestS, seconds) / kGrainS) * kGrainS;
}

SweepSubmission submission_of(const SweepSubmitCommand& command, const OpenedSweep& opened) {
  SweepCases cases(opened.sweep, opened.head.strategy, opened.file);
  const CaseCount all = cases.count({});
  const std::int64_t shards = std::min(command.shards, cases.groups());
  const double of_each = std::ceil(static_cast<double>(all.cases) / static_cast<double>(shards));
  const Trial trial = measured_rate(opened, cases);
  SweepSubmission out;
  out.name = opened.head.name, out.program = "foretrain", out.sweep = command.sweep;
  out.database = command.database.empty() ? opened.head.name : command.database;
  out.shards = shards, out.threads = command.threads;
  out.memory_mib =
      std::max(kLeastMemoryMib, (command.threads + 1) * std::max(kMemoryOfWorkerMib, trial.memory_mib));
  out.seconds = time_of(of_each, trial, command.threads);
  out.image = command.image, out.claim = command.claim;
  out.estimate =
      fmt::format("{}{} in all, {:.0f} a second and thread here ({} timed)", all.is_exact ? "" : "About ",
                  counted(all.cases, "case"), trial.cases_per_s, trial.cases);
  return out;
}

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
