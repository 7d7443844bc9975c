// The rules of gloo (pytorch/gloo, gloo/*.cc, 2018 to 2025). Parts of rings are cut into at least two
// segments of at most 1 MiB, so that one moves while the other is added up. Broadcasts are binomial; other
// operations are grouped sends. PyTorch over gloo runs a reduce-scatter as an all-reduce.
#include <algorithm>

#include <fmt/format.h>

#include "sim/collective/transports/libraries.hpp"

namespace foretrain {

namespace {

/// Returns a choice with segments of min(size / (n least), segment) bytes (allreduce.cc, reduce.cc).
TransportChoice segmented(const Transport& transport, CollectiveOp op, AlgorithmFamily family, Bytes size,
                          int ranks) {
  const double part = static_cast<double>(size.count) / ranks;
  const int pieces = std::max(transport.segments, pieces_of(part, transport.segment, ranks));
  return {op, family, pieces, fmt::format("gloo: {} segments per part", pieces)};
}

}  // namespace

Transport gloo_over_tcp() {
  Transport transport;
  transport.library = "gloo";
  transport.message_overhead = microseconds(15);
  transport.header = {48};
  transport.wire_efficiency = 0.97;
  transport.stream_rate = {3e9};
  transport.add_rate = {5e9};
  transport.segment = {1 << 20};
  transport.segments = 2;
  return transport;
}

TransportChoice choose_gloo(const Transport& transport, CollectiveOp op, Bytes size, int ranks) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return segmented(transport, op, AlgorithmFamily::ring, size, ranks);
    case CollectiveOp::reduce_scatter: {
      TransportChoice choice =
          segmented(transport, CollectiveOp::all_reduce, AlgorithmFamily::ring, size, ranks);
      choice.why += ", all-reduced: there is no reduce-scatter";
      return choice;
    }
    case CollectiveOp::reduce:
      return segmented(transport, op, AlgorithmFamily::reduce_scatter_gather, size, ranks);
    case CollectiveOp::all_gather:  // allgather.cc halves each part
      return {op, AlgorithmFamily::ring, 2, "gloo: two halves per part"};
    case CollectiveOp::broadcast:
      return {op, AlgorithmFamily::binomial, 1, "gloo: always a binomial tree, whole messages"};
    case CollectiveOp::sendrecv:
      return {op, AlgorithmFamily::shift, 1, "one message"};
    case CollectiveOp::alltoall:
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return {op, AlgorithmFamily::direct, 1, "gloo: all messages at once"};
  }
  return {};
}

}  // namespace foretrain
