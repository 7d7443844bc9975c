// Declares the parameters of a recorded network: their sizes as far as a trace has them, and the order of
// their gradients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/models/model_file.hpp"
#include "sim/import/traces/traced_step.hpp"

namespace foretrain {

/// The parameters of a network as a trace shows them.
struct TracedParameters {
  /// Sizes in the order of registration, such as "f32[64,3,7,7]".
  std::vector<std::string> sizes;
  /// Index of the parameter of each gradient, in the order of the gradients.
  std::vector<std::size_t> of_ready;
  std::vector<std::string> remarks;
};

/// Returns the parameters by recorded shapes, otherwise by buckets, otherwise all equal when the number of
/// parameters is given. Reports a step that offers none of these.
TracedParameters traced_parameters(const TracedStep& step, const ModelImportOptions& options,
                                   Diagnostics& diagnostics);

/// Returns the parameters for gradients whose sizes are known. `lists` are those of the optimizer; one of
/// them may be in the order of registration. O(n²) for n gradients.
TracedParameters ordered_parameters(const std::vector<std::string>& ready_sizes,
                                    const std::vector<std::vector<std::string>>& lists);

// Functions of traced_network.cpp that both kinds of traces use.
/// Returns the name of the network: the user's, otherwise the file's.
std::string traced_name(const std::string& file, const ModelImportOptions& options);
/// Returns the list of parameters in TOML.
std::string traced_parameter_lines(const TracedParameters& parameters);

}  // namespace foretrain
