// Every thread decodes the same coded picture into pixels of its own, as loader workers do; the pixels' sum
// must be that of one thread.
#include <cstdint>
#include <numeric>

#include "calibrate/micro/cpu/cpu.hpp"
#include "calibrate/micro/cpu/picture.hpp"
#include "calibrate/micro/plan/outcome.hpp"
#include "calibrate/micro/plan/shapes.hpp"

namespace foretrain::micro {

Measured measure_decode(const Point& point, const RepeatRule& rule) {
  constexpr int kPictures = 2;
  static const CodedPicture picture = typical_picture();
  const auto decoded_sum = [&] {
    const std::vector<std::uint8_t> pixels = decode_pixels(picture);
    return std::accumulate(pixels.begin(), pixels.end(), std::int64_t{0});
  };
  static const std::int64_t expected = decoded_sum();
  const int threads = integer_setting(point.sample, "threads", 1);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(threads));
  const auto decode = [&](int thread) {
    for (int i = 0; i < kPictures; ++i) sums[static_cast<std::size_t>(thread)] = decoded_sum();
  };
  Measured measured{repeat([&] { return run_together(threads, decode) / (kPictures * threads); }, rule), {}};
  for (const std::int64_t sum : sums) {
    if (sum != expected) throw WrongResult("threads decoded different pictures");
  }
  return measured;
}

}  // namespace foretrain::micro
