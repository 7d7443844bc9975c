// Lanes as transfers over the links of a cluster, for the chunk level.
#pragma once

#include <functional>
#include <vector>

#include "sim/collective/lanes.hpp"
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// What carries the messages of a lane.
struct LaneCarrier {
  std::vector<LinkId> route;
  Time latency{};         ///< from the last byte sent until the receiver can use the message
  Time overhead{};        ///< the sender is busy this much longer with each message
  double wire_bytes = 1;  ///< on the wire per byte of data
};

/// Adds one connection per lane to the graph, with messages of `bytes` (the size as nccl-tests counts it)
/// times the lane's share. Ranks of the lanes are ranks of the graph, switches those from lanes.ranks on; the
/// graph gets at least as many. Several collectives may be added to one graph: they run at once. Calls
/// `carrier` once per lane.
void add_transfers(TransferGraph& graph, const Lanes& lanes, double bytes,
                   const std::function<LaneCarrier(int from, int to)>& carrier);

}  // namespace foretrain
