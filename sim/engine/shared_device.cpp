// Progress of kernels on a shared GPU. Each kernel keeps the work that it has left. When the speed changes,
// the work done since the last change is subtracted and the end is computed anew. O(kernels in progress) for
// a change.
#include "sim/engine/shared_device.hpp"

#include <algorithm>
#include <cmath>

namespace foretrain {

namespace {

/// Lowest speed of a kernel, however many tasks share the GPU, so that every kernel ends. Assumed.
constexpr double kLeastSpeed = 0.05;
/// Sums of shares below this are rounding errors and count as 0.
constexpr double kNoShare = 1e-9;

/// Returns the time of `work`, in picoseconds at full speed, at the given speed.
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
  // The loop above has used the old speed; the loop below uses the new one.
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
