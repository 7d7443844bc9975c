// The user's statements about a log, for what the log itself does not say.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Hints fill gaps and never contradict what the log says. An empty text or 0 means that the user gives no
/// hint.
struct LogHints {
  /// Collective of a table that does not tell it, such as "all_gather".
  std::string op;
  /// Ranks of a table without a list of devices.
  int gpus = 0;
  /// Nodes of such a table.
  int nodes = 0;
  /// Name of the model of a training log.
  std::string model;
  /// Name of its strategy.
  std::string strategy;
  /// Name of its precision.
  std::string precision;
  /// Batch of each GPU in a training log.
  int batch_per_gpu = 0;
};

// This function finds the number of GPUs and nodes of a program, wherever its log says it.

/// The number of GPUs and nodes of a job; 0 stands for unknown.
struct JobSize {
  int gpus = 0, nodes = 0;
};

/// Returns the size of the job, from the first line that says it: comments at the top ("## ranks: 16"),
/// "Number of GPUs: 4", "world size: 8", "on 4 GPU(s)", "nnodes=2", or the command line of mpirun.
/// Hints fill in what no line says. A job with one GPU has one node.
JobSize stated_job_size(std::string_view text, const LogHints& hints);

}  // namespace foretrain
