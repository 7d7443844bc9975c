// The answer to "how fast is this collective": its largest message and the limit of the call.
#pragma once

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/collective/collective_curve.hpp"

namespace foretrain {

/// Returns the answer for the largest size that runs. The cause is a bound, not a removal, because a single
/// call has no step to remove it from.
Answer answer_of(const CollectiveCurve& curve);

}  // namespace foretrain
