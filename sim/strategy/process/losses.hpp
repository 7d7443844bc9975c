// Losses of many GPUs besides waiting for messages: the slowest GPU, nodes with all GPUs busy, and the part
// of a GPU that collectives take.
#pragma once

#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

/// Fractions of the time of kernels or host calls, by the GPU's architecture (docs/models/step.md).
struct Losses {
  /// Standard deviation of step time between ranks, as a fraction of the mean.
  double rank_spread = 0.01;
  /// Fraction by which kernels are slower when all GPUs of a node work.
  double busy_node = 0;
  /// Fraction by which host calls are slower when all cores of a node work.
  double busy_host = 0.25;
  /// Factor on the result of share_of_collective().
  double collective_share = 1;
};
/// Returns the losses that were fitted for a GPU architecture.
Losses losses_of(Architecture architecture);

/// Returns the factor by which the slowest of `ranks` is slower than the mean, by Blom's expected maximum of
/// normal variables.
double slowest_rank_factor(double spread, int ranks);

/// Returns the factor by which kernels are slower on the node with most ranks: 1 + loss for a full node, 1
/// for a rank that has the node for itself, in proportion between.
double contention_factor(double loss, const Placement& placement, int gpus_per_node);

/// Returns the factor by which host calls are slower than those of a rank that has the node for itself. A
/// core's clock falls by `loss` from one core at work to all of them, in proportion to the cores that work.
/// Each rank keeps `threads` cores busy: those of the script and of its loader.
double busy_host_factor(double loss, const Placement& placement, int cores, int threads);

/// Returns the part of a GPU's throughput that kernels miss while a collective runs on it. It consists of the
/// multiprocessors that its thread blocks occupy, and of the collective's share of the memory bandwidth as
/// far as kernels wait for memory. `scale` multiplies the sum, from a calibration. The result is in [0, 0.9].
double share_of_collective(const CollectivePlan& plan, const Gpu& gpu, int ranks, double scale = 1);

// Losses that a calibration may replace, by name.

/// Returns the constants "loss.rank_spread", …
const std::vector<ConstantOf<Losses>>& loss_constants();

/// Returns the losses of the GPU's generation, replaced by those that were measured on the cluster.
Losses losses_of(const ClusterSpec& cluster);

}  // namespace foretrain
