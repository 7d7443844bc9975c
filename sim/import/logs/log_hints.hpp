// What the user says about a log where the log itself does not.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Empty and 0: not said. A hint fills a gap; it never contradicts what the log says.
struct LogHints {
  std::string op;         ///< of a table whose collective cannot be known: "all_gather"
  int gpus = 0;           ///< ranks of a table without a list of devices
  int nodes = 0;          ///< nodes of such a table
  std::string model;      ///< of a training log
  std::string strategy;   ///< of a training log
  std::string precision;  ///< of a training log
  int batch_per_gpu = 0;  ///< of a training log
};

// On how many GPUs and nodes a program ran, as far as its log says so anywhere.

/// The number of GPUs and nodes of a job; 0 stands for unknown.
struct JobSize {
  int gpus = 0, nodes = 0;  ///< 0: not said
};

/// Comments at the top, "Number of GPUs: 4", "world size: 8", "on 4 GPU(s)", "nnodes=2", the command line of
/// mpirun; then the hints. One GPU is on one node.
JobSize stated_job_size(std::string_view text, const LogHints& hints);

}  // namespace foretrain
