// Declares the step from rows of types, shapes and parameters to a network.
#pragma once

#include <string>
#include <vector>

#include "sim/import/models/model_file.hpp"
#include "sim/import/models/summary_rows.hpp"

namespace foretrain {

/// Returns the model file of a summary. Assumptions go to `remarks`; empty where a fault was reported.
std::string network_of_summary(const NetworkSummary& summary, const ModelImportOptions& options,
                               Diagnostics& diagnostics, std::vector<std::string>& remarks,
                               const std::string& description);

}  // namespace foretrain
