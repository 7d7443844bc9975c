// Bookkeeping of a run at chunk level: how far each connection has come, when its next message may start, and
// which connections wait for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// The data flow of a run at chunk level, apart from any model of the links.
///
/// A message is timed once the moment is known at which its last byte leaves; that moment may lie ahead of
/// the clock. Each connection keeps only a window of arrival times: those that a dependent connection has not
/// consumed. A connection that would overwrite an arrival in use waits until there is space. The link models
/// below drive this class. Not thread-safe.
class ChunkProgress {
 public:
  /// Refers to `graph` and `start` for its whole life. `start` holds one moment per rank, or is empty: all
  /// start at 0.
  ChunkProgress(const TransferGraph& graph, std::span<const Time> start);

  /// Returns the start of the connection's next message. Returns nothing when a needed arrival is not known
  /// yet, when the window has no space, or when all messages are sent.
  std::optional<Time> next_start(std::uint32_t connection);
  /// Records that the last byte of the connection's next message leaves the last link at `moment`.
  void send(std::uint32_t connection, Time moment);
  /// Times as many messages of the connection as are possible now. Each takes `duration` on the links.
  void run_ahead(std::uint32_t connection, Time duration);

  /// Returns a connection whose next message may have become possible, or kNone. At the beginning every
  /// connection is returned once.
  std::uint32_t next_to_visit();
  /// Widens the windows of connections that wait for space although they could send at `now` or before. Call
  /// it before the clock moves on to `now`, so that no connection starts late for lack of memory. Returns
  /// whether any window grew.
  bool make_space(Time now);
  /// Returns whether a message ended at or after kHorizon; the run then stops.
  bool is_beyond_horizon() const { return beyond_horizon_; }

  /// Returns the finish of each rank, with a description of the deadlock if messages remain.
  ChunkResult result() const;

 private:
  /// Progress of one connection.
  struct State {
    /// The sender has finished with the messages so far.
    Time free{};
    /// Copies of Connection::latency and Connection::overhead, limited to kLongestTime.
    Time latency{}, overhead{};
    /// Number of messages timed so far.
    std::uint32_t next = 0;
    /// Total number of messages.
    std::uint32_t transfers = 0;
    /// The connection's rows in TransferGraph::needs: [first_need, end_need).
    std::uint32_t first_need = 0, end_need = 0;
    /// The connection's rows in dependents_: [first_dependent, end_dependent).
    std::uint32_t first_dependent = 0, end_dependent = 0;
    /// Beginning of the window in arrivals_. The arrival of message k lies at window + (k & mask).
    std::size_t window = 0;
    /// Size of the window minus 1; the size is a power of two.
    std::uint32_t mask = 0;
    /// `wants_room`: the last attempt failed for lack of space. `queued`: in the visit queue. `parked`: in
    /// parked_.
    bool wants_room = false, queued = false, parked = false;
  };

  void link_dependents();
  void open_windows();
  std::int64_t known_to(const State& state) const;
  std::int64_t free_space_to(const State& state) const;
  std::uint32_t possible(std::uint32_t connection);
  void park(std::uint32_t connection);
  void widen(State& state);
  Time earliest(const State& state) const;
  void record(State& state, Time sent);
  void wake_neighbours(const State& state);
  void enqueue(std::uint32_t connection);
  std::string circle() const;

  const TransferGraph& graph_;
  std::span<const Time> start_;
  std::vector<State> states_;
  /// The reverse of TransferGraph::needs: which connection needs this one, and with which lag.
  std::vector<Need> dependents_;
  /// Windows of arrival times of all connections, one after the other.
  std::vector<Time> arrivals_;
  /// Circular queue of connections to visit. Each connection is in it at most once.
  std::vector<std::uint32_t> line_;
  std::size_t line_begin_ = 0, line_size_ = 0;
  /// Connections that want space. Some no longer do and are removed at the next make_space().
  std::vector<std::uint32_t> parked_;
  /// Lower bound of the starts of parked connections.
  Time earliest_parked_ = Time::max();
  bool beyond_horizon_ = false;
};

/// Plays the graph to its end on links that serve messages first come, first served (serve_in_order.cpp).
/// Requires that every link of a route that carries bytes has a bandwidth. With `run_ahead`, a connection
/// that shares no link is timed ahead of the clock; the result is the same.
void serve_in_order(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                    ChunkProgress& progress);

/// Plays the graph to its end on links that messages share by max-min fairness (fair_share.cpp). Requires
/// that every link of a route that carries bytes has a bandwidth. `run_ahead` is as in serve_in_order().
void fair_share(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                ChunkProgress& progress);

/// Returns for each link whether it occurs more than once in the routes of connections that carry bytes.
std::vector<bool> shared_links(const TransferGraph& graph, std::size_t links);

/// Returns bytes / rate, rounded up to a picosecond as at flow level. Returns kLongestTime when the link has
/// no bandwidth, and 0 when there are no bytes.
Time time_on_link(double bytes, ByteRate rate);

}  // namespace foretrain
