// The catalog of CPUs: cores, clocks, memory bandwidth, vector width and the speed of one thread by the names
// that lscpu prints.
#pragma once

#include <span>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// One socket, as its maker's data sheet has it.
struct CpuModel {
  std::string_view name;    ///< "AMD EPYC 7742"
  int cores;                ///< without hyper-threads
  double all_ghz, one_ghz;  ///< base clock, which all cores hold; most of a single core
  double memory_gbps;       ///< all memory channels, gigabytes a second
  int vector_bits;          ///< of the widest registers that compilers of Adam use
  double slowdown;          ///< single-thread time over the reference core's, as Host::slowdown
  std::string_view source;
};

std::span<const CpuModel> cpu_models();

/// The row whose name is in `text`: "2x AMD EPYC 7742", "AMD EPYC 7742 64-Core Processor", "Intel(R) Xeon(R)
/// Gold 6230 CPU @ 2.10GHz". Of several the longest; null where none is.
const CpuModel* find_cpu(std::string_view text);

/// All CPUs of a node.
struct HostProcessors {
  const CpuModel* model = nullptr;  ///< null: the catalog has none of this name, and the rest is assumed
  int sockets = 1;
  int cores = 1;
  double all_ghz = 2.4;
  ByteRate memory_bandwidth{};  ///< of all sockets
  int vector_bits = 256;
};

/// `2x` in front of a name counts sockets; without it the node's cores over those of one CPU.
HostProcessors processors_of(const Host& host);

}  // namespace foretrain
