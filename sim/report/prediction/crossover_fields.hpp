// Declared JSON fields of a prediction about where more GPUs stop paying.
#pragma once

#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

/// Return the fields of crossover, crossover_interval and break_even.
template <>
const OutputObject<Crossover>& output_object<Crossover>();
template <>
const OutputObject<CrossoverSpread>& output_object<CrossoverSpread>();
template <>
const OutputObject<BreakEven>& output_object<BreakEven>();

}  // namespace foretrain
