// A network from rows of types, shapes and parameters.
#pragma once

#include <string>
#include <vector>

#include "sim/import/models/model_file.hpp"
#include "sim/import/models/summary_rows.hpp"

namespace foretrain {

/// The layers of a model file; what was assumed goes to `remarks`. Empty where a mistake was reported.
std::string network_of_summary(const NetworkSummary& summary, const ModelImportOptions& options,
                               Diagnostics& diagnostics, std::vector<std::string>& remarks,
                               const std::string& description);

}  // namespace foretrain
