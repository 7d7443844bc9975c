// Parameters of a recorded network: their sizes as far as a trace says them, and the order of their
// gradients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/models/model_file.hpp"
#include "sim/import/traces/traced_step.hpp"

namespace foretrain {

/// Parameters of a network as a trace shows them.
struct TracedParameters {
  std::vector<std::string> sizes;     ///< in the order of registration, "f32[64,3,7,7]"
  std::vector<std::size_t> of_ready;  ///< parameter of each gradient, in the order of the gradients
  std::vector<std::string> remarks;
};

/// By recorded shapes, else by buckets, else all equal when the number of parameters is given; otherwise that
/// is reported.
TracedParameters traced_parameters(const TracedStep& step, const ModelImportOptions& options,
                                   Diagnostics& diagnostics);

/// Of gradients whose sizes are known, when those of the optimizer's lists are in the order of registration.
TracedParameters ordered_parameters(const std::vector<std::string>& ready_sizes,
                                    const std::vector<std::vector<std::string>>& lists);

// traced_network.cpp: what both kinds of traces write.
/// What the network is called.
std::string traced_name(const std::string& file, const ModelImportOptions& options);
std::string traced_parameter_lines(const TracedParameters& parameters);

}  // namespace foretrain
