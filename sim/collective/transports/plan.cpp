// The closed form of a transport. The library chooses the algorithm, the algorithm's closed form gives the
// numbers of messages and bytes, and the transport gives the time of each.
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/transports/libraries.hpp"

namespace foretrain {

namespace {

/// Returns the rate of payload: that of the link or of its connections, whichever is lower.
ByteRate rate_of(const Transport& transport, ByteRate link) {
  const ByteRate wire = link * transport.wire_efficiency;
  if (transport.stream_rate.per_second <= 0) return wire;
  return std::min(wire, transport.stream_rate * static_cast<double>(std::max(1, transport.streams)));
}

double seconds_per_byte(ByteRate rate) { return rate.per_second > 0 ? 1 / rate.per_second : 0; }

/// Returns the time of the collective in s. Whole messages take one latency per hop, plus the work of the
/// busiest rank. In P pieces of x seconds each, a part that goes on to the next rank takes max(P x, x +
/// latency): the pieces follow each other, unless the first has arrived before the last has left.
double isolated_seconds(const TransportPlan& plan, const LaneCosts& costs, double per_byte) {
  const double latency = to_seconds(plan.latency),
               busiest = plan.messages * to_seconds(plan.overhead) + plan.busiest_bytes * per_byte;
  const int pieces = plan.choice.pieces;
  if (pieces == 1) return plan.hops * latency + busiest;
  // The largest message is not a piece if a whole part follows the pieces (gloo's reduce).
  const double bytes = plan.busiest_bytes / std::max({costs.sent, costs.received, costs.chain});
  const double mean = std::ceil(costs.chain * bytes / costs.steps);
  const double piece =
      to_seconds(plan.overhead) + std::min(static_cast<double>(plan.message.count), mean) * per_byte;
  const double parts = static_cast<double>(costs.steps - costs.hops) / (pieces - 1);
  const double whole =
      (costs.hops - parts) * (piece + latency) + parts * std::max(pieces * piece, piece + latency);
  return std::max(whole + std::min((pieces - 1) * piece, latency), busiest + latency);
}

}  // namespace

int pieces_of(double part, Bytes segment, int ranks) {
  if (segment.count <= 0) return 1;
  // The number of a rank's messages must stay countable for any requested size.
  const double most = std::max(1, (1 << 28) / ranks);
  return static_cast<int>(std::clamp(std::ceil(part / static_cast<double>(segment.count)), 1.0, most));
}

std::span<const TransportLibrary> transport_libraries() {
  static constexpr std::array<TransportLibrary, 5> kRows{
      {{"gloo", "rings in segments over TCP (PyTorch on CPUs, Horovod)", choose_gloo},
       {"open_mpi", "recursive doubling, then rings", choose_open_mpi},
       {"mpich", "recursive doubling, then Rabenseifner", choose_mpich},
       {"grpc_ring", "TensorFlow's ring over gRPC", choose_grpc_ring},
       {"plain", "links alone, whole messages between GPUs", choose_plain, DataPlace::gpu_memory}}};
  return kRows;
}

const TransportLibrary* find_transport_library(std::string_view name) {
  const auto row = std::ranges::find(transport_libraries(), name, &TransportLibrary::name);
  return row == transport_libraries().end() ? nullptr : &*row;
}

TransportChoice choose(const Transport& transport, CollectiveOp op, Bytes size, int ranks) {
  if (ranks < 2) return {op, std::nullopt, 1, "one rank has nothing to exchange"};
  const TransportLibrary* library = find_transport_library(transport.library);
  assert(library != nullptr);
  return library->choose(transport, op, size, ranks);
}

TransportPlan plan(const Transport& transport, const TransportChoice& choice, const LaneCosts& costs,
                   Bytes size, Time link_latency, ByteRate link_bandwidth) {
  TransportPlan plan;
  plan.choice = choice;
  const double bytes = static_cast<double>(size.count);
  plan.hops = costs.hops;
  plan.messages = std::max(costs.steps, costs.messages);
  plan.message = {static_cast<std::int64_t>(std::ceil(costs.message * bytes))};
  plan.rendezvous = transport.eager_limit.count > 0 && plan.message > transport.eager_limit;
  plan.rate = rate_of(transport, link_bandwidth);
  plan.latency = link_latency * (plan.rendezvous ? 3 : 1) + transport.header / plan.rate;
  plan.overhead = transport.message_overhead + (plan.rendezvous ? transport.rendezvous_overhead : Time{});
  plan.host_seconds_per_byte = seconds_per_byte(transport.host_rate);
  if (!plan.rendezvous) plan.host_seconds_per_byte += seconds_per_byte(transport.eager_copy_rate);
  const double moved = std::max(costs.sent, costs.received);
  if (moved > 0) plan.host_seconds_per_byte += seconds_per_byte(transport.add_rate) * costs.added / moved;
  plan.busiest_bytes = std::max({costs.sent, costs.received, costs.chain}) * bytes;

  const double wire = seconds_per_byte(plan.rate), host = plan.host_seconds_per_byte;
  const double per_byte = plan.choice.pieces > 1 ? std::max(wire, host) : wire + host;
  plan.alone = seconds(isolated_seconds(plan, costs, per_byte));
  return plan;
}

TransportPlan plan(const Transport& transport, CollectiveOp op, Bytes size, int ranks, Time link_latency,
                   ByteRate link_bandwidth) {
  const TransportChoice choice = choose(transport, op, size, ranks);
  if (!choice.family) {
    TransportPlan nothing;
    nothing.choice = choice;
    return nothing;
  }
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  const LaneCosts costs =
      costs_of(*find_algorithm(choice.runs_as, *choice.family), {order, 0, choice.pieces});
  return plan(transport, choice, costs, size, link_latency, link_bandwidth);
}

}  // namespace foretrain
