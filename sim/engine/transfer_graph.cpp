// Construction of a transfer graph: routes and needs in one array each, with rows by connection.
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

std::uint32_t TransferGraph::add(Connection connection, std::span<const LinkId> route,
                                 std::span<const Need> after) {
  connection.first_link = static_cast<std::uint32_t>(route_links.size());
  connection.links = static_cast<std::uint32_t>(route.size());
  connection.first_need = static_cast<std::uint32_t>(needs.size());
  connection.needs = static_cast<std::uint32_t>(after.size());
  route_links.insert(route_links.end(), route.begin(), route.end());
  needs.insert(needs.end(), after.begin(), after.end());
  connections.push_back(connection);
  return static_cast<std::uint32_t>(connections.size() - 1);
}

std::span<const LinkId> TransferGraph::route(std::uint32_t connection) const {
  return std::span(route_links).subspan(connections[connection].first_link, connections[connection].links);
}

std::span<const Need> TransferGraph::needs_of(std::uint32_t connection) const {
  return std::span(needs).subspan(connections[connection].first_need, connections[connection].needs);
}

std::uint64_t TransferGraph::transfers() const {
  std::uint64_t sum = 0;
  for (const Connection& connection : connections) sum += connection.transfers;
  return sum;
}

void TransferGraph::clear() {
  ranks = 0;
  connections.clear();
  needs.clear();
  route_links.clear();
}

}  // namespace foretrain
