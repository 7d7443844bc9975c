// NVLink SHARP: the NVSwitch adds what all ranks send, and multicasts results.
//
// Each rank is the head of one shard. It pulls the sum of its shard out of the switch and pushes the result
// back, which the switch sends to every rank. In the lanes the switches of a domain are two holders of data,
// because they keep none: place n adds and place n + 1 multicasts. A reduce-scatter or an all-gather has only
// place n.
//
// A rank sends and receives S (1 + 1/n) bytes for any number of ranks n, instead of 2 S (n - 1) / n. The
// all-reduce of a node with NVSwitch multicast is therefore nearly twice as fast as a ring's. It needs Hopper
// or later.
#include "sim/collective/algorithms/rows.hpp"

namespace foretrain {

namespace {

std::string_view refuse_nvls(const AlgorithmRequest& request) {
  // The largest domain of one NVSwitch fabric (NVL576).
  constexpr int kLargestDomain = 576;
  return request.groups.size() > 1 || request.ranks() > kLargestDomain
             ? "the ranks are not behind one NVSwitch"
             : "";
}

/// Returns a lane that carries the chunks of `lanes` in messages with one chunk of every rank's shard each.
/// With width 1 the messages carry only shard `first`.
Lane shard_lane(const Lanes& lanes, int from, int to, int first, int width) {
  return {.from = from,
          .to = to,
          .messages = lanes.chunks / lanes.ranks,
          .first = first,
          .stride = lanes.ranks,
          .width = width,
          .wrap = lanes.chunks};
}

/// Adds the lanes in which all ranks send all shards to the switch, which adds. Returns what the sum of a
/// piece waits for.
std::vector<LaneNeed> send_up(Lanes& lanes) {
  std::vector<LaneNeed> needs;
  for (int p = 0; p < lanes.ranks; ++p) {
    Lane lane = shard_lane(lanes, p, lanes.ranks, 0, lanes.ranks);
    lane.first_copy = lane.messages;
    needs.push_back({add_lane(lanes, lane, {}), 0});
  }
  return needs;
}

void fill_nvls_all_reduce(Lanes& lanes, const AlgorithmRequest& request) {
  const int n = lanes.ranks;
  lanes.chunks = n * request.pieces;
  lanes.switches = 2;
  const std::vector<LaneNeed> summed = send_up(lanes);
  std::vector<LaneNeed> returned;
  for (int head = 0; head < n; ++head) {
    const std::uint32_t pull = add_lane(lanes, shard_lane(lanes, n, head, head, 1), summed);
    returned.push_back({add_lane(lanes, shard_lane(lanes, head, n + 1, head, 1), {{pull, 0}}), 0});
  }
  for (int p = 0; p < n; ++p) add_lane(lanes, shard_lane(lanes, n + 1, p, 0, n), returned);
}

/// Returns the closed form: up, pull, push, down.
LaneCosts nvls_all_reduce_costs(const AlgorithmRequest& request) {
  const double bytes = 1 + 1.0 / request.ranks(), piece = 1.0 / request.pieces;
  return {.hops = 4,
          .steps = 4 + request.pieces - 1,
          .sent = bytes,
          .received = bytes,
          .pair = 1,
          .message = piece,
          .chain = 1 + 2 * piece / request.ranks() + piece,
          .messages = 2 * request.pieces};
}

void fill_nvls_reduce_scatter(Lanes& lanes, const AlgorithmRequest&) {
  lanes.chunks = lanes.ranks;
  lanes.switches = 1;
  const std::vector<LaneNeed> summed = send_up(lanes);
  for (int head = 0; head < lanes.ranks; ++head)
    add_lane(lanes, shard_lane(lanes, lanes.ranks, head, head, 1), summed);
}

LaneCosts nvls_reduce_scatter_costs(const AlgorithmRequest& request) {
  const double part = 1.0 / request.ranks();
  return {.hops = 2,
          .steps = 2,
          .sent = 1,
          .received = part,
          .pair = 1,
          .message = 1,
          .chain = 1 + part,
          .messages = 1};
}

void fill_nvls_all_gather(Lanes& lanes, const AlgorithmRequest&) {
  const int n = lanes.ranks;
  lanes.chunks = n;
  lanes.switches = 1;
  std::vector<LaneNeed> sent;
  for (int p = 0; p < n; ++p) sent.push_back({add_lane(lanes, shard_lane(lanes, p, n, p, 1), {}), 0});
  for (int p = 0; p < n; ++p) add_lane(lanes, shard_lane(lanes, n, p, 0, n), sent);
}

LaneCosts nvls_all_gather_costs(const AlgorithmRequest& request) {
  const double part = 1.0 / request.ranks();
  return {.hops = 2,
          .steps = 2,
          .sent = part,
          .received = 1,
          .pair = 1,
          .message = 1,
          .chain = 1 + part,
          .messages = 1};
}

}  // namespace

Algorithm nvls_all_reduce() {
  return {"nvls_all_reduce",
          AlgorithmFamily::nvls,
          CollectiveOp::all_reduce,
          "the NVSwitch adds all ranks' shards and multicasts the sums",
          fill_nvls_all_reduce,
          nvls_all_reduce_costs,
          refuse_nvls};
}

Algorithm nvls_reduce_scatter() {
  return {"nvls_reduce_scatter",
          AlgorithmFamily::nvls,
          CollectiveOp::reduce_scatter,
          "the NVSwitch adds each rank's part",
          fill_nvls_reduce_scatter,
          nvls_reduce_scatter_costs,
          refuse_nvls};
}

Algorithm nvls_all_gather() {
  return {"nvls_all_gather",
          AlgorithmFamily::nvls,
          CollectiveOp::all_gather,
          "the NVSwitch multicasts every rank's part",
          fill_nvls_all_gather,
          nvls_all_gather_costs,
          refuse_nvls};
}

}  // namespace foretrain
