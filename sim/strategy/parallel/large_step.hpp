// One optimizer step of a large model: every distinct stage simulated once, collectives on the real links.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// Bytes of one rank of a stage at its peak (docs/models/large_models_memory.md).
struct StageMemory {
  double weights = 0, gradients = 0, optimizer = 0, buckets = 0, activations = 0, logits = 0, workspace = 0,
         communication = 0, fragmentation = 0;
  double total() const {
    return weights + gradients + optimizer + buckets + activations + logits + workspace + communication +
           fragmentation;
  }
};

/// What a stage of the pipeline does, seconds of a whole step.
struct StageReport {
  int layers = 0;
  bool embedding = false, head = false;
  double forward_s = 0, backward_s = 0;  ///< of one micro-batch, as long as the slot is
  double host_s = 0;                     ///< of one micro-batch: what the host needs to issue it
  StageMemory memory;
};

/// A piece of the drawn pipeline: what a stage does from when to when.
struct StageSpan {
  int stage = 0, micro_batch = 0, chunk = 0;
  char work = 'F';  ///< F, B, W (gradients of weights apart)
  double begin_s = 0, end_s = 0;
};

struct LargeStep {
  double step_s = 0;
  /// By Account: compute, exposed communication, input, host, optimizer, other (the pipeline's bubble).
  std::array<double, kAccountCount> parts{};
  double tensor_s = 0, pipeline_s = 0, data_s = 0, context_s = 0, expert_s = 0;  ///< exposed, by group
  double bubble_s = 0;
  double flops_per_gpu = 0;  ///< of the model, 3 x forward, nothing recomputed
  std::vector<StageReport> stages;
  std::vector<StageSpan> spans;  ///< of one representative per stage
  int peak_stage = 0;            ///< whose memory is largest
  Decisions decisions;
};

/// Requires a job that check_degrees accepts. The layers' work comes from layer_work, on the cluster's GPU.
LargeStep simulate_large_step(const LargeModelJob& job, const Cluster& cluster, const DeviceModel& device);

/// Bytes by stage, rank 0 of each; no clock (stage_memory.cpp).
std::vector<StageMemory> stage_memory(const LargeModelJob& job, const Gpu& gpu);

}  // namespace foretrain
