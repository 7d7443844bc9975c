// How long Horovod's ranks take to agree, in every cycle, on which gradients all of them have.
#pragma once

#include <cstddef>

#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

/// One small message between CPUs on every level of a binary tree of the ranks: shared memory inside nodes,
/// the network between them.
Time small_message_rounds(const Cluster& cluster, const Placement& placement, const CallCosts& calls = {});

/// Which tensors the response cache knows (horovod/common/controller.cc, ComputeResponseList).
enum class ResponseCache {
  off,         ///< capacity 0: every request goes through rank 0
  holds_all,   ///< the ranks compare bit vectors
  holds_none,  ///< more tensors than it has room for: each is evicted before it comes again, so all are
               ///< requested anew
};
ResponseCache response_cache(int capacity, std::size_t tensors);

struct Negotiation {
  Time rounds{};  ///< small_message_rounds()
  int ranks = 1;
  ResponseCache cache = ResponseCache::holds_all;
  Time request{};  ///< rank 0's work for one tensor of one rank

  /// Of a cycle in which `tensors` were waiting. A bit vector is one all-reduce (recursive doubling, as many
  /// rounds as the tree has levels); requests are two gathers and two broadcasts and rank 0's count of all
  /// ranks' tensors.
  Time of_cycle(std::size_t tensors) const;
};

}  // namespace foretrain
