// How far each connection of a transfer graph has come, when its next message may start, and who waits for
// whom.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// The data flow of a run at chunk level, apart from any model of the links. A message is timed once it is
/// known when its last byte is sent, which may lie ahead of the clock. Of each connection only a window of
/// arrivals is kept: those that a connection which needs them has not consumed; a connection that would
/// overwrite one of these waits for room.
class ChunkProgress {
 public:
  ChunkProgress(const TransferGraph& graph, std::span<const Time> start);

  /// When the connection's next message may start; nothing when that is not known yet, when there is no room,
  /// or when it has no more.
  std::optional<Time> next_start(std::uint32_t connection);
  /// The last byte of the connection's next message leaves the last link at `moment`.
  void send(std::uint32_t connection, Time moment);
  /// Times as many messages as can be, each of which takes `duration` on the links.
  void run_ahead(std::uint32_t connection, Time duration);

  /// A connection whose next message may have become possible; kNone when there is none. All of them in the
  /// beginning.
  std::uint32_t next_to_visit();
  /// Gives room to the connections that wait for it although they could send at `now` or before; to be called
  /// before the clock goes on to `now`, so that nobody misses his turn. False: there was none.
  bool make_space(Time now);
  bool is_beyond_horizon() const { return beyond_horizon_; }

  ChunkResult result() const;

 private:
  struct State {
    Time free{};  ///< the sender is done with the messages so far
    Time latency{}, overhead{};
    std::uint32_t next = 0;  ///< messages timed so far
    std::uint32_t transfers = 0;
    std::uint32_t first_need = 0, end_need = 0;
    std::uint32_t first_dependent = 0, end_dependent = 0;
    std::size_t window = 0;  ///< in arrivals_; message k at window + (k & mask)
    std::uint32_t mask = 0;
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
  std::vector<Need> dependents_;  ///< the needs turned round: who needs this connection, with which lag
  std::vector<Time> arrivals_;
  std::vector<std::uint32_t> line_;  ///< to visit, a circular buffer
  std::size_t line_begin_ = 0, line_size_ = 0;
  std::vector<std::uint32_t> parked_;   ///< those that want room, and some that no longer do
  Time earliest_parked_ = Time::max();  ///< none of them could send before
  bool beyond_horizon_ = false;
};

// Chunk level with links that serve first come, first served.

/// Plays the graph to its end. Requires that every link of a route that carries bytes has a bandwidth.
void serve_in_order(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                    ChunkProgress& progress);

// Chunk level with links that all messages on their way share max-min.

/// Plays the graph to its end. Requires that every link of a route that carries bytes has a bandwidth.
void fair_share(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                ChunkProgress& progress);

// Which links of a transfer graph are shared, and how long a message takes on one.

/// Per link: it comes more than once in the routes of connections that carry anything.
std::vector<bool> shared_links(const TransferGraph& graph, std::size_t links);

/// bytes / rate, rounded up to a picosecond as in flow mode; kLongestTime when the link has no bandwidth.
Time time_on_link(double bytes, ByteRate rate);

}  // namespace foretrain
