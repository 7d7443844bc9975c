// A spinning kernel holds the stream until everything behind it is enqueued; the events then stand around the
// operations alone.
#include "calibrate/micro/gpu/timing.hpp"

#include <algorithm>
#include <chrono>

#include "calibrate/micro/gpu/kernels.hpp"

namespace foretrain::micro {

namespace {

constexpr double kBatchSeconds = 200e-6;  ///< against a tick of 0.5 us
constexpr int kMostAtOnce = 64;
constexpr double kEnqueueSlack = 20e-6;

struct Timer {
  const Stream& stream;
  const std::function<void()>& launch;
  double head_start_s;
  Event begin{}, end{};

  double seconds_of(int operations) {
    const double hold = kEnqueueSlack + operations * head_start_s;
    FORETRAIN_CUDA(launch_spin(static_cast<std::int64_t>(hold * 1e9), stream.get()));
    begin.record(stream);
    for (int i = 0; i < operations; ++i) launch();
    end.record(stream);
    end.wait();
    return seconds_between(begin, end) / operations;
  }
};

}  // namespace

Summary time_on_stream(const Stream& stream, const std::function<void()>& launch, const RepeatRule& rule,
                       double head_start_s) {
  Timer timer{stream, launch, head_start_s};
  timer.seconds_of(1);  // loads the kernel
  const double first = std::max(timer.seconds_of(1), 1e-6);
  const int operations = std::clamp(static_cast<int>(kBatchSeconds / first) + 1, 1, kMostAtOnce);
  return repeat([&] { return timer.seconds_of(operations); }, rule);
}

double host_seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace foretrain::micro
