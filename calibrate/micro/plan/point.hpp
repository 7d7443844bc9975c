// One point to measure: what its sample will say, how early it is worth measuring, and what identifies it in
// a file.
#pragma once

#include <string>
#include <vector>

#include "calibrate/micro/plan/statistics.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain::micro {

struct Point {
  Sample sample;  ///< without value, spread and repeats
  double amount =
      0;  ///< what one operation moves (GBps), computes (TFLOPs) or finishes (per_s); us and share need none
  int rank = 0;          ///< 0 is measured first
  Settings environment;  ///< NCCL_* variables the measuring process must have
};

/// What a measurement found. `summary` is in seconds per operation; of a share it is the share itself.
struct Measured {
  Summary summary;
  Settings observed;  ///< clock_mhz, temperature_c
};

/// The same for two samples of the same point: kind, what, gpus, nodes, bytes and settings, but for observed
/// ones.
std::string key_of(const Sample& sample);

/// The row of a finished point, in the unit its sample names. A rate's value is amount / median.
Sample sample_of(const Point& point, const Measured& measured);

/// A size and how early it is worth measuring: the ends first, then the middle, the quarters, …
struct Rung {
  std::int64_t size = 0;
  int rank = 0;
  friend bool operator==(const Rung&, const Rung&) = default;
};

/// Bytes that ladders are stated in.
inline constexpr std::int64_t kKi = 1024, kMi = 1024 * kKi;

/// first, first x factor, … up to last; requires 0 < first and 1 < factor.
std::vector<Rung> ladder(std::int64_t first, std::int64_t last, int factor);

/// By rank; points of one rank keep their order.
void sort_by_rank(std::vector<Point>& points);

}  // namespace foretrain::micro
