// The tables of NCCL's tuner (src/graph/tuning.cc; docs/sources/nccl_tuning.md 1.3): latencies, and upper
// limits in GB/s of a protocol or an algorithm.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain::nccl {

/// Rows of the tables. A GPU that a version does not know counts as the newest one that it knows.
enum class GpuClass : std::uint8_t { volta, ampere, hopper, blackwell };

/// Returns the row of a GPU. `compute_capability` is written as in NCCL: 70, 86, 90, 100.
GpuClass gpu_class(const Version& version, int compute_capability);

/// Returns the limit of the bus bandwidth of LL. On one node the GPU decides, on several nodes the CPU.
/// Infinite before 2.8.
double ll_cap(const Version& version, GpuClass gpu, bool amd_cpu, int nodes);

/// Return the limit of the bandwidth of LL128 on all channels together.
double ring_ll128_cap(const Version& version, GpuClass gpu, CollectiveOp op, int nodes, int channels);
double tree_ll128_cap(const Version& version, GpuClass gpu, CollectiveOp op, int nodes, int channels);

/// Returns the limit of the bandwidth of a tree on all channels. `ll128_on_a100` means LL128 on compute
/// capability 80, for which 2.7 has a higher limit.
double tree_cap(const Version& version, GpuClass gpu, int nodes, int channels, bool ll128_on_a100);

/// Returns the limit of the bandwidth of one channel of NVLSTree. Infinite before 2.28; 0 for GPUs that
/// cannot run it.
double nvls_tree_channel_cap(const Version& version, GpuClass gpu, int nodes);

/// The technology of one step of an algorithm. NCCL has a latency for each technology, algorithm and protocol
/// (docs/sources/nccl_tuning.md 1.2).
enum class Hop : std::uint8_t { nvlink, pcie, network };

/// Returns the latency that is paid once per collective, in us (src/graph/tuning.cc of every version).
double base_latency_us(const Version& version, Algorithm algorithm, Protocol protocol);
/// Returns the latency of one step over a kind of link, in us.
double hop_latency_us(const Version& version, Hop hop, Algorithm algorithm, Protocol protocol);

}  // namespace foretrain::nccl
