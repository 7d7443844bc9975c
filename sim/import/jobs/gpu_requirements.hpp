// Evaluates the expressions by which HTCondor jobs choose a GPU, for a given GPU.
#pragma once

#include <optional>
#include <string_view>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Says whether a GPU satisfies an expression such as "(Capability == 7.5) && (DriverVersion >= 11.3)".
/// Known attributes are Capability, GlobalMemoryMb and DeviceName, also with "CUDA" or "TARGET." before them;
/// all others are unknown.
/// Returns no value when the result depends on what is unknown, and for text that is no expression.
std::optional<bool> satisfies(const Gpu& gpu, std::string_view expression);

}  // namespace foretrain
