// Graphs of empty kernels in a chain: what a launch costs the host, and what a kernel takes on the GPU.
#pragma once

#include "calibrate/micro/gpu/resources.hpp"
#include "calibrate/micro/plan/point.hpp"
#include "calibrate/micro/plan/repeat.hpp"

namespace foretrain::micro {

/// Of a point graph_launch (the call) or graph_kernel (the GPU's time by kernel) with the setting kernels.
Summary time_graph(const Stream& stream, const Point& point, const RepeatRule& rule);

}  // namespace foretrain::micro
