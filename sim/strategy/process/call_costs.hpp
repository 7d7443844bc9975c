// Host costs of single calls in the frameworks that strategies imitate.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Host time of each call on the reference CPU. call_costs.inc says what each call is and where its value
/// comes from.
struct CallCosts {
#define CALL_COST(member, value, meaning, source) Time member = microseconds(value);
#include "sim/strategy/process/call_costs.inc"
#undef CALL_COST
};

/// Returns the constants "call.tensor", … that a calibration may set, in the order of the table.
const std::vector<ConstantOf<CallCosts>>& call_constants();

/// Returns the table's costs, replaced by those that were measured on the cluster.
CallCosts calls_of(const ClusterSpec& cluster);

/// Bytes of an fp32 number.
inline constexpr std::int64_t kFloatBytes = 4;
/// Bytes of memory traffic per element that is read in fp32 and written in 16 bits, or the reverse.
inline constexpr std::int64_t kCastBytes = 6;
/// Memory passes of the addition of one tensor to another: both are read, one is written.
inline constexpr std::int64_t kAddPasses = 3;
/// Rate of one gRPC connection over TCP in bytes per second, and the part of the wire's bytes that is data:
/// topologies/transports/grpc.toml.
inline constexpr ByteRate kGrpcStream{1.5e9};
inline constexpr double kGrpcWire = 0.95;
/// Factor by which a copy between the GPU and pageable memory is slower. MPI's buffers are not page-locked,
/// so the driver stages such a copy at half the rate.
inline constexpr int kPageableSlowdown = 2;

}  // namespace foretrain
