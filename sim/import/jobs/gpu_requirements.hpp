// Expressions by which HTCondor jobs choose a GPU, held against what is known of one.
#pragma once

#include <optional>
#include <string_view>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Whether a GPU satisfies "(Capability == 7.5) && (DriverVersion >= 11.3)". Attributes: Capability,
/// GlobalMemoryMb, DeviceName, also with CUDA or TARGET. before them; whatever else an expression asks is
/// unknown. nullopt: unknown altogether, or no expression.
std::optional<bool> satisfies(const Gpu& gpu, std::string_view expression);

}  // namespace foretrain
