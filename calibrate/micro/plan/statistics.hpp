// What the repeats of one point come to: median, spread, number.
#pragma once

#include <vector>

namespace foretrain::micro {

/// `spread` is 1.4826 x the median absolute deviation / median: the standard deviation of a normal one, which
/// a hiccup does not move.
struct Summary {
  double median = 0;
  double spread = 0;  ///< a share of the median; 0 for one value or a median of 0
  int repeats = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
};

/// The middle value, or the mean of the two; 0 for no values.
double median_of(std::vector<double> values);

Summary summarize(const std::vector<double>& values);

/// Standard error of the median as a share of it: 1.2533 spread / sqrt(repeats), as for normal errors.
double median_error(const Summary& summary);

}  // namespace foretrain::micro
