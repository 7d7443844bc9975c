// Why batches come as fast as they do, in words.
#pragma once

#include "sim/base/decisions.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

/// Adds what each part of the pipeline could deliver and which is the narrowest. `script_cpu`: CPU time of
/// the training script per batch.
void explain_pipeline(const Workload& workload, const InputCosts& costs, Time script_cpu,
                      Decisions& decisions);
/// Adds where the samples of later epochs come from, and how fast the first epoch reads them.
void explain_storage(const Workload& workload, const ClusterSpec& cluster, const InputSite& site,
                     Decisions& decisions);

}  // namespace foretrain
