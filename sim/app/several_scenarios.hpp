// Reading all scenarios of a command line before anything runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/app/named_scenario.hpp"

namespace foretrain {

/// Opens each of `names` for these overrides and hands it to `read`; no name at all is a text without a name,
/// whose scenario comes from the options alone. The mistakes of all are thrown at once as InputError, each
/// once.
void read_scenarios(const std::vector<std::string>& names, const ScenarioOverrides& overrides,
                    const std::function<void(const NamedScenario&)>& read);

}  // namespace foretrain
