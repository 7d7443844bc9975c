// What single calls cost the host, where several strategies make the same call.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"

namespace foretrain {

inline constexpr std::int64_t kFloatBytes = 4;

/// PyTorch: flatten (cat of a list), and the call of the collective behind it, 10 us.
inline constexpr Time kFlattenCall = Time{10'000'000};
/// One tensor operation from Python, 3 us (docs/models/host_time.md).
inline constexpr Time kTensorCall = Time{3'000'000};

/// Horovod and BytePS, which descends from it, under PyTorch: Python hook, name, event, request; 15 us.
inline constexpr Time kHorovodHook = Time{15'000'000};
/// Horovod's compression under PyTorch: tensor.type(), 8 us.
inline constexpr Time kHorovodCast = Time{8'000'000};

/// MPI's own part of a message between nodes, 0.8 us (topologies/transports/mpi_ib.toml).
inline constexpr Time kMpiMessage = Time{800'000};
/// What MPI wrote is not page-locked: a copy to or from the GPU is staged, at half the rate.
inline constexpr int kPageableSlowdown = 2;

}  // namespace foretrain
