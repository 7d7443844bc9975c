// The rules by which libraries choose, one file each.
#pragma once

#include "sim/collective/transports/transport.hpp"

namespace foretrain {

TransportChoice choose_gloo(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_open_mpi(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_mpich(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_grpc_ring(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_plain(const Transport& transport, CollectiveOp op, Bytes size, int ranks);

/// Messages of at most `segment` bytes (0: any size) that a part of `part` bytes makes; at least 1, at most
/// 2^28 / ranks.
int pieces_of(double part, Bytes segment, int ranks);

inline bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

}  // namespace foretrain
