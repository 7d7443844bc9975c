// How long one micro-batch takes through a chunk of layers, forward and backward: kernels, exchanges and the
// host that issues them, layer after layer.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/strategy/parallel/rank_groups.hpp"
#include "sim/strategy/parallel/stages.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Seconds of the compute stream: at work, or why it was not.
struct PassTime {
  double total = 0;
  double compute = 0, host = 0;
  double tensor = 0, context = 0, expert = 0, data = 0;  ///< exposed, by group
  PassTime& operator+=(const PassTime& other);
};

/// A chunk's passes. `weight` is the part of `backward` that makes weight gradients, as a share of it.
struct ChunkTime {
  PassTime forward, backward;
  double weight_share = 0.5;
  double issue_s = 0;  ///< what the host needs for both
  double flops = 0;    ///< of the model, forward and backward, nothing recomputed
};

/// Forward of one micro-batch and backward of another are issued layer by layer in turn, so that the
/// all-to-alls of one run beside the kernels of the other (Megatron-LM's overlap_moe_expert_parallel_comm):
/// what is longer than all kernels stays exposed; kernels lose `gpu_share` while exchanges run.
void hide_expert_exchanges(ChunkTime& time, double gpu_share);  // pass_time.cpp

/// Parameters of one layer times the tensor degree: those that a rank has of it, were dense ones not cut.
/// An expert's are cut by the expert degrees instead.
double dense_parameters(const LargeModelJob& job, const ParameterCount& counts, bool experts);

/// What passes are priced with; all must outlive the timer.
struct TimingSite {
  const LargeModelJob& job;
  const Cluster& cluster;
  const DeviceModel& device;
  GroupExchanges& exchanges;
  double kernel_factor = 1;  ///< slowest rank, busy node
  double host_factor = 1;    ///< busy node
};

/// Each sort of chunk is simulated once. `from_idle`: the host begins when the pass begins, as behind an
/// exchange that it waited for; else it has run ahead as far as it can.
class ChunkTimer {
 public:
  explicit ChunkTimer(const TimingSite& site);

  const ChunkTime& at(const StageChunk& chunk, bool from_idle);

 private:
  ChunkTime simulate(const StageChunk& chunk, bool from_idle) const;

  TimingSite site_;
  std::map<std::tuple<int, int, int, bool, bool, bool>, ChunkTime> known_;
};

}  // namespace foretrain
