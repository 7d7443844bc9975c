// What holds of every scenario that can be simulated; a breach is printed with the law's name and ends the
// process.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace foretrain::test {

/// Of the step on the scenario's GPUs and everything that was read off it. Throws InputError when it cannot
/// be simulated (a step of days).
void check_step_laws(const Scenario& scenario);

/// Of the times on a link: what happened fits what was planned.
void check_timeline_laws(const Scenario& scenario);  // timeline_laws.cpp

/// Two readings of one scenario in different units.
void check_same_step(const Scenario& scenario, const Scenario& in_other_units);

/// Prints the law's name and aborts when it does not hold.
void law(bool holds, const char* name);

}  // namespace foretrain::test
