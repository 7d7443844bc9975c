// What NVIDIA's management library says of the GPUs, opened where there is one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// One NVLink that is up. An empty address: to an NVSwitch.
struct NvmlLink {
  std::string to;
};

/// A GPU as NVIDIA's management library describes it.
struct NvmlGpu {
  std::string bus, product;
  double compute_capability = 0;  ///< 0: not said, as everywhere below
  Bytes memory{};
  int clock_mhz = 0;                      ///< most of the multiprocessors
  int held_clock_mhz = 0;                 ///< what the administrator holds them at
  double power_w = 0, usual_power_w = 0;  ///< the limit in force, the product's own
  bool is_sliced = false;                 ///< MIG
  bool tells_nvlinks = false;
  std::vector<NvmlLink> nvlinks;
  int nvlinks_down = 0;
};

/// All GPUs of this machine by NVIDIA's management library, or the reason why there are none.
struct NvmlFacts {
  std::string missing;  ///< why there is nothing: no library, no driver; empty: it answered
  std::vector<NvmlGpu> gpus;
  std::optional<bool> peer_access{};  ///< whether every GPU reads the memory of every other
};

NvmlFacts nvml_facts();

/// Adds them to a machine whose GPUs sysfs placed; GPUs that it did not place are spread over the sockets.
/// Doubts: GPUs slower than the others, NVLinks that are down, memory in slices.
void add_nvml(Machine& machine, const NvmlFacts& facts);

}  // namespace foretrain
