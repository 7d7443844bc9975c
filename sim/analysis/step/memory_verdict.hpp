// Whether a training fits its GPUs, and what would help.
#pragma once

#include <string>

#include "sim/analysis/prediction.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Memory, capacity and largest batch of the point. `strategy`: how it changes what a GPU holds.
void add_memory(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);

/// "fits", "fits tightly", "does not fit".
std::string memory_verdict(const PredictionPoint& point);

/// The parts of the point's memory for Decisions.
std::string memory_parts(const MemoryUse& use);

/// The warning for a point that does not fit, with the batch or the precision that would.
std::string memory_warning(const PredictionPoint& point, const Scenario& scenario,
                           const StrategyMemory& strategy);

/// The warning for a point that fits tightly.
std::string tightness_warning(const PredictionPoint& point);

}  // namespace foretrain
