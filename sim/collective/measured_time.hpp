// Collectives that were measured on the cluster itself, in place of the model's time.
#pragma once

#include "sim/cluster/calibration.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/settings.hpp"

namespace foretrain {

/// The job that a communicator stands for.
struct MeasuredCommunicator {
  int ranks = 1, nodes = 1, ranks_per_node = 1;
  const CollectiveSettings* settings = nullptr;
};

/// Returns the measurement of this operation and job with the same forced algorithm and protocol, or nullptr.
/// Of several, one with the job's number of processes is preferred.
const CalibratedCollective* find_measured(const Calibration& calibration, CollectiveOp op,
                                          const MeasuredCommunicator& job);

/// Returns the seconds at a size: on the line of its segment, on a straight line between two segments, and
/// beyond the ends on the line of the nearest segment.
double measured_seconds(const CalibratedCollective& measured, double bytes);

/// The launches of one process in the measured job.
struct MeasuredLaunches {
  Time time{};
  /// The job at hand has the same processes.
  bool own = true;
};

/// Scales latency and data of `plan` by one factor such that nccl-tests would print `measured` seconds. If
/// the launches alone explain that time, it is only an upper limit of the collective's time.
void settle(CollectivePlan& plan, double measured, const MeasuredLaunches& launches);

}  // namespace foretrain
