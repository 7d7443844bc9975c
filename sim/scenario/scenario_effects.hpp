// Settings that the hardware cannot follow, and settings that cannot change the result.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/scenario_document.hpp"
#include "sim/scenario/table_reader.hpp"

namespace foretrain {

/// Reports a precision that the cluster's GPU does not compute in. Requires a cluster that could be read.
void check_precision(TableReader& model, const Scenario& scenario);

/// One sentence for each setting in the document that has no effect beside the others, and for each that was changed away from
/// what [measured] was measured with.
std::vector<std::string> idle_settings(const ScenarioDocument& document, const Scenario& scenario);

}  // namespace foretrain
