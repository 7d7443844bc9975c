// What the page of a prediction shows beside its JSON: the scenario, a step in time, the node, the job
// script.
#pragma once

#include <string>

#include "sim/app/opened_scenarios.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

/// {"scenario", "samples", "epochs", "measured", "timeline", "topology_svg", "job_script"}; what is not there
/// is left out. Simulates the largest listed number of GPUs once more, as --trace does.
Json prediction_details(const OpenedScenario& opened, const Prediction& prediction,
                        const std::string& job_script);

}  // namespace foretrain
