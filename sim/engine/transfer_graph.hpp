// The transfers of a collective in compact form: connections that carry equal messages one after the other,
// and what each connection waits for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// Transfer k of the connection that has this need starts only when transfer k - lag of `connection` has
/// arrived. If k < lag nothing is needed. If k - lag lies beyond the last transfer, the last one is needed;
/// so kWholePhase means "all transfers of the other connection".
struct Need {
  std::uint32_t connection = 0;
  std::int32_t lag = 0;
};
/// A lag so negative that every transfer needs the last one of the other connection.
inline constexpr std::int32_t kWholePhase = -2'000'000'000;

/// A direction between two ranks. Its messages follow one another: the next starts when the last byte of the
/// previous one has left the last link and the sender has finished with it.
struct Connection {
  /// Ranks.
  std::uint32_t from = 0, to = 0;
  /// Number of messages.
  std::uint32_t transfers = 0;
  /// Bytes of each message on the wire.
  double bytes = 0;
  /// Time from the last byte sent until the receiver can use the message.
  Time latency{};
  /// Time for which the sender is busy in addition with each message (posting).
  Time overhead{};
  /// Its route is route_links[first_link .. first_link + links); set by add().
  std::uint32_t first_link = 0, links = 0;
  /// Its needs are needs[first_need .. first_need + needs); set by add().
  std::uint32_t first_need = 0, needs = 0;
};

/// Connections and their needs. A ring of n ranks is n connections with one need each, whatever the number of
/// steps. Needs may point to connections that are added later, and to the connection itself (a sender that
/// waits until its message has arrived).
struct TransferGraph {
  int ranks = 0;
  std::vector<Connection> connections;
  std::vector<Need> needs;
  std::vector<LinkId> route_links;

  /// Appends a connection with its route and needs. Returns its index in `connections`.
  std::uint32_t add(Connection connection, std::span<const LinkId> route, std::span<const Need> after = {});
  std::span<const LinkId> route(std::uint32_t connection) const;
  std::span<const Need> needs_of(std::uint32_t connection) const;
  /// Number of messages of all connections together.
  std::uint64_t transfers() const;
  void clear();
};

}  // namespace foretrain
