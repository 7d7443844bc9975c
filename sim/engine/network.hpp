// Where flows go: the interface between the executor and a model of the links, and its two simple models.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/engine/link_share.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

using FlowId = std::uint32_t;

/// A set of links that carries flows. Time only moves forward: calls come with non-decreasing `now`.
class Network {
 public:
  virtual ~Network() = default;
  /// Starts a flow of `bytes` over `route` (may be empty: ends at once). The id is the caller's and not in
  /// use; the links of the route must stay where they are until the flow has ended.
  virtual void start(FlowId flow, std::span<const LinkShare> route, Bytes bytes, Time now) = 0;
  /// The moment of the next end of a flow if nothing else starts; Time::max() when no flow is active.
  virtual Time next_end() = 0;
  /// Moves to `now` (not after next_end()) and appends the flows that have ended, by ascending id.
  virtual void advance(Time now, std::vector<FlowId>& ended) = 0;
  /// By LinkId.
  virtual std::span<const ByteRate> capacities() const = 0;
};

/// Fluid max-min sharing of every link (flow level). Capacities by LinkId.
std::unique_ptr<Network> make_max_min_network(std::vector<ByteRate> capacities);

/// No contention: each flow runs at the smallest capacity of its route.
std::unique_ptr<Network> make_ideal_network(std::vector<ByteRate> capacities);

}  // namespace foretrain
