// One row per format; the first is the default.
#include "sim/report/validation/validation_catalog.hpp"

#include "sim/report/prediction/json.hpp"

namespace foretrain {

namespace {

/// Programs pick the worst rows themselves.
std::string write_groups_json(const Validation& validation, const ValidationTableOptions& options) {
  return write_validation_json(validation, options.groups);
}

}  // namespace

const ValidationReportEntry kValidationReports[kValidationFormats] = {
    {"table", write_validation_table, write_validation_table, write_kernel_table, write_large_model_table,
     write_fine_tuning_table},
    {"json", write_groups_json, write_validation_json, write_kernel_json, write_large_model_json,
     write_fine_tuning_json},
};

}  // namespace foretrain
