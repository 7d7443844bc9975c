// The catalog of CPUs by the names that lscpu prints: cores, clocks, memory bandwidth, vector width and the
// speed of one thread.
#pragma once

#include <span>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// A CPU (one socket) with the figures of its maker's data sheet.
struct CpuModel {
  /// Name as lscpu prints it: "AMD EPYC 7742".
  std::string_view name;
  /// Physical cores, without hyper-threads.
  int cores;
  /// Base clock, which all cores hold, and the highest clock of a single core, in GHz.
  double all_ghz, one_ghz;
  /// Bandwidth of all memory channels in GB/s.
  double memory_gbps;
  /// Width of the widest registers that compilers use for Adam, in bits.
  int vector_bits;
  /// Single-thread time over that of the reference core, as Host::slowdown.
  double slowdown;
  std::string_view source;
};

/// Returns all rows of the catalog.
std::span<const CpuModel> cpu_models();

/// Returns the row whose name is in `text`, such as "2x AMD EPYC 7742", "AMD EPYC 7742 64-Core Processor" or
/// "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz". Of several names the longest counts. Returns nullptr if there
/// is none.
const CpuModel* find_cpu(std::string_view text);

/// The CPUs of a node together.
struct HostProcessors {
  /// Row of the catalog; nullptr: the name is unknown, and the other figures are assumed.
  const CpuModel* model = nullptr;
  int sockets = 1;
  int cores = 1;
  double all_ghz = 2.4;
  /// Sum over all sockets.
  ByteRate memory_bandwidth{};
  int vector_bits = 256;
};

/// Returns the CPUs of a host. `2x` in front of the name counts the sockets. Without it, their number is the
/// node's cores over those of one CPU.
HostProcessors processors_of(const Host& host);

}  // namespace foretrain
