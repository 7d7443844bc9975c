// memcpy of each thread between two buffers of its own; small ones many times, as they would end before the
// clock ticks.
#include <algorithm>
#include <cstring>
#include <memory>

#include "calibrate/micro/cpu/cpu.hpp"
#include "calibrate/micro/plan/outcome.hpp"
#include "calibrate/micro/plan/shapes.hpp"
#include "calibrate/micro/plan/verify.hpp"

namespace foretrain::micro {

namespace {

/// Two buffers, written once so that their pages are there.
struct Buffers {
  explicit Buffers(std::size_t bytes) : from(bytes), to(bytes, 1) {
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<char>(pattern(i, 1));
  }
  std::vector<char> from, to;
};

}  // namespace

Measured measure_memcpy(const Point& point, const RepeatRule& rule) {
  constexpr std::int64_t kBytesAtOnce = 4 << 20;
  const int threads = integer_setting(point.sample, "threads", 1);
  const auto bytes = static_cast<std::size_t>(point.sample.bytes);
  const int copies = static_cast<int>(std::max<std::int64_t>(1, kBytesAtOnce / point.sample.bytes));
  std::vector<std::unique_ptr<Buffers>> buffers(static_cast<std::size_t>(threads));
  // Each thread makes its own, so that they lie in its node's memory.
  run_together(threads, [&](int thread) {
    buffers[static_cast<std::size_t>(thread)] = std::make_unique<Buffers>(bytes);
  });
  const auto copy = [&](int thread) {
    Buffers& own = *buffers[static_cast<std::size_t>(thread)];
    for (int i = 0; i < copies; ++i) {
      std::memcpy(own.to.data(), own.from.data(), bytes);
      asm volatile("" : : "r"(own.to.data()) : "memory");  // every copy counts
    }
  };
  const Measured measured{repeat([&] { return run_together(threads, copy) / copies; }, rule), {}};
  for (const auto& own : buffers) {
    if (own->from != own->to) throw WrongResult("memcpy did not copy");
  }
  return measured;
}

}  // namespace foretrain::micro
