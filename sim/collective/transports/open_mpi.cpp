// Open MPI's fixed decision rules (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c before 4.1, measured by
// its authors on Myrinet): recursive doubling below 10 000 bytes, rings above. For its neighbour exchange,
// split binary tree and chain the nearest rows of the catalog are taken: ring, two trees, ring. Segments are
// those of the rules.
#include <fmt/format.h>

#include "sim/collective/transports/libraries.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kMiB = 1 << 20;

TransportChoice choose_open_mpi_all_reduce(double size, int n) {
  const CollectiveOp op = CollectiveOp::all_reduce;
  if (size < 10'000) return {op, AlgorithmFamily::recursive_doubling, 1, "Open MPI: below 10000 bytes"};
  if (size <= static_cast<double>(n * kMiB))
    return {op, AlgorithmFamily::ring, 1, "Open MPI: parts up to 1 MiB"};
  return {op, AlgorithmFamily::ring, pieces_of(size / n, {kMiB}, n), "Open MPI: segments of 1 MiB"};
}

/// Returns the pipeline segment of a large broadcast: 128, 64, 16 or 8 KiB by size and number of ranks.
std::int64_t broadcast_segment(double size, int n) {
  if (n < 1.6134e-6 * size + 2.1102) return 128 << 10;
  if (n < 2.3679e-6 * size + 1.1787) return 64 << 10;
  if (n < 3.2118e-6 * size + 8.7936) return 16 << 10;
  return 8 << 10;
}

TransportChoice choose_open_mpi_broadcast(double size, int n) {
  const CollectiveOp op = CollectiveOp::broadcast;
  if (size < 2048) return {op, AlgorithmFamily::binomial, 1, "Open MPI: below 2048 bytes"};
  if (size < 370'728)
    return {op, AlgorithmFamily::double_binary_tree, pieces_of(size / 2, {1024}, n),
            "Open MPI: split binary tree, segments of 1 KiB"};
  const std::int64_t segment = broadcast_segment(size, n);
  return {op, AlgorithmFamily::ring, pieces_of(size, {segment}, n),
          fmt::format("Open MPI: pipeline, segments of {} KiB", segment >> 10)};
}

TransportChoice choose_open_mpi_reduce(double size, int n) {
  const CollectiveOp op = CollectiveOp::reduce;
  if (size < 2048 || (n < 8 && size < 20'480))
    return {op, AlgorithmFamily::binomial, 1, "Open MPI: a short message"};
  if (n > 0.6016 / 1024 * size + 1.3496)
    return {op, AlgorithmFamily::binomial, pieces_of(size, {1024}, n),
            "Open MPI: many ranks, segments of 1 KiB"};
  if (n > 0.0410 / 1024 * size + 9.7128)
    return {op, AlgorithmFamily::ring, pieces_of(size, {1024}, n), "Open MPI: pipeline, segments of 1 KiB"};
  const bool many = n > 0.0033 / 1024 * size + 1.6761;
  return {op, AlgorithmFamily::ring, pieces_of(size, {many ? 32 << 10 : 64 << 10}, n),
          fmt::format("Open MPI: pipeline, segments of {} KiB", many ? 32 : 64)};
}

TransportChoice choose_open_mpi_reduce_scatter(double size, int n) {
  const CollectiveOp op = CollectiveOp::reduce_scatter;
  const bool halving =
      size <= 12 * 1024 || (size <= 256 * 1024 && is_power_of_two(n)) || n >= 0.0012 * size + 8;
  if (!halving) return {op, AlgorithmFamily::ring, 1, "Open MPI: a long message"};
  return {op, is_power_of_two(n) ? AlgorithmFamily::recursive_halving : AlgorithmFamily::bruck, 1,
          "Open MPI: a short message"};
}

TransportChoice choose_open_mpi_all_gather(double size, int n) {
  const CollectiveOp op = CollectiveOp::all_gather;
  if (size >= 50'000) return {op, AlgorithmFamily::ring, 1, "Open MPI: 50000 bytes or more"};
  return {op, is_power_of_two(n) ? AlgorithmFamily::recursive_doubling : AlgorithmFamily::bruck, 1,
          "Open MPI: below 50000 bytes"};
}

TransportChoice choose_open_mpi_alltoall(double size, int n) {
  const CollectiveOp op = CollectiveOp::alltoall;
  const double block = size / n;
  if (block < 200 && n > 12) return {op, AlgorithmFamily::bruck, 1, "Open MPI: blocks below 200 bytes"};
  if (block < 3000) return {op, AlgorithmFamily::direct, 1, "Open MPI: blocks below 3000 bytes"};
  return {op, AlgorithmFamily::pairwise, 1, "Open MPI: blocks of 3000 bytes or more"};
}

}  // namespace

TransportChoice choose_open_mpi(const Transport&, CollectiveOp op, Bytes bytes, int ranks) {
  const double size = static_cast<double>(bytes.count);
  switch (op) {
    case CollectiveOp::all_reduce:
      return choose_open_mpi_all_reduce(size, ranks);
    case CollectiveOp::broadcast:
      return choose_open_mpi_broadcast(size, ranks);
    case CollectiveOp::reduce:
      return choose_open_mpi_reduce(size, ranks);
    case CollectiveOp::reduce_scatter:
      return choose_open_mpi_reduce_scatter(size, ranks);
    case CollectiveOp::all_gather:
      return choose_open_mpi_all_gather(size, ranks);
    case CollectiveOp::alltoall:
      return choose_open_mpi_alltoall(size, ranks);
    case CollectiveOp::sendrecv:
      return {op, AlgorithmFamily::shift, 1, "one message"};
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return {op, AlgorithmFamily::direct, 1, "Open MPI: always linear"};
  }
  return {};
}

}  // namespace foretrain
