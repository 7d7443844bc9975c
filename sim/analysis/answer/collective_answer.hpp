// The answer to "how fast is this collective": its largest message, and what bounds it.
#pragma once

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/collective/collective_curve.hpp"

namespace foretrain {

/// Of the largest size that runs. The cause is a bound, not a removal: a call has no step to remove it from.
Answer answer_of(const CollectiveCurve& curve);

}  // namespace foretrain
