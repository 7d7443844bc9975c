// What Horovod runs with: the options given, the defaults of its version, and what the job's shape makes of
// them.
#pragma once

#include <cstddef>

#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

// How long Horovod's ranks take to agree, in every cycle, on which gradients all of them have.

/// One small message between CPUs on every level of a binary tree of the ranks: shared memory inside nodes,
/// the network between them.
Time small_message_rounds(const Cluster& cluster, const Placement& placement, const CallCosts& calls = {});

/// Which tensors the response cache knows (horovod/common/controller.cc, ComputeResponseList).
enum class ResponseCache {
  off,        ///< capacity 0: every request goes through rank 0
  holds_all,  ///< the ranks compare bit vectors
  /// More tensors than it has room for: each is evicted before it comes again, so all are requested anew
  holds_none,
};
ResponseCache response_cache(int capacity, std::size_t tensors);

/// What Horovod's ranks take in each cycle to agree on the tensors that are ready.
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

/// How a message is reduced: by one NCCL all-reduce; over CPUs between nodes; by NCCL inside nodes, then
/// across.
enum class HorovodLevels { plain, hierarchical, torus };

/// Horovod's settings after defaults of the version are filled in: cycle time, fusion threshold, cache and
/// negotiation.
struct HorovodSettings {
  Time cycle_time{};
  Bytes threshold{};  ///< rounded_threshold()
  bool batched_copies = true;
  bool waits_for_data = false;      ///< before 0.23 the thread itself waits for the gradients' kernels
  bool compresses = false;          ///< gradients travel as fp16
  std::int64_t element_bytes = 4;   ///< of a gradient on the wire
  bool gathers_over_hosts = false;  ///< sparse gradients by MPI in host memory: NCCL came in 0.20
  HorovodLevels levels = HorovodLevels::plain;
  int ranks_per_node = 1;
  ResponseCache cache = ResponseCache::holds_all;
};

/// Requires more than one rank. Says in `decisions` what was chosen and why.
HorovodSettings horovod_settings(const PlanRequest& request, Decisions& decisions);

}  // namespace foretrain
