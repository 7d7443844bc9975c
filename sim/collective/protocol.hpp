// NCCL's protocols: what a step costs and how much of the wire carries data.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"

namespace foretrain {

enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array<Protocol, 3> kProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};

/// "LL", "LL128", "Simple".
std::string_view name_of(Protocol protocol);

/// Constants of one protocol for ring algorithms, as NCCL 2.23 and later compute with them (nccl/src/graph/tuning.cc; table in
/// docs/models/collectives.md).
struct ProtocolCost {
  Time base{};          ///< once per collective
  Time nvlink_step{}, pcie_step{}, network_step{};
  double data_share;    ///< of the bytes on the wire
};
ProtocolCost cost_of(Protocol protocol);

/// The largest bus bandwidth LL reaches on this GPU, on one node, two, or more.
ByteRate ll_cap(Architecture architecture, int nodes);

}  // namespace foretrain
