// A job of a large model on nodes of eight H100 as one value, and its step.
#pragma once

#include "sim/strategy/parallel/large_step.hpp"
#include "tests/support/language_shapes.hpp"
#include "tests/support/one_job.hpp"

namespace foretrain::test {

/// On as few nodes as possible; what is changed before run() counts.
struct StepOfJob {
  LargeModelRun job;
  ClusterSpec spec;
  Placement ranks;
  DeviceModel device;
  CollectiveSettings collective;

  explicit StepOfJob(const LargeModelRun& asked)
      : job(asked), spec(h100_cluster((asked.gpus() + 7) / 8)), ranks(place_packed(asked.gpus(), 8)) {
    spec.node.gpu.memory = {80LL << 30}, spec.node.gpu.memory_bandwidth = {3350e9},
    spec.node.gpu.sm_count = 132;
    spec.node.gpu.fp16 = spec.node.gpu.bf16 = {989.4e12}, spec.node.gpu.fp8 = {1978.9e12};
    device.kernel = default_kernel_calibration(spec.node.gpu);
    device.rank_spread = 0;
  }

  LargeStep run(bool explain = false) const {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    ClusterCollectives collectives(cluster);
    return simulate_large_step({job, cluster, ranks, device, collective, collectives, explain});
  }

  LargeStepRecord record() const {
    const Cluster cluster = Cluster::build(spec, spec.nodes);
    ClusterCollectives collectives(cluster);
    return record_large_step({job, cluster, ranks, device, collective, collectives, false});
  }
};

}  // namespace foretrain::test
