// What many GPUs lose besides waiting for messages: the slowest of them, a node whose GPUs are all busy, what
// collectives take of a GPU.
#pragma once

#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

/// Shares of the time of kernels, by the GPU's architecture (docs/models/losses.md).
struct Losses {
  double rank_spread = 0.01;    ///< standard deviation of step time between ranks
  double busy_node = 0;         ///< by how much kernels are slower when all GPUs of a node work
  double busy_host = 0.25;      ///< by how much host calls are slower when all cores of a node work
  double collective_share = 1;  ///< what collectives take of a GPU, over the formula of the function below
};
Losses losses_of(Architecture architecture);

/// By which factor the slowest of `ranks` is slower than the mean (Blom's expected maximum).
double slowest_rank_factor(double spread, int ranks);

/// By which factor kernels are slower on the node with most ranks: 1 + loss for a full node, 1 where a rank
/// has the node for itself, in proportion between.
double contention_factor(double loss, const Placement& placement, int gpus_per_node);

/// By which factor host calls are slower than those of a rank that has the node for itself: a core's clock
/// falls by `loss` from one core at work to all of them, in proportion to those that work. Each rank keeps
/// `threads` busy: the script's and its loader's.
double busy_host_factor(double loss, const Placement& placement, int cores, int threads);

/// Which part of a GPU's throughput kernels miss while a collective runs on it: the multiprocessors its
/// thread blocks sit on, and of the memory's bandwidth what goes through it, as far as kernels wait for
/// memory; `scale` times that, from a calibration. In [0, 0.9].
double share_of_collective(const CollectivePlan& plan, const Gpu& gpu, int ranks, double scale = 1);

// The losses that a calibration may replace, by name.

/// "loss.rank_spread", …
const std::vector<ConstantOf<Losses>>& loss_constants();

/// Those of the GPU's generation, replaced by those that were measured on the cluster.
Losses losses_of(const ClusterSpec& cluster);

}  // namespace foretrain
