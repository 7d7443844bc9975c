// The rules by which libraries choose, one file for each library.
#pragma once

#include "sim/collective/transports/transport.hpp"

namespace foretrain {

/// Return the algorithm that the library takes for an operation of `size` bytes, as nccl-tests counts them.
/// Require ranks >= 2.
TransportChoice choose_gloo(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_open_mpi(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_mpich(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_grpc_ring(const Transport& transport, CollectiveOp op, Bytes size, int ranks);
TransportChoice choose_plain(const Transport& transport, CollectiveOp op, Bytes size, int ranks);

/// Returns the number of messages of at most `segment` bytes (0: any size) in a part of `part` bytes; at
/// least 1, at most 2^28 / ranks.
int pieces_of(double part, Bytes segment, int ranks);

inline bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

}  // namespace foretrain
