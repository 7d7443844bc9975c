// A server of GPUs of one kind as a cluster, for questions that name a GPU and no machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Prefix of the name of such a cluster, as in "gpu:a100-sxm4-40gb".
inline constexpr std::string_view kGpuServer = "gpu:";

/// Returns the GPU of the catalog that a name means: "rtx3090" is rtx-3090. Throws InputError with all
/// readings of an ambiguous name such as "v100", or with near names if there is none.
std::string gpu_named(const std::string& name);

/// Returns the file of a cluster whose name begins with kGpuServer: one node with as many GPUs as such nodes
/// usually have, and their usual links. Returns nullopt for other names. Throws InputError like gpu_named().
std::optional<SourceText> gpu_server_text(const std::string& cluster);

/// Returns a sentence on such a cluster: "gpu:k80 is one node with 4 of these GPUs and the links that such
/// nodes usually have".
std::string gpu_server_words(const std::string& cluster);

}  // namespace foretrain
