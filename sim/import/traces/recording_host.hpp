// How fast the host was that recorded a trace, profiler included.
#pragma once

#include "sim/import/traces/traced_step.hpp"

namespace foretrain {

/// Time of the operators' calls over what the table of docs/models/host_time.md gives them on the reference
/// CPU: what `host.slowdown` of a cluster means. Over the calls that the table knows; 1 where there is none.
double recording_slowdown(const TracedStep& step);

}  // namespace foretrain
