// The same quantity measured again and again: its median and spread.
#pragma once

#include <vector>

namespace foretrain {

struct RepeatedFigure {
  double median = 0;
  double spread = 0;  ///< standard deviation / median; 0 for a single figure
  int repeats = 0;
};

/// Requires at least one figure, all of them positive and finite.
RepeatedFigure repeated(std::vector<double> figures);

}  // namespace foretrain
