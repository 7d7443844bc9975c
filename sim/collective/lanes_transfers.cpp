// A lane is a connection, and its needs are those of the connection. Numbers are shifted by the connections
// that the graph already has.
#include <algorithm>
#include <cstdint>

#include "sim/collective/lanes.hpp"

namespace foretrain {

void add_transfers(TransferGraph& graph, const Lanes& lanes, double bytes,
                   const std::function<LaneCarrier(int from, int to)>& carrier) {
  const std::uint32_t first = static_cast<std::uint32_t>(graph.connections.size());
  graph.ranks = std::max(graph.ranks, lanes.ranks + lanes.switches);
  graph.connections.reserve(graph.connections.size() + lanes.lanes.size());
  graph.needs.reserve(graph.needs.size() + lanes.needs.size());
  std::vector<Need> needs;
  for (const Lane& lane : lanes.lanes) {
    const LaneCarrier carried = carrier(lane.from, lane.to);
    needs.clear();
    for (std::uint32_t i = 0; i < lane.needs; ++i) {
      const LaneNeed& need = lanes.needs[lane.first_need + i];
      needs.push_back({first + need.lane, need.lag});
    }
    Connection connection;
    connection.from = static_cast<std::uint32_t>(lane.from);
    connection.to = static_cast<std::uint32_t>(lane.to);
    connection.transfers = static_cast<std::uint32_t>(lane.messages);
    connection.bytes = bytes * lanes.message_share(lane) * carried.wire_bytes;
    connection.latency = carried.latency;
    connection.overhead = carried.overhead;
    graph.add(connection, carried.route, needs);
  }
}

}  // namespace foretrain
