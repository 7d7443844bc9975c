// The measurements of each family: a row is a kind and the function that makes its measurement in a session.
#pragma once

#include <vector>

#include "calibrate/micro/gpu/session.hpp"
#include "calibrate/micro/plan/run.hpp"

namespace foretrain::micro {

/// The session outlives what these return; each keeps its handles and buffers between points.
Measure host_measure(const Session& session);
Measure copy_measure(const Session& session);
Measure memory_measure(const Session& session);
Measure gemm_measure(const Session& session);
Measure conv_measure(const Session& session);
Measure mix_measure(const Session& session);
Measure collective_measure(const Session& session);
Measure tax_measure(const Session& session);

/// Of the family for its points, with clocks and temperature noted for each point, and points that need other
/// NCCL_* variables measured by child processes.
Measure measure_of(const FamilyRun& run, const Session& session);

}  // namespace foretrain::micro
