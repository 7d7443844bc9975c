// What single calls cost the host, in the frameworks that strategies imitate.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// On the reference CPU; call_costs.inc says what each is and where it comes from.
struct CallCosts {
#define CALL_COST(member, value, meaning, source) Time member = microseconds(value);
#include "sim/strategy/process/call_costs.inc"
#undef CALL_COST
};

/// "call.tensor", …
const std::vector<ConstantOf<CallCosts>>& call_constants();

/// Those of the table, replaced by those that were measured on the cluster.
CallCosts calls_of(const ClusterSpec& cluster);

inline constexpr std::int64_t kFloatBytes = 4;
/// What MPI wrote is not page-locked: a copy to or from the GPU is staged, at half the rate.
inline constexpr int kPageableSlowdown = 2;

}  // namespace foretrain
