// The median of an even number of figures is the mean of the middle two. The standard deviation is that of a
// sample (n - 1), relative to the median.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "sim/import/logs/training_rate.hpp"

namespace foretrain {

RepeatedFigure repeated(std::vector<double> figures) {
  assert(!figures.empty());
  std::sort(figures.begin(), figures.end());
  const std::size_t n = figures.size();
  RepeatedFigure found;
  // Halves are added instead of halving a sum, and deviations are relative, so that large figures do not
  // overflow.
  found.median = n % 2 == 1 ? figures[n / 2] : figures[n / 2 - 1] / 2 + figures[n / 2] / 2;
  found.repeats = static_cast<int>(n);
  if (n < 2) return found;
  double mean = 0, squares = 0;
  for (const double figure : figures) mean += figure / static_cast<double>(n);
  for (const double figure : figures)
    squares += (figure / found.median - mean / found.median) * (figure / found.median - mean / found.median);
  const double spread = std::sqrt(squares / static_cast<double>(n - 1));
  found.spread = std::isfinite(spread) ? spread : 0;
  return found;
}

}  // namespace foretrain
