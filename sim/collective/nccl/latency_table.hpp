// NCCL's latencies in microseconds: once per collective, and per step over each kind of link
// (src/graph/tuning.cc of every version).
#pragma once

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"

namespace foretrain::nccl {

enum class Hop : std::uint8_t { nvlink, pcie, network };

double base_latency_us(const Version& version, Algorithm algorithm, Protocol protocol);
double hop_latency_us(const Version& version, Hop hop, Algorithm algorithm, Protocol protocol);

}  // namespace foretrain::nccl
