// The prediction interval of one further run of a setup that was measured several times.
#pragma once

#include <vector>

namespace foretrain {

/// Logarithms of the seconds of the next run: it lies within middle ± reach with a probability of 90 %.
struct FurtherRun {
  double middle = 0;
  double reach = 0;
};

/// Returns the 95 % quantile of Student's t: exact for one and two degrees of freedom, otherwise by the
/// expansion of Abramowitz and Stegun 26.7.5 (three digits). Requires at least 1; `freedom` is rounded down.
double student_95(double freedom);

/// Returns the interval of the next run (docs/models/uncertainty.md). `by_source` holds logarithms of
/// measured seconds, the repeats of each source together; no list may be empty. For n runs of one source with
/// the standard deviation s, at least kRunToRun: reach = t(n - 1) s sqrt(1 + 1/n); for a single run t(1)
/// kRunToRun sqrt(2). With several sources, the variance of their medians adds to it.
FurtherRun further_run(const std::vector<std::vector<double>>& by_source);

}  // namespace foretrain
