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
/// Of an element that is read in fp32 and written in 16 bit, or the other way round.
inline constexpr std::int64_t kCastBytes = 6;
/// A tensor is added to another one: both are read, one is written.
inline constexpr std::int64_t kAddPasses = 3;
/// One connection of gRPC over TCP, and what of the wire is data: topologies/transports/grpc.toml.
inline constexpr ByteRate kGrpcStream{1.5e9};
inline constexpr double kGrpcWire = 0.95;
/// What MPI wrote is not page-locked: a copy to or from the GPU is staged, at half the rate.
inline constexpr int kPageableSlowdown = 2;

}  // namespace foretrain
