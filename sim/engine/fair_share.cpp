// When messages start or end, only those that share a link with them, directly or through others, can get
// another rate: these are solved anew, once per moment, and the others keep their ends. Links that one
// connection has for itself are one limit of its own; a connection with no other links always runs at that
// limit and needs no events.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/engine/chunk_progress.hpp"
#include "sim/engine/horizon.hpp"
#include "sim/engine/max_min.hpp"
#include "sim/engine/moment_queue.hpp"

namespace foretrain {

namespace {

/// A connection's message on its way.
struct Message {
  double bytes_left = 0;
  double rate = 0;
  Time since{};                                ///< bytes_left is as of then
  Time end = Time::max();                      ///< at this rate
  Time queued = Time::max();                   ///< the event for it, at the end or before; others are stale
  std::uint32_t first_link = 0, end_link = 0;  ///< shared links, then perhaps the limit of the lone ones
  bool lone = true;                            ///< no shared links
  bool under_way = false;
  bool reached = false;  ///< in the search for those affected
};

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
  std::vector<Time> lone_time_;                    ///< per connection: a message alone on its links
  std::vector<std::vector<std::uint32_t>> users_;  ///< per link: connections whose message is on it
  std::vector<LinkId> changed_;
  std::vector<std::uint8_t> is_changed_;  ///< per link; bytes, which are faster than bits
  std::vector<std::uint32_t> affected_;
  MaxMinSolver solver_;
  MomentQueue starts_, ends_;
};

/// Capacities of the links, then for each connection the least of those it has for itself.
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
    // A limit above what a shared link can give never holds.
    if (message.lone || limits[limit] < least) links_.push_back(limit);
    message.end_link = static_cast<std::uint32_t>(links_.size());
    lone_time_[c] = time_on_link(graph.connections[c].bytes, limits[limit]);
  }
  solver_ = MaxMinSolver(std::move(limits));
}

std::span<const LinkId> SharedLinks::links_of(const Message& message) const {
  return std::span(links_).subspan(message.first_link, message.end_link - message.first_link);
}

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

void SharedLinks::visit_all() {
  for (std::uint32_t c = progress_.next_to_visit(); c != kNone && !progress_.is_beyond_horizon();
       c = progress_.next_to_visit())
    visit(c);
}

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

/// Walks from the links that changed over their messages to the links of these, and so on. Sorted, so that
/// sums are rounded alike whatever else happens at the moment.
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

/// A message that got slower is looked at when it would have ended, and only then queued for its new end.
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
