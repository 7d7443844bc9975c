// No library: textbook algorithms on links that have only latency and bandwidth, for comparison with other
// simulators and with closed forms.
#include "sim/collective/transports/libraries.hpp"

namespace foretrain {

TransportChoice choose_plain(const Transport& transport, CollectiveOp op, Bytes size, int ranks) {
  switch (op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_gather:
      return {op, AlgorithmFamily::ring,
              pieces_of(static_cast<double>(size.count) / ranks, transport.segment, ranks),
              "plain: always a ring"};
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return {op, AlgorithmFamily::binomial, 1, "plain: always a binomial tree"};
    case CollectiveOp::sendrecv:
      return {op, AlgorithmFamily::shift, 1, "one message"};
    case CollectiveOp::alltoall:
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return {op, AlgorithmFamily::direct, 1, "plain: all messages at once"};
  }
  return {};
}

}  // namespace foretrain
