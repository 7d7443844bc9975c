// What strategies that keep something in host memory can be told about it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Where a part of the training lies: DeepSpeed's OffloadDeviceEnum.
enum class OffloadDevice : std::uint8_t { none, cpu, nvme };

/// Options of ZeRO-Offload: threads and cores of the CPU's optimizer, and page-locked buffers.
struct OffloadOptions {
  std::optional<int> cpu_threads{};  ///< OMP_NUM_THREADS of a rank; none: what its launcher sets
  bool bind_cores_to_rank = false;   ///< each rank has its part of the cores, as `deepspeed` does when asked
  bool pin_memory = true;            ///< buffers on the host are page-locked
};

/// The keys of OffloadOptions.
std::vector<Knob> offload_knobs();

/// Ranks on the node of the representative.
int ranks_of_own_node(const PlanRequest& request);

/// Threads of one rank for host_update_time(). `by_launcher`: where nothing is said; 0 is a thread for each
/// core of the node.
int host_threads(const PlanRequest& request, int by_launcher);

/// Seconds that a drive of the node takes for bytes of each of its ranks. Where the cluster states no rate it
/// is assumed.
double drive_read_s(const PlanRequest& request, double bytes_of_rank);
double drive_write_s(const PlanRequest& request, double bytes_of_rank);
/// What the two assume, for Decisions; empty: the cluster states it.
const char* assumed_drive(const PlanRequest& request);

}  // namespace foretrain
