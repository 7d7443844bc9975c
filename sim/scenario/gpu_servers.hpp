// A server of GPUs of one kind as a cluster, for questions that name a GPU and no machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// How the name of such a cluster begins: "gpu:a100-sxm4-40gb".
inline constexpr std::string_view kGpuServer = "gpu:";

/// The GPU of the catalog that a name means: "rtx3090" is rtx-3090. Throws InputError with all readings of a
/// name that several have, as "v100", or with near names where there is none.
std::string gpu_named(const std::string& name);

/// The file of a cluster whose name begins so: one node with as many GPUs as such nodes usually have, and
/// their usual links. Nothing for other names; throws InputError as gpu_named() does.
std::optional<SourceText> gpu_server_text(const std::string& cluster);

/// "gpu:k80 is one node with 4 of these GPUs and the links that such nodes usually have".
std::string gpu_server_words(const std::string& cluster);

}  // namespace foretrain
