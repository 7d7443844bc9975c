// The formats of `validate`: one row each; the first is the default.
#include "sim/report/validation/validation_catalog.hpp"

#include "sim/base/diagnostics.hpp"
#include "sim/report/prediction/json.hpp"

namespace foretrain {

namespace {

/// Writes JSON. --worst is ignored, since programs choose rows themselves.
std::string write_groups_json(const Validation& validation, const ValidationTableOptions& options) {
  return write_validation_json(validation, options.groups);
}

/// Throws InputError: kernels have no intervals.
std::string write_kernel_cases(const KernelValidation& /*validation*/,
                               const std::vector<GroupKeys>& /*groups*/) {
  throw InputError("Kernels have no intervals, and so no cases", "--format table and json show their errors");
}

}  // namespace

const ValidationReportEntry kValidationReports[kValidationFormats] = {
    {"table", write_validation_table, write_validation_table, write_kernel_table, write_large_model_table,
     write_fine_tuning_table},
    {"json", write_groups_json, write_validation_json, write_kernel_json, write_large_model_json,
     write_fine_tuning_json},
    {"cases", write_training_cases, write_collective_cases, write_kernel_cases, write_large_model_cases,
     write_fine_tuning_cases},
};

}  // namespace foretrain
