// Declares how fast the host was that recorded a trace, and what its profiler added to every call.
#pragma once

#include "sim/import/traces/traced_step.hpp"

namespace foretrain {

/// The speed of a recording host, and the cost of its profiler.
struct RecordingHost {
  /// Host time over that of the reference CPU, as `host.slowdown` of a cluster means it.
  double slowdown = 1;
  /// Time in us that the profiler takes for each operator it records, nested ones too.
  double per_op_us = 0;
};

/// Returns the least-squares fit over the operators that docs/models/host.md has in its table: the time
/// of a call is its time on the reference CPU times `slowdown`, plus `per_op_us` for each operator recorded
/// in it. A TracedStep does not contain the strategy's calls, so these do not enter. Returns slowdown 1 where
/// no call is known.
RecordingHost recording_host(const TracedStep& step);

}  // namespace foretrain
