// Collectives as they were measured on the cluster itself, instead of the model's time for them.
#pragma once

#include "sim/cluster/calibration.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/settings.hpp"

namespace foretrain {

/// The job a communicator stands for.
struct MeasuredCommunicator {
  int ranks = 1, nodes = 1, ranks_per_node = 1;
  const CollectiveSettings* settings = nullptr;
};

/// What was measured of that operation and job, with that algorithm and protocol forced; null when nothing
/// was. Of several the one with the job's processes.
const CalibratedCollective* find_measured(const Calibration& calibration, CollectiveOp op,
                                          const MeasuredCommunicator& job);

/// Seconds at a size: on the pieces' lines, on a straight line between two pieces, and beyond the ends on the
/// nearest piece's line.
double measured_seconds(const CalibratedCollective& measured, double bytes);

/// What the launches of one process took in the measured job. `own`: the job at hand has the same processes.
struct MeasuredLaunches {
  Time time{};
  bool own = true;
};

/// Stretches latency and data of `plan` alike, until nccl-tests would print `measured` seconds. Where the
/// launches alone explain that time, all that is known is that the collective takes no longer.
void settle(CollectivePlan& plan, double measured, const MeasuredLaunches& launches);

}  // namespace foretrain
