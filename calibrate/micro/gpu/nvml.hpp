// NVML, opened at run time: driver version, clocks, temperature, and how the GPUs are connected.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/base/shared_library.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain::micro {

/// GPUs are CUDA's, found by their PCI addresses. What NVML does not tell is left out.
class Nvml {
 public:
  /// nullptr when there is no NVML, or it does not start.
  static std::shared_ptr<const Nvml> open(const std::vector<std::string>& pci_addresses);

  std::string driver_version() const;
  /// clock_mhz of the multiprocessors and temperature_c, now.
  Settings state_of(int gpu) const;
  /// max_clock_mhz, max_memory_clock_mhz, pcie (generation and lanes).
  Settings limits_of(int gpu) const;
  /// Sentences about what makes a GPU slower than its product: others that use it, MIG, MPS, held clocks,
  /// less power. To be asked when this process has a context on it.
  std::vector<std::string> warnings_of(int gpu) const;
  /// As nvidia-smi topo -m: "0-1:NV4 0-2:PHB …".
  std::string topology() const;

 private:
  struct Device;  // NVML's
  using Handle = Device*;
  struct PciInfo;
  Nvml() = default;
  bool load(const std::vector<std::string>& pci_addresses);
  void load_warnings();
  std::string users_warning(Handle handle, int gpu) const;
  std::string clock_warning(Handle handle, int gpu) const;
  int active_links(std::size_t a, std::size_t b) const;
  std::string path_between(std::size_t a, std::size_t b) const;

  SharedLibrary library_;
  std::vector<std::string> addresses_;
  std::vector<Handle> handles_;  ///< nullptr where NVML does not know the address
  int (*driver_)(char*, unsigned) = nullptr;
  int (*by_address_)(const char*, Handle*) = nullptr;
  int (*clock_)(Handle, int, unsigned*) = nullptr;
  int (*max_clock_)(Handle, int, unsigned*) = nullptr;
  int (*temperature_)(Handle, int, unsigned*) = nullptr;
  int (*generation_)(Handle, unsigned*) = nullptr;
  int (*lanes_)(Handle, unsigned*) = nullptr;
  int (*ancestor_)(Handle, Handle, int*) = nullptr;
  int (*link_state_)(Handle, unsigned, unsigned*) = nullptr;
  int (*link_remote_)(Handle, unsigned, PciInfo*) = nullptr;
  // Of warnings_of() alone.
  int (*processes_)(Handle, unsigned*, void*) = nullptr;
  int (*mps_processes_)(Handle, unsigned*, void*) = nullptr;
  int (*slices_)(Handle, unsigned*, unsigned*) = nullptr;
  int (*held_clock_)(Handle, int, unsigned*) = nullptr;
  int (*usual_clock_)(Handle, int, unsigned*) = nullptr;
  int (*limits_at_work_)(Handle, unsigned long long*) = nullptr;
  int (*power_)(Handle, unsigned*) = nullptr;
  int (*usual_power_)(Handle, unsigned*) = nullptr;
};

}  // namespace foretrain::micro
