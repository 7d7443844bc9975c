// The time of one operation on a stream, by the GPU's own clock.
#pragma once

#include <functional>

#include "calibrate/micro/gpu/resources.hpp"
#include "calibrate/micro/plan/repeat.hpp"

namespace foretrain::micro {

/// `launch` enqueues one operation on `stream`. Short ones are timed several at a time, all enqueued before
/// the first starts, so that neither the clock's tick nor the host's speed shows. `head_start_s`: how long
/// the host needs to enqueue one.
Summary time_on_stream(const Stream& stream, const std::function<void()>& launch, const RepeatRule& rule,
                       double head_start_s = 10e-6);

/// Seconds of the host's clock that `work` takes.
double host_seconds(const std::function<void()>& work);

}  // namespace foretrain::micro
