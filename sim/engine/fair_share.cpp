// Chunk level with links that share their rate by max-min fairness among the messages in flight.
//
// When messages start or end, only the messages that share a link with them, directly or through others, can
// get another rate. find_affected() collects this connected component, and the solver runs on it alone, once
// per moment. All other messages keep their rates and ends.
//
// Links that a connection has for itself act together as one limit of its rate. They enter the problem as one
// extra link per connection. A connection with no other links always runs at that limit and needs no events.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/engine/chunk_progress.hpp"
#include "sim/engine/horizon.hpp"
#include "sim/engine/max_min.hpp"
#include "sim/engine/moment_queue.hpp"

namespace foretrain {

namespace {

/// The message of a connection that is in flight, or will start next.
struct Message {
  double bytes_left = 0;
  double rate = 0;
  /// The moment to which bytes_left refers.
  Time since{};
  /// End at the present rate.
  Time end = Time::max();
  /// Time of its event in ends_, at the end or before; other events of this message are outdated.
  Time queued = Time::max();
  /// Its links in links_: the shared ones, then the limit of the lone ones if that matters.
  std::uint32_t first_link = 0, end_link = 0;
  /// The connection shares no link.
  bool lone = true;
  /// `under_way`: queued to start, or in flight.
  bool under_way = false;
  /// Visited in the present search for affected messages.
  bool reached = false;
};

/// The messages and links of a run. Link ids below capacities.size() are real; capacities.size() + c is the
/// limit of connection c's own links.
class SharedLinks {
 public:
  SharedLinks(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
              ChunkProgress& progress);
  void run();

 private:
  void visit_all();
  void visit(std::uint32_t connection);
  void end_messages(Time now);
  void start_messages(Time now);
  void leave_links(std::uint32_t connection);
  void find_affected();
  void share_anew(Time now);
  void expect_end(std::uint32_t connection);
  std::span<const LinkId> links_of(const Message& message) const;

  const TransferGraph& graph_;
  bool run_ahead_;
  ChunkProgress& progress_;
  std::vector<Message> messages_;
  std::vector<LinkId> links_;
  /// Per connection: time of a message on the links that the connection has for itself.
  std::vector<Time> lone_time_;
  /// Per link: connections whose message is in flight on it.
  std::vector<std::vector<std::uint32_t>> users_;
  /// Links that a message joined or left at this moment.
  std::vector<LinkId> changed_;
  /// Per link, whether it is in changed_. Bytes are faster than bits here.
  std::vector<std::uint8_t> is_changed_;
  /// Connections whose rate may change at this moment.
  std::vector<std::uint32_t> affected_;
  MaxMinSolver solver_;
  /// Moments at which messages start and end, by connection.
  MomentQueue starts_, ends_;
};

/// Returns the capacities of the links, followed by one limit per connection: the least capacity of the links
/// that the connection has for itself, or infinity.
std::vector<ByteRate> with_lone_limits(const TransferGraph& graph, std::span<const ByteRate> capacities,
                                       const std::vector<bool>& shared) {
  std::vector<ByteRate> all(capacities.begin(), capacities.end());
  all.resize(capacities.size() + graph.connections.size(), {std::numeric_limits<double>::infinity()});
  for (std::uint32_t c = 0; c < graph.connections.size(); ++c) {
    for (const LinkId link : graph.route(c)) {
      ByteRate& limit = all[capacities.size() + c];
      if (!shared[link]) limit = std::min(limit, capacities[link]);
    }
  }
  return all;
}

SharedLinks::SharedLinks(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                         ChunkProgress& progress)
    : graph_(graph),
      run_ahead_(run_ahead),
      progress_(progress),
      messages_(graph.connections.size()),
      lone_time_(messages_.size()),
      users_(capacities.size() + messages_.size()),
      is_changed_(users_.size()),
      solver_({}) {
  const std::vector<bool> shared = shared_links(graph, capacities.size());
  std::vector<ByteRate> limits = with_lone_limits(graph, capacities, shared);
  for (std::uint32_t c = 0; c < messages_.size(); ++c) {
    Message& message = messages_[c];
    const auto limit = static_cast<LinkId>(capacities.size() + c);
    message.first_link = static_cast<std::uint32_t>(links_.size());
    ByteRate least{std::numeric_limits<double>::infinity()};
    for (const LinkId link : graph.route(c)) {
      if (!shared[link]) continue;
      message.lone = false;
      links_.push_back(link);
      least = std::min(least, limits[link]);
    }
    // A limit at or above the narrowest shared link never binds, so it is left out.
    if (message.lone || limits[limit] < least) links_.push_back(limit);
    message.end_link = static_cast<std::uint32_t>(links_.size());
    lone_time_[c] = time_on_link(graph.connections[c].bytes, limits[limit]);
  }
  solver_ = MaxMinSolver(std::move(limits));
}

std::span<const LinkId> SharedLinks::links_of(const Message& message) const {
  return std::span(links_).subspan(message.first_link, message.end_link - message.first_link);
}

/// The event loop. At one moment messages end first, then new ones start; then the rates are solved once.
void SharedLinks::run() {
  while (!progress_.is_beyond_horizon()) {
    visit_all();
    const Time now = std::min(starts_.empty() ? Time::max() : starts_.top().time,
                              ends_.empty() ? Time::max() : ends_.top().time);
    if (progress_.make_space(now)) continue;
    if (now == Time::max()) return;
    end_messages(now);
    visit_all();
    start_messages(now);
    find_affected();
    share_anew(now);
  }
}

/// Visits the connections that may have become able to send.
void SharedLinks::visit_all() {
  for (std::uint32_t c = progress_.next_to_visit(); c != kNone && !progress_.is_beyond_horizon();
       c = progress_.next_to_visit())
    visit(c);
}

/// Times a connection ahead of the clock if it shares no link, or queues the start of its next message.
void SharedLinks::visit(std::uint32_t connection) {
  Message& message = messages_[connection];
  if (message.under_way) return;
  const bool weightless = !(graph_.connections[connection].bytes > 0);
  if (weightless || (run_ahead_ && message.lone))
    return progress_.run_ahead(connection, lone_time_[connection]);
  const std::optional<Time> start = progress_.next_start(connection);
  if (!start) return;
  message.under_way = true;
  starts_.push({*start, connection});
}

/// Ends the messages whose end is `now`. An event whose message got slower since is queued again at its new
/// end.
void SharedLinks::end_messages(Time now) {
  while (!ends_.empty() && ends_.top().time == now) {
    const std::uint32_t connection = ends_.pop().index;
    Message& message = messages_[connection];
    if (message.queued != now) continue;
    message.queued = Time::max();
    if (message.end != now) {
      expect_end(connection);
      continue;
    }
    leave_links(connection);
    message.end = Time::max();
    message.under_way = false;
    progress_.send(connection, now);
  }
}

/// Removes the connection's message from its links, which count as changed.
void SharedLinks::leave_links(std::uint32_t connection) {
  for (const LinkId link : links_of(messages_[connection])) {
    std::vector<std::uint32_t>& users = users_[link];
    const auto place = std::find(users.begin(), users.end(), connection);
    *place = users.back();
    users.pop_back();
    if (is_changed_[link] == 0) changed_.push_back(link);
    is_changed_[link] = 1;
  }
}

/// Puts the messages that start at `now` on their links, which count as changed.
void SharedLinks::start_messages(Time now) {
  while (!starts_.empty() && starts_.top().time == now) {
    const std::uint32_t connection = starts_.pop().index;
    Message& message = messages_[connection];
    message.bytes_left = graph_.connections[connection].bytes;
    message.rate = 0;
    message.since = now;
    for (const LinkId link : links_of(message)) {
      users_[link].push_back(connection);
      if (is_changed_[link] == 0) changed_.push_back(link);
      is_changed_[link] = 1;
    }
  }
}

/// Walks from the links that changed over their messages to the links of these, and so on: a breadth-first
/// search of the connected component. The result is sorted, so that sums are rounded alike whatever else
/// happens at the moment.
void SharedLinks::find_affected() {
  affected_.clear();
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    for (const std::uint32_t connection : users_[changed_[i]]) {
      Message& message = messages_[connection];
      if (message.reached) continue;
      message.reached = true;
      affected_.push_back(connection);
      for (const LinkId link : links_of(message)) {
        if (is_changed_[link] == 0) changed_.push_back(link);
        is_changed_[link] = 1;
      }
    }
  }
  for (const LinkId link : changed_) is_changed_[link] = 0;
  changed_.clear();
  std::ranges::sort(affected_);
}

/// Solves the rates of the affected messages. Only messages whose rate changes get new bytes left and a new
/// end.
void SharedLinks::share_anew(Time now) {
  solver_.clear();
  for (const std::uint32_t connection : affected_) solver_.add_flow(links_of(messages_[connection]));
  const std::vector<double>& rates = solver_.solve();
  for (std::size_t i = 0; i < affected_.size(); ++i) {
    Message& message = messages_[affected_[i]];
    message.reached = false;
    if (message.rate == rates[i]) continue;
    message.bytes_left -= message.rate * to_seconds(now - message.since);
    message.rate = rates[i];
    message.since = now;
    message.end = later(now, time_on_link(message.bytes_left, {message.rate}));
    expect_end(affected_[i]);
  }
}

/// Queues an event for the end of the message unless an earlier one is queued. A message that got slower is
/// examined at its old end, and only then queued for its new one. This keeps the number of events low.
void SharedLinks::expect_end(std::uint32_t connection) {
  Message& message = messages_[connection];
  if (message.end >= message.queued) return;
  message.queued = message.end;
  ends_.push({message.end, connection});
}

}  // namespace

void fair_share(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                ChunkProgress& progress) {
  SharedLinks(graph, capacities, run_ahead, progress).run();
}

}  // namespace foretrain
