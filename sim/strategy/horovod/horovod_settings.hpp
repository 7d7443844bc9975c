// The settings of a run: the given options, the defaults of Horovod's version, and what follows from the
// shape of the job.
#pragma once

#include <cstddef>

#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Returns the time of one small message between CPUs on every level of a binary tree of the ranks: by shared
/// memory inside nodes, over the network between them.
Time small_message_rounds(const Cluster& cluster, const Placement& placement, const CallCosts& calls = {});

/// The tensors that the response cache knows (horovod/common/controller.cc, ComputeResponseList).
enum class ResponseCache {
  off,        ///< capacity 0: every request goes through rank 0
  holds_all,  ///< the ranks compare bit vectors
  /// There are more tensors than it has space for: each is evicted before it comes again, so all are
  /// requested anew.
  holds_none,
};
/// Returns the state of a cache of this capacity once a step has been run.
ResponseCache response_cache(int capacity, std::size_t tensors);

/// The time that Horovod's ranks need in each cycle to agree on the tensors that are ready.
struct Negotiation {
  Time rounds{};  ///< small_message_rounds()
  int ranks = 1;
  ResponseCache cache = ResponseCache::holds_all;
  Time request{};  ///< rank 0's work for one tensor of one rank

  /// Returns the time of a cycle in which `tensors` were waiting. A bit vector is one all-reduce (recursive
  /// doubling, with as many rounds as the tree has levels). Requests are two gathers and two broadcasts, and
  /// rank 0's count of the tensors of all ranks.
  Time of_cycle(std::size_t tensors) const;
};

/// The levels of a reduction: one NCCL all-reduce; over CPUs between nodes; or NCCL inside nodes, then
/// across.
enum class HorovodLevels { plain, hierarchical, torus };

/// Horovod's settings with the defaults of its version: cycle time, fusion threshold, cache and reduction.
struct HorovodSettings {
  Time cycle_time{};
  Bytes threshold{};  ///< rounded_threshold()
  bool batched_copies = true;
  bool waits_for_data = false;      ///< before 0.23 the thread itself waits for the gradients' kernels
  bool compresses = false;          ///< gradients travel as fp16
  std::int64_t element_bytes = 4;   ///< bytes of an element of a gradient on the wire
  bool gathers_over_hosts = false;  ///< sparse gradients by MPI in host memory: NCCL came in 0.20
  HorovodLevels levels = HorovodLevels::plain;
  int ranks_per_node = 1;
  ResponseCache cache = ResponseCache::holds_all;
};

/// Returns the settings of a job. Requires more than one rank. Adds to `decisions` what was chosen and why.
HorovodSettings horovod_settings(const PlanRequest& request, Decisions& decisions);

}  // namespace foretrain
