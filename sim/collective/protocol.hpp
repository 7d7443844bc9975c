// NCCL's wire protocols: what a step costs and how much of a link's rate they reach.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// LL: 8 bytes of data and 8 of flags; LL128: 120 and 8, needs NVLink; Simple: whole chunks with fences.
enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array<Protocol, 3> kProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};

/// "LL", "LL128", "Simple".
std::string_view name_of(Protocol protocol);

/// Latencies of a ring collective: once, and per step over each kind of link.
struct ProtocolLatency {
  Time base{}, nvlink{}, pcie{}, network{};
};

/// The ring rows of NCCL 2.18 to 2.30 (src/graph/tuning.cc; docs/models/collectives.md).
ProtocolLatency latency_of(Protocol protocol);

/// What the limits of a protocol depend on.
struct ProtocolSetting {
  Architecture architecture = Architecture::volta;
  bool amd_cpu = false;
  int nodes = 1;
  bool one_rank_per_node = false;
  int search_channels = 1;
};

/// Share of a link's rate that is data: 1/2 for LL (half of each line is flags); 0.92 for LL128, 0.7 with one rank per node (NCCL
/// 2.7 to 2.22); 1 for Simple.
double data_efficiency(Protocol protocol, const ProtocolSetting& setting);

/// The most bus bandwidth a protocol gets on any link: the llMax and perChMaxRingLL128 tables of NCCL 2.21+. Infinite for Simple.
ByteRate bus_limit(Protocol protocol, const ProtocolSetting& setting);

/// Least time between two network posts of a ring over several nodes (NCCL 2.18+): 1 us, AMD CPUs 2 us; three times that for Simple.
Time post_overhead(Protocol protocol, const ProtocolSetting& setting);

}  // namespace foretrain
