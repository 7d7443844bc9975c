// The rules of TensorFlow's own collectives over gRPC (tensorflow/core/common_runtime/ring_alg.cc,
// hierarchical_tree_broadcaster.cc). All-reduce and all-gather go around a ring. Parts are cut into
// subdivisions until one is at most 4 MiB, but into no more than two. Broadcast goes along a binary tree.
#include <algorithm>

#include <fmt/format.h>

#include "sim/collective/transports/libraries.hpp"

namespace foretrain {

TransportChoice choose_grpc_ring(const Transport& transport, CollectiveOp op, Bytes size, int ranks) {
  if (op == CollectiveOp::broadcast)
    return {op, AlgorithmFamily::binary_tree, 1, "TensorFlow: always a binary tree"};
  if (op == CollectiveOp::sendrecv) return {op, AlgorithmFamily::shift, 1, "one message"};
  if (op != CollectiveOp::all_reduce && op != CollectiveOp::all_gather)
    return {op, std::nullopt, 1, fmt::format("TensorFlow has no {} over gRPC", name_of(op))};
  const double part = static_cast<double>(size.count) / ranks;
  const int pieces = std::min(std::max(1, transport.segments), pieces_of(part, transport.segment, ranks));
  return {op, AlgorithmFamily::ring, pieces,
          fmt::format("TensorFlow: {} subdivision{} per part", pieces, pieces == 1 ? "" : "s")};
}

}  // namespace foretrain
