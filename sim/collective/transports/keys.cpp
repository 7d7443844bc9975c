// The keys of a transport file.
#include <array>

#include "sim/collective/transports/transport.hpp"

namespace foretrain {

std::span<const TransportKey> transport_keys() {
  static const std::array<TransportKey, 13> kKeys{
      {{"library", &Transport::library,
        "whose rule chooses the algorithm: gloo, open_mpi, mpich, grpc_ring, plain"},
       {"message_overhead", &Transport::message_overhead,
        "software of sender and receiver per message, beyond the link's latency"},
       {"header", &Transport::header, "bytes sent with every message"},
       {"wire_efficiency", &Transport::wire_efficiency,
        "share of the link's bandwidth that enough streams reach"},
       {"stream_rate", &Transport::stream_rate, "the most one connection carries"},
       {"streams", &Transport::streams, "connections between two ranks"},
       {"eager_limit", &Transport::eager_limit, "larger messages ask first, which takes a round trip"},
       {"rendezvous_overhead", &Transport::rendezvous_overhead, "software of asking, beyond the round trip"},
       {"eager_copy_rate", &Transport::eager_copy_rate,
        "copies through bounce buffers, for messages that do not ask"},
       {"host_rate", &Transport::host_rate, "work on every byte on the host: serialising, copying"},
       {"add_rate", &Transport::add_rate, "adding received bytes to own ones"},
       {"segment", &Transport::segment, "the largest message of a pipelined algorithm"},
       {"segments", &Transport::segments, "gloo: at least so many messages per part; gRPC ring: at most"}}};
  return kKeys;
}

}  // namespace foretrain
