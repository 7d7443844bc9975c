// What the program does: opens a session, plans, measures within the budget, writes the samples, reports.
#pragma once

#include "calibrate/micro/plan/options.hpp"

namespace foretrain::micro {

/// False when a result was wrong. Throws UsageError, InputError, EnvironmentError.
bool run_benchmarks(const Options& options);

/// Prints the families, what each needs, and its number of points here.
void list_families(const Options& options);

}  // namespace foretrain::micro
