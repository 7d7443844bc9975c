// Arguments of the commands about sweeps, and the functions that run them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/sweep/sweep_query.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// Arguments of `foretrain sweep run`.
struct SweepRunCommand {
  /// File of the sweep.
  std::string sweep;
  /// SQLite file of the results.
  std::string database;
  /// Worker processes; 0: as many as there are processors.
  int threads = 0;
  Shard shard{};
  /// Leaves out the summary.
  bool quiet = false;
  /// Repeats cases that ended their workers before.
  bool retry_crashed = false;
};
void run_sweep_run(const SweepRunCommand& command);  // run.cpp

/// Arguments of `foretrain sweep merge`.
struct SweepMergeCommand {
  std::vector<std::string> databases;
  std::string output;
};
void run_sweep_merge(const SweepMergeCommand& command);  // merge.cpp

/// Arguments of `foretrain sweep status`.
struct SweepStatusCommand {
  std::vector<std::string> databases;
  std::string format = "table";
  std::string output;
};
void run_sweep_status(const SweepStatusCommand& command);  // merge.cpp

/// Arguments of `foretrain sweep submit`.
struct SweepSubmitCommand {
  std::string sweep;
  /// Name of a row of sweep_engines().
  std::string engine;
  /// Prefix of the files of results; empty: the sweep's name.
  std::string database;
  std::int64_t shards = 8;
  /// Worker processes of each shard.
  int threads = 1;
  /// Container and volume claim, for Kubernetes.
  std::string image, claim;
  /// File of the script; empty: standard output.
  std::string output;
  /// Submits the script as well.
  bool now = false;
};
void run_sweep_submit(const SweepSubmitCommand& command);  // submit.cpp

/// Arguments of `foretrain sweep show`.
struct SweepShowCommand {
  std::string database;
  SweepQuestion question;
  std::string format = "table";
  std::string output;
};
void run_sweep_show(const SweepShowCommand& command);  // show.cpp

}  // namespace foretrain
