// The interface between the executor and a model of the links, and two simple models.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/engine/link_share.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// Number of a flow, given by the caller.
using FlowId = std::uint32_t;

/// A set of links that carries flows. Time only moves forward: calls come with non-decreasing `now`. Not
/// thread-safe.
class Network {
 public:
  virtual ~Network() = default;
  /// Starts a flow of `bytes` over `route`. A flow with an empty route ends at once. The id is given by the
  /// caller and must not be in use. The network keeps the span: the route must stay in memory until the flow
  /// has ended.
  virtual void start(FlowId flow, std::span<const LinkShare> route, Bytes bytes, Time now) = 0;
  /// Returns the moment of the next end of a flow if nothing else starts; Time::max() when no flow is active.
  virtual Time next_end() = 0;
  /// Moves the clock to `now`, which is not after next_end(). Appends the flows that have ended by then to
  /// `ended`, in ascending order of id.
  virtual void advance(Time now, std::vector<FlowId>& ended) = 0;
  /// Capacities by LinkId.
  virtual std::span<const ByteRate> capacities() const = 0;
};

/// Makes a network that shares every link by fluid max-min fairness (flow level). Capacities are by LinkId.
std::unique_ptr<Network> make_max_min_network(std::vector<ByteRate> capacities);

/// Makes a network without contention: each flow runs at the smallest capacity of its route.
std::unique_ptr<Network> make_ideal_network(std::vector<ByteRate> capacities);

}  // namespace foretrain
