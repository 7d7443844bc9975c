// What Horovod runs with: the options given, the defaults of its version, and what the job's shape makes of
// them.
#pragma once

#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/strategy/horovod/horovod_negotiation.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// How a message is reduced: by one NCCL all-reduce; over CPUs between nodes; by NCCL inside nodes, then
/// across.
enum class HorovodLevels { plain, hierarchical, torus };

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
