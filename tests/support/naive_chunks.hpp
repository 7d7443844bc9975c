// The plain twin of the chunk level: one event object for every step of every message, in a std::multiset.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "sim/engine/chunk_progress.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "tests/support/naive_max_min.hpp"

namespace foretrain::test {

/// Nothing is known before it happens: a message starts at the moment when the last thing it waits for has
/// happened.
class NaiveChunks {
 public:
  NaiveChunks(const TransferGraph& graph, const std::vector<ByteRate>& capacities,
              const ChunkOptions& options)
      : graph_(graph),
        capacities_(capacities),
        fair_(options.sharing == LinkSharing::fair_share),
        states_(graph.connections.size()) {
    result_.finish.assign(options.start.begin(), options.start.end());
    result_.finish.resize(static_cast<std::size_t>(graph.ranks));
    free_.resize(capacities.size());
    for (std::uint32_t c = 0; c < states_.size(); ++c)
      agenda_.emplace(result_.finish[graph.connections[c].from], sender_free, c);
  }

  ChunkResult run() {
    while (!agenda_.empty() || !flowing_.empty()) fair_ ? run_to_next_change() : handle_next();
    for (const Time finish : result_.finish) result_.end = std::max(result_.end, finish);
    if (result_.transfers < graph_.transfers()) result_.problem = "deadlock";
    return result_;
  }

 private:
  enum What { arrived, sender_free, at_link };
  struct ConnectionState {
    std::uint32_t started = 0, arrived = 0;
    std::size_t link = 0;
    bool busy = true;
    Time tail{};
  };

  void handle_next() {
    const auto [now, what, c] = *agenda_.begin();
    agenda_.erase(agenda_.begin());
    if (what == at_link)
      return fair_ || graph_.connections[c].bytes == 0 ? enter_links(c, now) : pass_link(c, now);
    if (what == arrived) ++states_[c].arrived;
    if (what == sender_free) states_[c].busy = false;
    for (std::uint32_t any = 0; any < states_.size(); ++any) try_start(any, now);
  }

  void try_start(std::uint32_t c, Time now) {
    ConnectionState& state = states_[c];
    if (state.busy || state.started == graph_.connections[c].transfers) return;
    for (const Need& need : graph_.needs_of(c)) {
      const auto all = static_cast<std::int64_t>(graph_.connections[need.connection].transfers);
      const std::int64_t needed = std::min(static_cast<std::int64_t>(state.started) - need.lag, all - 1);
      if (needed >= states_[need.connection].arrived) return;
    }
    ++state.started;
    state.busy = true, state.link = 0, state.tail = now;
    agenda_.emplace(now, at_link, c);
  }

  void pass_link(std::uint32_t c, Time now) {
    ConnectionState& state = states_[c];
    if (state.link == graph_.route(c).size()) return send(c, state.tail);
    const LinkId link = graph_.route(c)[state.link++];
    const Time begin = std::max(now, free_[link]);
    free_[link] = begin + time_on_link(graph_.connections[c].bytes, capacities_[link]);
    state.tail = std::max(state.tail, free_[link]);
    agenda_.emplace(begin, at_link, c);
  }

  void enter_links(std::uint32_t c, Time now) {
    if (graph_.route(c).empty() || graph_.connections[c].bytes == 0) return send(c, now);
    flowing_[c] = graph_.connections[c].bytes;
  }

  void send(std::uint32_t c, Time tail) {
    const Connection& connection = graph_.connections[c];
    ++result_.transfers;
    agenda_.emplace(tail + connection.latency, arrived, c);
    agenda_.emplace(tail + connection.overhead, sender_free, c);
    Time& sender = result_.finish[connection.from];
    Time& receiver = result_.finish[connection.to];
    sender = std::max(sender, tail + connection.overhead);
    receiver = std::max(receiver, tail + connection.latency);
  }

  /// Fluid: every message at its max-min rate until one ends or something else happens.
  void run_to_next_change() {
    MaxMinProblem problem;
    problem.capacities = capacities_;
    for (const auto& [c, bytes] : flowing_) problem.add_flow(graph_.route(c));
    const std::vector<double> rates = naive_max_min(problem);
    std::vector<Time> ends;
    for (const auto& [c, bytes] : flowing_) ends.push_back(now_ + time_on_link(bytes, {rates[ends.size()]}));
    Time next = agenda_.empty() ? Time::max() : std::get<0>(*agenda_.begin());
    for (const Time end : ends) next = std::min(next, end);
    std::size_t i = 0;
    for (auto flow = flowing_.begin(); flow != flowing_.end(); ++i) {
      flow->second -= rates[i] * to_seconds(next - now_);
      if (ends[i] == next) send(flow->first, next);
      flow = ends[i] == next ? flowing_.erase(flow) : std::next(flow);
    }
    now_ = next;
    while (!agenda_.empty() && std::get<0>(*agenda_.begin()) == now_) handle_next();
  }

  const TransferGraph& graph_;
  const std::vector<ByteRate>& capacities_;
  bool fair_;
  std::vector<ConnectionState> states_;
  std::vector<Time> free_;
  std::map<std::uint32_t, double> flowing_;
  std::multiset<std::tuple<Time, What, std::uint32_t>> agenda_;
  Time now_{};
  ChunkResult result_;
};

}  // namespace foretrain::test
