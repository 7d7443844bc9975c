// Each kernel keeps the work it has left; whenever the speed changes, the work done since is taken off and
// the end reckoned anew.
#include "sim/engine/shared_device.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {

namespace {

/// However many share a GPU, so that every kernel ends; assumed.
constexpr double kLeastSpeed = 0.05;
/// Shares given back may leave a rest of rounding; less than this is none.
constexpr double kNoShare = 1e-9;

/// The time a kernel needs for work given in picoseconds at full speed.
Time stretched(double work, double speed) {
  return Time{std::llround(std::min(work / speed, static_cast<double>(kHorizon.count())))};
}

}  // namespace

double SharedDevice::speed() const { return std::max(kLeastSpeed, 1 - taken_); }

Time SharedDevice::end_of(Time length, Time now) const {
  return later(now, taken_ > 0 ? stretched(static_cast<double>(length.count()), speed()) : length);
}

Time SharedDevice::begin(TaskId kernel, Time length, Time now) {
  running_.push_back({kernel, static_cast<double>(length.count()), now, end_of(length, now)});
  return running_.back().end;
}

void SharedDevice::take(double share, Time now) {
  for (Running& kernel : running_) {
    kernel.work_left =
        std::max(0.0, kernel.work_left - static_cast<double>((now - kernel.since).count()) * speed());
    kernel.since = now;
  }
  taken_ = taken_ + share < kNoShare ? 0 : taken_ + share;
  for (Running& kernel : running_) kernel.end = later(now, stretched(kernel.work_left, speed()));
}

bool SharedDevice::ended(TaskId kernel, Time now) {
  const auto current = std::find_if(running_.begin(), running_.end(),
                                    [kernel](const Running& other) { return other.task == kernel; });
  if (current == running_.end() || current->end != now) return false;
  running_.erase(current);
  return true;
}

}  // namespace foretrain
