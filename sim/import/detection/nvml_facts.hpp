// Reads what NVIDIA's management library (NVML) says of the GPUs, where it is installed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// An NVLink that is up.
struct NvmlLink {
  /// PCI address of the GPU at the far end, as sysfs writes it; empty when the far end is an NVSwitch.
  std::string to;
};

/// A GPU as NVML describes it. Numbers are 0 where NVML gives none.
struct NvmlGpu {
  /// PCI address as sysfs writes it, and NVIDIA's name of the product.
  std::string bus, product;
  /// Major version plus a tenth of the minor one, such as 8.6.
  double compute_capability = 0;
  /// Total memory of the GPU in bytes.
  Bytes memory{};
  /// Highest clock of the multiprocessors in MHz.
  int clock_mhz = 0;
  /// Clock in MHz at which the administrator holds them.
  int held_clock_mhz = 0;
  /// The power limit in force and the product's default one, in watts.
  double power_w = 0, usual_power_w = 0;
  /// True when the GPU is cut into MIG instances.
  bool is_sliced = false;
  /// True when NVML answers about NVLinks at all, up or down.
  bool tells_nvlinks = false;
  /// NVLinks that are up, in NVML's order.
  std::vector<NvmlLink> nvlinks;
  /// Number of NVLinks that exist but are down.
  int nvlinks_down = 0;
};

/// The GPUs of this machine by NVML, or the reason why there are none.
struct NvmlFacts {
  /// Reason in words, such as a missing library or driver; empty when NVML answered.
  std::string missing;
  /// GPUs in NVML's order.
  std::vector<NvmlGpu> gpus;
  /// True when every GPU can read the memory of every other; no value when NVML does not say or there is one
  /// GPU.
  std::optional<bool> peer_access{};
};

/// Loads NVML, asks it about every GPU and returns the answers. Does not throw; problems are in `missing`.
NvmlFacts nvml_facts();

/// Adds the facts to a machine whose GPUs were placed by sysfs; GPUs are matched by PCI address.
/// Where sysfs placed none, the GPUs are spread evenly over the sockets.
/// Adds warnings about GPUs whose clock or power is limited, NVLinks that are down, and GPUs in slices.
void add_nvml(Machine& machine, const NvmlFacts& facts);

}  // namespace foretrain
