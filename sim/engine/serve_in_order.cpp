// A link needs no queue: messages come to it in the order of time, so the moment it is free again says all. A
// message that finds the links free passes them all in one event. Links that one connection has for itself
// can never keep it waiting: they only add their length to the connection, and a connection with no other
// links needs no events at all.
#include <algorithm>
#include <utility>

#include "sim/engine/chunk_progress.hpp"
#include "sim/engine/moment_queue.hpp"

namespace foretrain {

namespace {

/// A link of a route that other connections use too.
struct Hop {
  LinkId link;
  Time busy;     ///< how long the link is taken
  Time through;  ///< until the last byte is through this link and the lone links behind it
};

/// A connection's way through the links, and where its message is.
struct ConnectionRoute {
  Time lead{};  ///< through the lone links before the first hop
  std::uint32_t first_hop = 0, end_hop = 0;
  std::uint32_t hop = 0;
  bool under_way = false;
  Time tail{};  ///< when the last byte has passed the hops so far
};

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
  std::vector<Time> free_;   ///< per link: done with all it has taken up
  MomentQueue event_queue_;  ///< the first byte of a connection's message is at its next hop
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
      Time& through = hops_.size() == way.first_hop ? way.lead : hops_.back().through;
      if (shared[link])
        hops_.push_back({link, busy, busy});
      else
        through = std::max(through, busy);
    }
    way.end_hop = static_cast<std::uint32_t>(hops_.size());
  }
}

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

/// The first byte passes as many hops as take it up at once.
void InOrderLinks::serve(std::uint32_t connection, Time now) {
  ConnectionRoute& way = ways_[connection];
  while (way.hop < way.end_hop) {
    const Hop& hop = hops_[way.hop++];
    const Time begin = std::max(now, free_[hop.link]);
    free_[hop.link] = begin + hop.busy;
    way.tail = std::max(way.tail, begin + hop.through);
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
