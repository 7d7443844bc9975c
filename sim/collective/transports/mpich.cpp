// MPICH's rules (Thakur, Rabenseifner, Gropp 2005; defaults of MPIR_CVAR_*_MSG_SIZE in src/mpi/coll):
// recursive doubling for short all-reduces, Rabenseifner's algorithm for long ones. Its pairwise
// reduce-scatter has no model: the direct algorithm, whose messages are the same but start at once, stands
// for it.
#include "sim/collective/transports/libraries.hpp"

namespace foretrain {

namespace {

TransportChoice choose_mpich_broadcast(double size, int n) {
  const CollectiveOp op = CollectiveOp::broadcast;
  if (size < 12'288 || n < 8) return {op, AlgorithmFamily::binomial, 1, "MPICH: below 12 KiB or 8 ranks"};
  return {op, AlgorithmFamily::scatter_all_gather, 1, "MPICH: 12 KiB or more"};
}

TransportChoice choose_mpich_reduce_scatter(double size, int n) {
  const CollectiveOp op = CollectiveOp::reduce_scatter;
  if (size > 524'288)
    return {op, AlgorithmFamily::direct, 1, "MPICH: more than 512 KiB; stands for pairwise"};
  return {op, is_power_of_two(n) ? AlgorithmFamily::recursive_halving : AlgorithmFamily::bruck, 1,
          "MPICH: up to 512 KiB"};
}

TransportChoice choose_mpich_all_gather(double size, int n) {
  const CollectiveOp op = CollectiveOp::all_gather;
  if (is_power_of_two(n) && size < 524'288)
    return {op, AlgorithmFamily::recursive_doubling, 1, "MPICH: below 512 KiB, a power of two"};
  if (size <= 81'920) return {op, AlgorithmFamily::bruck, 1, "MPICH: up to 80 KiB"};
  return {op, AlgorithmFamily::ring, 1, "MPICH: a long message"};
}

TransportChoice choose_mpich_alltoall(double size, int n) {
  const CollectiveOp op = CollectiveOp::alltoall;
  const double block = size / n;
  if (block <= 256 && n >= 8) return {op, AlgorithmFamily::bruck, 1, "MPICH: blocks up to 256 bytes"};
  if (block <= 32'768) return {op, AlgorithmFamily::direct, 1, "MPICH: blocks up to 32 KiB"};
  return {op, AlgorithmFamily::pairwise, 1, "MPICH: blocks above 32 KiB"};
}

}  // namespace

TransportChoice choose_mpich(const Transport&, CollectiveOp op, Bytes bytes, int ranks) {
  const double size = static_cast<double>(bytes.count);
  const bool is_short = size <= 2048;
  switch (op) {
    case CollectiveOp::all_reduce:
      if (is_short) return {op, AlgorithmFamily::recursive_doubling, 1, "MPICH: up to 2 KiB"};
      return {op, AlgorithmFamily::recursive_halving_doubling, 1, "MPICH: above 2 KiB, Rabenseifner"};
    case CollectiveOp::reduce:
      if (is_short) return {op, AlgorithmFamily::binomial, 1, "MPICH: up to 2 KiB"};
      return {op, AlgorithmFamily::reduce_scatter_gather, 1, "MPICH: above 2 KiB"};
    case CollectiveOp::broadcast:
      return choose_mpich_broadcast(size, ranks);
    case CollectiveOp::reduce_scatter:
      return choose_mpich_reduce_scatter(size, ranks);
    case CollectiveOp::all_gather:
      return choose_mpich_all_gather(size, ranks);
    case CollectiveOp::alltoall:
      return choose_mpich_alltoall(size, ranks);
    case CollectiveOp::sendrecv:
      return {op, AlgorithmFamily::shift, 1, "one message"};
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return {op, AlgorithmFamily::binomial, 1, "MPICH: always a binomial tree"};
  }
  return {};
}

}  // namespace foretrain
