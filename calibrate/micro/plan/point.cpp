// Ranks of a ladder: the depth at which halving the interval of indices meets the index.
#include "calibrate/micro/plan/point.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain::micro {

namespace {

bool is_observed(std::string_view key) { return key == "clock_mhz" || key == "temperature_c"; }

void rank_between(std::vector<Rung>& rungs, std::size_t low, std::size_t high, int rank) {
  if (high - low < 2) return;
  const std::size_t middle = (low + high) / 2;
  rungs[middle].rank = rank;
  rank_between(rungs, low, middle, rank + 1);
  rank_between(rungs, middle, high, rank + 1);
}

double value_of(const Point& point, double seconds) {
  switch (point.sample.unit) {
    case SampleUnit::us:
      return seconds * 1e6;
    case SampleUnit::gigabytes_per_s:
      return point.amount / seconds / 1e9;
    case SampleUnit::teraflops:
      return point.amount / seconds / 1e12;
    case SampleUnit::per_s:
      return point.amount / seconds;
    case SampleUnit::share:
      return seconds;
  }
  return seconds;
}

/// To that many significant digits: more are noise, and long to read.
double rounded(double value, int digits) { return std::stod(fmt::format("{:.{}g}", value, digits)); }

}  // namespace

std::string key_of(const Sample& sample) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : sample.settings) {
    if (!is_observed(key)) settings.push_back(key + "=" + value);
  }
  std::sort(settings.begin(), settings.end());
  return fmt::format("{},{},{},{},{},{}", kSampleKindNames[static_cast<std::size_t>(sample.kind)],
                     sample.what, sample.gpus, sample.nodes, sample.bytes, fmt::join(settings, ";"));
}

Sample sample_of(const Point& point, const Measured& measured) {
  Sample sample = point.sample;
  sample.value = rounded(value_of(point, measured.summary.median), 6);
  sample.spread = rounded(measured.summary.spread, 3);
  sample.repeats = measured.summary.repeats;
  sample.settings.insert(sample.settings.end(), measured.observed.begin(), measured.observed.end());
  return sample;
}

std::vector<Rung> ladder(std::int64_t first, std::int64_t last, int factor) {
  std::vector<Rung> rungs;
  for (std::int64_t size = first; size <= last; size *= factor) rungs.push_back({size, 0});
  if (rungs.size() > 2) rank_between(rungs, 0, rungs.size() - 1, 1);
  return rungs;
}

void sort_by_rank(std::vector<Point>& points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.rank < b.rank; });
}

}  // namespace foretrain::micro
