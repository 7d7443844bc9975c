// Networks whose batch is counted in parts of an input: tokens of a sentence instead of sentences.
#pragma once

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Makes one sample the `parts`-th part of what was one sample: everything that grows with the batch is
/// divided.
void divide_sample(ExpandedModel& model, std::int64_t parts);

}  // namespace foretrain
