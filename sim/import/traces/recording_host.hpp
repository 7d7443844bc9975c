// How fast the host was that recorded a trace, and what its profiler added to every call.
#pragma once

#include "sim/import/traces/traced_step.hpp"

namespace foretrain {

/// The speed of the host on which a trace was recorded, and what the profiler itself cost it.
struct RecordingHost {
  double slowdown = 1;   ///< over the reference CPU: what `host.slowdown` of a cluster means
  double per_op_us = 0;  ///< that the profiler takes for each operator it records, nested ones too
};

/// Least squares over the operators that docs/models/host_time.md has in its table: the time of a call is its
/// time on the reference CPU times `slowdown`, and `per_op_us` for each operator recorded in it. As
/// TracedStep is without the strategy's calls, theirs are not fitted to.
RecordingHost recording_host(const TracedStep& step);

}  // namespace foretrain
