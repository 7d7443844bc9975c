// On how many GPUs and nodes a program ran, as far as its log says so anywhere.
#pragma once

#include <string_view>

#include "sim/import/logs/log_hints.hpp"

namespace foretrain {

struct JobSize {
  int gpus = 0, nodes = 0;  ///< 0: not said
};

/// Comments at the top, "Number of GPUs: 4", "world size: 8", "on 4 GPU(s)", "nnodes=2", the command line of
/// mpirun; then the hints. One GPU is on one node.
JobSize job_size_said(std::string_view text, const LogHints& hints);

}  // namespace foretrain
