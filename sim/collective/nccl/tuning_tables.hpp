// What NCCL's tuner has in tables (src/graph/tuning.cc; docs/sources/nccl_tuning.md 1.3): upper limits on a
// protocol or an algorithm in GB/s, and latencies.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain::nccl {

/// Rows of the tables; a GPU that a version does not know counts as the newest it does.
enum class GpuClass : std::uint8_t { volta, ampere, hopper, blackwell };

/// `compute_capability` as NCCL writes it: 70, 86, 90, 100.
GpuClass gpu_class(const Version& version, int compute_capability);

/// Most bus bandwidth of LL. On one node the GPU decides, on several the CPU. Infinite before 2.8.
double ll_cap(const Version& version, GpuClass gpu, bool amd_cpu, int nodes);

/// Most bandwidth of LL128 on all channels together.
double ring_ll128_cap(const Version& version, GpuClass gpu, CollectiveOp op, int nodes, int channels);
double tree_ll128_cap(const Version& version, GpuClass gpu, CollectiveOp op, int nodes, int channels);

/// Most bandwidth of the tree on all channels. `ll128_on_a100`: LL128 on compute capability 80, which 2.7 let
/// go further.
double tree_cap(const Version& version, GpuClass gpu, int nodes, int channels, bool ll128_on_a100);

/// Most bandwidth of one channel of NVLSTree; infinite before 2.28, 0 where it is not made for.
double nvls_tree_channel_cap(const Version& version, GpuClass gpu, int nodes);

// NCCL's latencies in microseconds: once per collective, and per step over each kind of link
// (src/graph/tuning.cc of every version).

/// The technology of one step of an algorithm. NCCL has a latency for each technology, algorithm and protocol
/// (docs/sources/nccl_tuning.md 1.2).
enum class Hop : std::uint8_t { nvlink, pcie, network };

double base_latency_us(const Version& version, Algorithm algorithm, Protocol protocol);
double hop_latency_us(const Version& version, Hop hop, Algorithm algorithm, Protocol protocol);

}  // namespace foretrain::nccl
