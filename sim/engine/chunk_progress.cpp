// Messages of a connection arrive in order, so one counter per connection says which have arrived.
//
// Message k of a connection may start when, for each need, message k - lag of the needed connection has
// arrived. The number of messages that are possible is therefore a minimum over a few counters (known_to),
// limited by the space in the window of arrivals (free_space_to). A connection advances by all of them in one
// go.
//
// Windows make memory independent of the number of messages. A window that is too small never changes a
// result: before the clock would pass the start of a message that lacks space, make_space() doubles the
// window. Each message is recorded once. Each record costs O(needs + dependents) of its connection.
#include "sim/engine/chunk_progress.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include <fmt/format.h>

#include "sim/engine/horizon.hpp"

namespace foretrain {

namespace {

/// Arrivals that a window holds at the beginning. This allows long strides through a connection's messages
/// and costs 0.5 KiB per connection.
constexpr std::uint32_t kFirstWindow = 64;

}  // namespace

ChunkProgress::ChunkProgress(const TransferGraph& graph, std::span<const Time> start)
    : graph_(graph), start_(start), states_(graph.connections.size()), line_(graph.connections.size()) {
  for (std::uint32_t c = 0; c < states_.size(); ++c) {
    const Connection& connection = graph.connections[c];
    State& state = states_[c];
    assert(connection.latency >= Time::zero() && connection.overhead >= Time::zero());
    state.free = start.empty() ? Time::zero() : start[connection.from];
    state.latency = std::min(connection.latency, kLongestTime);
    state.overhead = std::min(connection.overhead, kLongestTime);
    state.transfers = connection.transfers;
    state.first_need = connection.first_need;
    state.end_need = connection.first_need + connection.needs;
    enqueue(c);
  }
  link_dependents();
  open_windows();
}

/// Fills dependents_ by a counting sort of the needs by the needed connection.
void ChunkProgress::link_dependents() {
  for (const Need& need : graph_.needs) ++states_[need.connection].end_dependent;
  std::uint32_t sum = 0;
  for (State& state : states_) {
    state.first_dependent = sum;
    sum += state.end_dependent;
    state.end_dependent = state.first_dependent;
  }
  dependents_.resize(sum);
  for (std::uint32_t c = 0; c < states_.size(); ++c) {
    for (const Need& need : graph_.needs_of(c))
      dependents_[states_[need.connection].end_dependent++] = {c, need.lag};
  }
}

/// Lays out the first windows. A connection that nobody needs keeps one arrival, which result() reads.
void ChunkProgress::open_windows() {
  std::size_t room = 0;
  for (State& state : states_) {
    const bool is_needed = state.first_dependent < state.end_dependent;
    state.window = room;
    state.mask = std::bit_ceil(is_needed ? std::clamp(state.transfers, 1U, kFirstWindow) : 1U) - 1;
    room += state.mask + 1;
  }
  arrivals_.resize(room);
}

/// Returns the end of the messages whose needs are known: all messages before it have them.
std::int64_t ChunkProgress::known_to(const State& state) const {
  std::int64_t to = state.transfers;
  for (std::uint32_t i = state.first_need; i < state.end_need; ++i) {
    const State& before = states_[graph_.needs[i].connection];
    // A connection that has sent all its messages satisfies every need.
    if (before.next < before.transfers) to = std::min(to, std::int64_t{before.next} + graph_.needs[i].lag);
  }
  return to;
}

/// Returns the end of the messages that have space: no message before it overwrites an arrival still needed.
std::int64_t ChunkProgress::free_space_to(const State& state) const {
  std::int64_t to = state.transfers;
  for (std::uint32_t i = state.first_dependent; i < state.end_dependent; ++i) {
    const State& after = states_[dependents_[i].connection];
    // The oldest arrival that the next message of the dependent connection still reads.
    if (after.next == after.transfers) continue;
    const std::int64_t oldest = std::clamp<std::int64_t>(std::int64_t{after.next} - dependents_[i].lag, 0,
                                                         std::int64_t{state.transfers} - 1);
    to = std::min(to, oldest + state.mask + 1);
  }
  return to;
}

/// Returns how many messages can be timed now. Parks the connection if only space is missing.
std::uint32_t ChunkProgress::possible(std::uint32_t connection) {
  State& state = states_[connection];
  state.wants_room = false;
  const std::int64_t known = known_to(state);
  if (known <= state.next) return 0;
  const std::int64_t room = free_space_to(state);
  if (room <= state.next) park(connection);
  return static_cast<std::uint32_t>(std::max<std::int64_t>(0, std::min(known, room) - state.next));
}

/// Notes that the connection waits for space, and from which moment on it could send.
void ChunkProgress::park(std::uint32_t connection) {
  State& state = states_[connection];
  state.wants_room = true;
  if (state.parked) return;
  state.parked = true;
  parked_.push_back(connection);
  earliest_parked_ = std::min(earliest_parked_, earliest(state));
}

/// Returns the start of the next message: the sender is free and all needed messages have arrived. Requires
/// that the message is possible.
Time ChunkProgress::earliest(const State& state) const {
  Time at = state.free;
  for (std::uint32_t i = state.first_need; i < state.end_need; ++i) {
    const State& before = states_[graph_.needs[i].connection];
    const std::int64_t message = std::int64_t{state.next} - graph_.needs[i].lag;
    // The first `lag` messages need nothing.
    if (message < 0 || before.transfers == 0) continue;
    // A lag below 0 may point beyond the last message; then the last one is needed.
    const auto last = std::min<std::int64_t>(message, before.transfers - 1);
    at = std::max(at, arrivals_[before.window + (static_cast<std::uint32_t>(last) & before.mask)]);
  }
  return at;
}

/// Enters the next message, whose last byte leaves at `sent`, into the window. Times end at kHorizon.
void ChunkProgress::record(State& state, Time sent) {
  beyond_horizon_ = beyond_horizon_ || sent >= kHorizon;
  sent = std::min(sent, kHorizon);
  arrivals_[state.window + (state.next & state.mask)] = sent + state.latency;
  state.free = sent + state.overhead;
  ++state.next;
}

/// Queues the connections that may go on after this one has: those that need its messages, and those whose
/// arrivals it has consumed and that wait for space.
void ChunkProgress::wake_neighbours(const State& state) {
  for (std::uint32_t i = state.first_dependent; i < state.end_dependent; ++i)
    enqueue(dependents_[i].connection);
  for (std::uint32_t i = state.first_need; i < state.end_need; ++i) {
    if (states_[graph_.needs[i].connection].wants_room) enqueue(graph_.needs[i].connection);
  }
}

std::optional<Time> ChunkProgress::next_start(std::uint32_t connection) {
  if (possible(connection) == 0) return std::nullopt;
  return earliest(states_[connection]);
}

void ChunkProgress::send(std::uint32_t connection, Time moment) {
  State& state = states_[connection];
  record(state, moment);
  enqueue(connection);
  wake_neighbours(state);
}

void ChunkProgress::run_ahead(std::uint32_t connection, Time duration) {
  State& state = states_[connection];
  bool moved = false;
  for (std::uint32_t count = possible(connection); count > 0 && !beyond_horizon_;
       count = possible(connection)) {
    // All `count` messages are possible, so their starts are known one after the other.
    for (; count > 0; --count) record(state, earliest(state) + duration);
    moved = true;
  }
  if (moved) wake_neighbours(state);
}

/// Appends the connection to the visit queue. The queue never overflows because `queued` keeps each
/// connection single.
void ChunkProgress::enqueue(std::uint32_t connection) {
  if (states_[connection].queued) return;
  states_[connection].queued = true;
  const std::size_t place = line_begin_ + line_size_++;
  line_[place < line_.size() ? place : place - line_.size()] = connection;
}

std::uint32_t ChunkProgress::next_to_visit() {
  if (line_size_ == 0) return kNone;
  const std::uint32_t connection = line_[line_begin_];
  line_begin_ = line_begin_ + 1 < line_.size() ? line_begin_ + 1 : 0;
  --line_size_;
  states_[connection].queued = false;
  return connection;
}

bool ChunkProgress::make_space(Time now) {
  if (now < earliest_parked_) return false;
  bool made = false;
  earliest_parked_ = Time::max();
  // Removes parked connections that no longer wait, and widens the windows of those that could send by `now`.
  // The others stay, and earliest_parked_ becomes their minimum.
  std::erase_if(parked_, [&](std::uint32_t connection) {
    State& state = states_[connection];
    const Time at = state.wants_room ? earliest(state) : Time::max();
    if (state.wants_room && at > now) {
      earliest_parked_ = std::min(earliest_parked_, at);
      return false;
    }
    state.parked = false;
    if (!state.wants_room) return true;
    widen(state);
    enqueue(connection);
    return made = true;
  });
  return made;
}

/// Doubles the window and copies the recent arrivals. The old windows stay in the array; together they are
/// smaller than the new one.
void ChunkProgress::widen(State& state) {
  const std::size_t old = state.window;
  const std::uint32_t old_mask = state.mask;
  state.window = arrivals_.size();
  state.mask = 2 * old_mask + 1;
  arrivals_.resize(arrivals_.size() + state.mask + 1);
  for (std::uint32_t k = state.next - std::min(state.next, old_mask + 1); k < state.next; ++k) {
    arrivals_[state.window + (k & state.mask)] = arrivals_[old + (k & old_mask)];
  }
}

/// Describes the first connection that is stuck and the message it waits for; empty when all messages are
/// sent. Called at the end of a run, when nothing can go on.
std::string ChunkProgress::circle() const {
  for (std::uint32_t c = 0; c < states_.size(); ++c) {
    const State& state = states_[c];
    for (std::uint32_t i = state.first_need; i < state.end_need && state.next < state.transfers; ++i) {
      const std::uint32_t other = graph_.needs[i].connection;
      const State& before = states_[other];
      const std::int64_t message = std::int64_t{state.next} - graph_.needs[i].lag;
      if (before.next == before.transfers || message < before.next) continue;
      return fmt::format(
          "deadlock: message {} from rank {} to rank {} waits for message {} from rank {} to rank {}, which "
          "cannot start",
          state.next, graph_.connections[c].from, graph_.connections[c].to,
          std::min<std::int64_t>(message, before.transfers - 1), graph_.connections[other].from,
          graph_.connections[other].to);
    }
  }
  return {};
}

ChunkResult ChunkProgress::result() const {
  ChunkResult result;
  result.finish.assign(static_cast<std::size_t>(graph_.ranks), Time::zero());
  std::copy(start_.begin(), start_.end(), result.finish.begin());
  for (std::uint32_t c = 0; c < states_.size(); ++c) {
    const State& state = states_[c];
    result.transfers += state.next;
    if (state.next == 0) continue;
    Time& sender = result.finish[graph_.connections[c].from];
    Time& receiver = result.finish[graph_.connections[c].to];
    sender = std::max(sender, state.free);
    // The last arrival is still in the window, because nothing overwrites it.
    receiver = std::max(receiver, arrivals_[state.window + ((state.next - 1) & state.mask)]);
  }
  for (const Time finish : result.finish) result.end = std::max(result.end, finish);
  result.problem = beyond_horizon_ ? "the last message would end more than 46 days from now" : circle();
  return result;
}

}  // namespace foretrain
