// The transfers of a collective in compact form: connections that carry equal messages one after the other,
// and what each waits for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// Transfer k of the connection that has this need starts only when transfer k - lag of `connection` has
/// arrived. Before the first (k < lag) nothing is needed; beyond the last, the last is, so that a lag of
/// -infinity (kWholePhase) means "all of it".
struct Need {
  std::uint32_t connection = 0;
  std::int32_t lag = 0;
};
inline constexpr std::int32_t kWholePhase = -2'000'000'000;

/// One direction between two ranks. Its messages follow one another: the next starts when the last byte of
/// the one before has left the last link and the sender is done with it.
struct Connection {
  std::uint32_t from = 0, to = 0;  ///< ranks
  std::uint32_t transfers = 0;     ///< how many messages
  double bytes = 0;                ///< of each, on the wire
  Time latency{};                  ///< from the last byte sent until the receiver can use the message
  Time overhead{};                 ///< the sender is busy this much longer with each message (posting)
  std::uint32_t first_link = 0, links = 0;  ///< its route in TransferGraph::route_links; set by add()
  std::uint32_t first_need = 0, needs = 0;  ///< in TransferGraph::needs; set by add()
};

/// A ring of n ranks is n connections with one need each, whatever the number of steps. Needs may point to
/// connections added later, and to the connection itself (a sender that waits until its message has arrived).
struct TransferGraph {
  int ranks = 0;
  std::vector<Connection> connections;
  std::vector<Need> needs;
  std::vector<LinkId> route_links;

  /// Appends; the id is the place in `connections`.
  std::uint32_t add(Connection connection, std::span<const LinkId> route, std::span<const Need> after = {});
  std::span<const LinkId> route(std::uint32_t connection) const;
  std::span<const Need> needs_of(std::uint32_t connection) const;
  /// Messages of all connections together.
  std::uint64_t transfers() const;
  void clear();
};

}  // namespace foretrain
