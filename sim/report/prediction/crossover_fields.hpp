// Fields of a prediction about where more GPUs stop paying.
#pragma once

#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

template <>
const OutputObject<Crossover>& output_object<Crossover>();
template <>
const OutputObject<CrossoverSpread>& output_object<CrossoverSpread>();
template <>
const OutputObject<BreakEven>& output_object<BreakEven>();

}  // namespace foretrain
