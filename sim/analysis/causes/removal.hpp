// The removal of a cause from the model of a step.
#pragma once

#include <string>

#include "sim/analysis/causes/cause.hpp"
#include "sim/analysis/step/step_simulator.hpp"

namespace foretrain {

/// Returns the device model without one cause. Links: messages between GPUs take no time. Host: Python,
/// kernel launches and waking up take none. Stragglers: all ranks are as fast as the mean. Busy node: GPUs
/// and cores of a node do not slow each other down. Sharing: collectives take nothing of the GPU. Input,
/// optimizer, other: no time is charged to that account.
DeviceModel without(DeviceModel device, Removable what);

/// Returns the noun alone; for links and other, whose noun depends on the step, the key.
std::string_view noun_of(Removable what);

/// Returns the cause as a noun: "Python and kernel launches". Names the slowest links that `step` waits for.
std::string words_for(Removable what, const StepSimulator& simulator, const SimulatedStep& step);

/// Returns the clause that says it is absent: "without Python and kernel launches".
std::string words_without(Removable what, const StepSimulator& simulator, const SimulatedStep& step);

}  // namespace foretrain
