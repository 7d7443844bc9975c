// The variance of the next run has two components: repeats around the median of their source, and these
// medians around the middle. Each adds a new draw and the error of the mean. Satterthwaite's rule gives the
// degrees of freedom of the sum.
#include "sim/analysis/evidence/further_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/analysis/uncertainty/uncertain_inputs.hpp"
#include "sim/base/median.hpp"

namespace foretrain {

namespace {

/// Returns the sum of squares around the mean.
double squares_of(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

/// A part of the variance of the next run, with its degrees of freedom.
struct VariancePart {
  double variance = 0, freedom = 1;
};

/// Returns the part of repeats within their sources, never below the difference of two runs of one job.
VariancePart within_sources(const std::vector<std::vector<double>>& by_source) {
  double squares = 0, runs = 0;
  for (const std::vector<double>& values : by_source)
    squares += squares_of(values), runs += static_cast<double>(values.size());
  const double freedom = runs - static_cast<double>(by_source.size());
  const double scatter = freedom > 0 ? squares / freedom : 0;
  return {std::max(scatter, kRunToRun * kRunToRun) * (1 + 1 / runs), std::max(freedom, 1.0)};
}

/// Returns the part between sources; zero for one source.
VariancePart between_sources(const std::vector<double>& medians) {
  const auto sources = static_cast<double>(medians.size());
  if (sources < 2) return {};
  return {squares_of(medians) / (sources - 1) * (1 + 1 / sources), sources - 1};
}

}  // namespace

double student_95(double freedom) {
  const double n = std::floor(freedom), z = 1.6448536269514722;
  if (n < 2) return 6.313751514675043;
  if (n < 3) return 2.919985580353725;
  const double z2 = z * z;
  const double first = (z2 + 1) * z / 4, second = ((5 * z2 + 16) * z2 + 3) * z / 96,
               third = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384,
               fourth = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160;
  return z + (first + (second + (third + fourth / n) / n) / n) / n;
}

FurtherRun further_run(const std::vector<std::vector<double>>& by_source) {
  std::vector<double> medians;
  for (const std::vector<double>& values : by_source) medians.push_back(median(values));
  const VariancePart within = within_sources(by_source), between = between_sources(medians);
  const double variance = within.variance + between.variance;
  const double freedom = variance * variance /
                         (within.variance * within.variance / within.freedom +
                          between.variance * between.variance / between.freedom);
  return {median(medians), student_95(std::max(freedom + 1e-9, 1.0)) * std::sqrt(variance)};
}

}  // namespace foretrain
