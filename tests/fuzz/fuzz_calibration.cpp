// Fuzz target: calibration files from any bytes; constants, pieces that ascend and points without mistakes
// come back from their own text.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/calibration/calibration_points.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/schema/schemas.hpp"

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

/// Points without mistakes come back as many as they were, with numbers that can be drawn.
void check_points(const SourceText& source) {
  Diagnostics diagnostics(source);
  const std::vector<CalibrationPoints> points = read_calibration_points(source, diagnostics);
  std::size_t rows = 0;
  for (const CalibrationPoints& group : points) {
    for (const CalibrationPoints::Row& row : group.rows) {
      if (row.line < 0 || !(row.bytes >= 0) || !(row.measured > 0) || !(row.fitted > 0) ||
          !std::isfinite(row.measured))
        std::abort();
    }
    rows += group.rows.size();
  }
  if (rows > kMostCalibrationPoints) std::abort();
  if (!diagnostics.empty()) return;
  const SourceText again{"fuzz.toml", write_calibration_points(points)};
  Diagnostics none(again);
  const std::vector<CalibrationPoints> second = read_calibration_points(again, none);
  if (!none.empty() || second.size() != points.size()) std::abort();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (second[i].what != points[i].what || second[i].rows.size() != points[i].rows.size()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const SourceText source{"fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)};
  check_points(source);
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
