// Measurements of the host's processor: the family `cpu`.
#pragma once

#include <functional>

#include "calibrate/micro/plan/point.hpp"
#include "calibrate/micro/plan/repeat.hpp"

namespace foretrain::micro {

/// Of a point of plan_cpu(). Throws PointSkipped (no torch) and WrongResult.
Measured measure_cpu(const Point& point, const RepeatRule& rule);

/// "model name" of the processor and its number of cores this process may use.
Settings cpu_provenance();
int usable_cpus();
/// Whether python3 can be started.
bool has_python();

/// Seconds from the moment all `threads` have started to the end of the last one's work(thread).
double run_together(int threads, const std::function<void(int)>& work);

Measured measure_memcpy(const Point& point, const RepeatRule& rule);
Measured measure_decode(const Point& point, const RepeatRule& rule);
/// python_loop and torch_dispatch: what dispatch.py prints.
Measured measure_python(const Point& point, const RepeatRule& rule);

}  // namespace foretrain::micro
