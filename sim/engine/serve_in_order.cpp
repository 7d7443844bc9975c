// Chunk level with links that serve messages first come, first served.
//
// Events come in order of time, so messages reach each link in order, and one number per link is enough: the
// moment from which the link is free. A message that finds the links of its route free passes them all in one
// event. Links that a connection has for itself can never make it wait. They only add to the time of its
// messages, and a connection with no other links needs no events at all.
#include <algorithm>
#include <utility>

#include "sim/engine/chunk_progress.hpp"
#include "sim/engine/moment_queue.hpp"

namespace foretrain {

namespace {

/// A link on a route that other connections use too.
struct Hop {
  LinkId link;
  /// Time for which a message occupies the link.
  Time busy;
  /// Time until the last byte is through this link and through the own links that follow it.
  Time through;
};

/// A connection's route through the links, and the position of its message.
struct ConnectionRoute {
  /// Time through the own links before the first hop.
  Time lead{};
  /// The hops of the route are hops_[first_hop .. end_hop).
  std::uint32_t first_hop = 0, end_hop = 0;
  /// Index of the next hop of the message in flight.
  std::uint32_t hop = 0;
  bool under_way = false;
  /// Moment at which the last byte has passed the hops so far.
  Time tail{};
};

/// The links of a run, and the connections' positions on them.
class InOrderLinks {
 public:
  InOrderLinks(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
               ChunkProgress& progress);
  void run();

 private:
  void visit(std::uint32_t connection);
  void serve(std::uint32_t connection, Time now);

  bool run_ahead_;
  ChunkProgress& progress_;
  std::vector<ConnectionRoute> ways_;
  std::vector<Hop> hops_;
  /// Per link: the moment at which it has served all messages taken up.
  std::vector<Time> free_;
  /// Events at which the first byte of a connection's message reaches its next hop.
  MomentQueue event_queue_;
};

InOrderLinks::InOrderLinks(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                           ChunkProgress& progress)
    : run_ahead_(run_ahead), progress_(progress), ways_(graph.connections.size()), free_(capacities.size()) {
  const std::vector<bool> shared = shared_links(graph, capacities.size());
  for (std::uint32_t c = 0; c < ways_.size(); ++c) {
    ConnectionRoute& way = ways_[c];
    way.first_hop = way.end_hop = static_cast<std::uint32_t>(hops_.size());
    if (!(graph.connections[c].bytes > 0)) continue;
    for (const LinkId link : graph.route(c)) {
      const Time busy = time_on_link(graph.connections[c].bytes, capacities[link]);
      // An own link lengthens the hop before it, or the lead when there is none. Messages are cut through, so
      // the longest of them counts and not their sum.
      Time& through = hops_.size() == way.first_hop ? way.lead : hops_.back().through;
      if (shared[link])
        hops_.push_back({link, busy, busy});
      else
        through = std::max(through, busy);
    }
    way.end_hop = static_cast<std::uint32_t>(hops_.size());
  }
}

/// The event loop: connections that may send come first, then the earliest event.
void InOrderLinks::run() {
  while (!progress_.is_beyond_horizon()) {
    if (const std::uint32_t connection = progress_.next_to_visit(); connection != kNone) {
      visit(connection);
      continue;
    }
    if (progress_.make_space(event_queue_.empty() ? Time::max() : event_queue_.top().time)) continue;
    if (event_queue_.empty()) return;
    const Moment next = event_queue_.pop();
    serve(next.index, next.time);
  }
}

/// Times a connection ahead of the clock if it shares no link, or queues the start of its next message.
void InOrderLinks::visit(std::uint32_t connection) {
  ConnectionRoute& way = ways_[connection];
  if (way.under_way) return;
  if (run_ahead_ && way.first_hop == way.end_hop) return progress_.run_ahead(connection, way.lead);
  const std::optional<Time> start = progress_.next_start(connection);
  if (!start) return;
  way.under_way = true;
  way.hop = way.first_hop;
  way.tail = *start + way.lead;
  event_queue_.push({*start, connection});
}

/// Moves the first byte over as many hops as are free. A hop that is busy makes an event at the moment it
/// becomes free; after the last hop the message is sent.
void InOrderLinks::serve(std::uint32_t connection, Time now) {
  ConnectionRoute& way = ways_[connection];
  while (way.hop < way.end_hop) {
    const Hop& hop = hops_[way.hop++];
    const Time begin = std::max(now, free_[hop.link]);
    free_[hop.link] = begin + hop.busy;
    way.tail = std::max(way.tail, begin + hop.through);
    // Later messages may reach the next hop before this one, so the clock must get there first.
    if (begin > now && way.hop < way.end_hop) return event_queue_.push({begin, connection});
  }
  way.under_way = false;
  progress_.send(connection, way.tail);
}

}  // namespace

void serve_in_order(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                    ChunkProgress& progress) {
  InOrderLinks(graph, capacities, run_ahead, progress).run();
}

}  // namespace foretrain
