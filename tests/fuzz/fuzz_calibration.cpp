// Fuzz target: calibration files from any bytes; one without mistakes must come back from its own text, with pieces that ascend.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/calibration_constants.hpp"
#include "sim/scenario/calibration_text.hpp"
#include "sim/scenario/schemas.hpp"

namespace {

using namespace foretrain;

const std::vector<ConstantRange>& known_constants() {
  static const std::vector<ConstantRange> known{{"nccl.kernel", Dimension::time, 1e-9, 10, 0.3, "time"},
                                                {"copy.peak", Dimension::byte_rate, 1, 1e15, 0.3, "rate"},
                                                {"gemm.share", std::nullopt, 0, 0, 0.3, "share"}};
  return known;
}

void check_numbers(const Calibration& calibration) {
  for (const CalibratedConstant& c : calibration.constants) {
    if (!(c.value > 0) || !std::isfinite(c.value) || !(c.spread >= 0) || c.least > c.most) std::abort();
  }
  for (const CalibratedCollective& c : calibration.collectives) {
    double begin = 0;
    for (const TimeSegment& s : c.segments) {
      const double time = s.latency_s + s.least * s.seconds_per_byte;
      if (!(s.least > begin) || s.most < s.least || !(time > 0) || !std::isfinite(time)) std::abort();
      begin = s.most;
    }
    if (c.segments.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  Diagnostics diagnostics(source);
  const Calibration calibration = read_calibration(source, diagnostics, known_constants());
  if (!diagnostics.empty()) {
    if (format(diagnostics.found()).empty()) std::abort();
    return 0;
  }
  check_numbers(calibration);
  const SourceText again{"fuzz.toml", write_calibration(calibration, known_constants())};
  Diagnostics none(again);
  const Calibration second = read_calibration(again, none, known_constants());
  // Ends of neighbouring segments closer than a written size may touch; every other text is taken back whole.
  if (none.empty() && !(second == as_written(calibration, known_constants()))) std::abort();
  return 0;
}
