// Direct algorithms: every chunk goes straight to its destination, all at once. They are grouped sends and
// receives, as NCCL does alltoall, gather and scatter.
//
// All n - 1 messages of a rank are posted at once and share its links. Latency is paid once if the transport
// can keep so many messages in flight. On a NIC with few queues the messages line up
// (docs/sources/nccl_peers.md 3).
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

/// Adds a lane with one message of one chunk that waits for nothing.
void add_message(Lanes& lanes, int from, int to, int chunk, Transfer::Combine combine) {
  add_lane(lanes,
           {.from = from,
            .to = to,
            .first = chunk,
            .wrap = lanes.chunks,
            .first_copy = combine == Transfer::copy ? 0 : 1},
           {});
}

/// Calls use(from, to) for all pairs, nearest receivers first.
template <class Use>
void for_pairs(int n, const Use& use) {
  for (int distance = 1; distance < n; ++distance) {
    for (int p = 0; p < n; ++p) use(p, (p + distance) % n);
  }
}

void fill_direct_reduce_scatter(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  for_pairs(lanes.ranks, [&](int from, int to) { add_message(lanes, from, to, to, Transfer::reduce); });
}

void fill_direct_all_gather(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  for_pairs(lanes.ranks, [&](int from, int to) { add_message(lanes, from, to, from, Transfer::copy); });
}

/// Chunk d n + p is the one of place p for the receiver d places further on.
void fill_direct_alltoall(Lanes& lanes, const AlgorithmRequest&) {
  const int n = lanes.ranks;
  lanes.chunks = n * n;
  for_pairs(n, [&](int from, int to) {
    add_message(lanes, from, to, (to - from + n) % n * n + from, Transfer::copy);
  });
}

void fill_direct_gather(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  for (int p = 1; p < lanes.ranks; ++p) add_message(lanes, p, 0, p, Transfer::copy);
}

void fill_direct_scatter(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  for (int p = 1; p < lanes.ranks; ++p) add_message(lanes, 0, p, p, Transfer::copy);
}

/// Returns the costs when each pair exchanges one message of a part; `sent` and `received` are in parts.
LaneCosts costs_of_parts(const AlgorithmRequest& request, double sent, double received) {
  const double part = 1.0 / request.ranks();
  return {.hops = 1,
          .steps = 1,
          .sent = sent * part,
          .received = received * part,
          .pair = part,
          .message = part,
          .chain = part,
          .messages = request.ranks() - 1};
}

LaneCosts symmetric_costs(const AlgorithmRequest& request) {
  return costs_of_parts(request, request.ranks() - 1, request.ranks() - 1);
}

LaneCosts direct_reduce_scatter_costs(const AlgorithmRequest& request) {
  LaneCosts costs = symmetric_costs(request);
  costs.added = costs.received;
  return costs;
}

LaneCosts direct_gather_costs(const AlgorithmRequest& request) {
  return costs_of_parts(request, 1, request.ranks() - 1);
}

LaneCosts direct_scatter_costs(const AlgorithmRequest& request) {
  return costs_of_parts(request, request.ranks() - 1, 1);
}

}  // namespace

Algorithm direct_reduce_scatter() {
  return {"direct_reduce_scatter",      AlgorithmFamily::direct,
          CollectiveOp::reduce_scatter, "every contribution straight to the owner of the part",
          fill_direct_reduce_scatter,   direct_reduce_scatter_costs,
          refuse_too_many_pairs};
}

Algorithm direct_all_gather() {
  return {"direct_all_gather",      AlgorithmFamily::direct,
          CollectiveOp::all_gather, "every part straight from its owner to all",
          fill_direct_all_gather,   symmetric_costs,
          refuse_too_many_pairs};
}

Algorithm direct_alltoall() {
  return {"direct_alltoall",      AlgorithmFamily::direct,
          CollectiveOp::alltoall, "every chunk straight to its receiver, all at once",
          fill_direct_alltoall,   symmetric_costs,
          refuse_too_many_pairs};
}

Algorithm direct_gather() {
  return {
      "direct_gather",    AlgorithmFamily::direct, CollectiveOp::gather, "every part straight to the root",
      fill_direct_gather, direct_gather_costs,     refuse_nothing};
}

Algorithm direct_scatter() {
  return {"direct_scatter",      AlgorithmFamily::direct,
          CollectiveOp::scatter, "every part straight from the root",
          fill_direct_scatter,   direct_scatter_costs,
          refuse_nothing};
}

}  // namespace foretrain
