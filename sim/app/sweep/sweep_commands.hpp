// The commands about sweeps: what each takes from the command line, and the functions that carry them out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/sweep/sweep_query.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// Arguments of `foretrain sweep run`.
struct SweepRunCommand {
  std::string sweep;     ///< a file
  std::string database;  ///< likewise
  int threads = 0;       ///< 0: as many as there are processors
  Shard shard{};
  bool quiet = false;          ///< no summary
  bool retry_crashed = false;  ///< also cases that ended their workers before
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
  std::string engine;    ///< of sweep_engines()
  std::string database;  ///< prefix; empty: the sweep's name
  std::int64_t shards = 8;
  int threads = 1;           ///< of a shard
  std::string image, claim;  ///< of Kubernetes
  std::string output;        ///< the script; empty: standard output
  bool now = false;          ///< also hand it in
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
