// The formats of validations: a table of functions, one row each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/fine_tuning_validation.hpp"
#include "sim/analysis/validation/kernel_validation.hpp"
#include "sim/analysis/validation/large_model_validation.hpp"
#include "sim/analysis/validation/leave_one_out.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

// Predicted against measured, for people.

/// Options of a printed validation.
struct ValidationTableOptions {
  std::vector<GroupKeys> groups{};  ///< one table of error statistics each
  int worst = 0;  ///< this many rows, furthest off first, instead of every series; 0: every series
};

/// Error statistics, those of groups, one block per series or the worst rows, and what was skipped (reasons
/// with their number of rows).
std::string write_validation_table(const Validation& validation, const ValidationTableOptions& options = {});
/// One line per series instead, worst first.
std::string write_validation_table(const CollectiveValidation& validation);

// Kernels: by `groups`, or without any by class, by class and GPU, by operator and by size; GPUs that no
// constant knows stand first.

std::string write_kernel_table(const KernelValidation& validation, const std::vector<GroupKeys>& groups);
/// Schema foretrain.validation/1: series are operators on GPUs, times in microseconds; "error" is of the GPUs
/// that no constant knows, "seen" of the others.
std::string write_kernel_json(const KernelValidation& validation, const std::vector<GroupKeys>& groups);

// Large models: steps and memory beside two baselines, by `groups` or the usual ones.

std::string write_large_model_table(const LargeModelValidation& validation,
                                    const std::vector<GroupKeys>& groups);
/// Schema foretrain.validation/1, kind "large_models": a point for every predicted row.
std::string write_large_model_json(const LargeModelValidation& validation,
                                   const std::vector<GroupKeys>& groups);

// Fine-tunings: memory, time and verdicts, by `groups` or the usual ones.

std::string write_fine_tuning_table(const FineTuningValidation& validation,
                                    const std::vector<GroupKeys>& groups);
/// Schema foretrain.validation/1, kind "fine_tunings": a point for every predicted row.
std::string write_fine_tuning_json(const FineTuningValidation& validation,
                                   const std::vector<GroupKeys>& groups);

// Cases: one line of CSV for each scored row with what its interval is a function of (tools/fit_spreads).

std::string write_training_cases(const Validation& validation, const ValidationTableOptions& options);
std::string write_collective_cases(const CollectiveValidation& validation);
std::string write_large_model_cases(const LargeModelValidation& validation,
                                    const std::vector<GroupKeys>& groups);
std::string write_fine_tuning_cases(const FineTuningValidation& validation,
                                    const std::vector<GroupKeys>& groups);

/// A format of a validation: its name, and the function that writes it.
struct ValidationReportEntry {
  std::string_view name;
  std::string (*write)(const Validation& validation, const ValidationTableOptions& options);
  std::string (*write_collectives)(const CollectiveValidation& validation);
  std::string (*write_kernels)(const KernelValidation& validation, const std::vector<GroupKeys>& groups);
  std::string (*write_large_models)(const LargeModelValidation& validation,
                                    const std::vector<GroupKeys>& groups);
  std::string (*write_fine_tunings)(const FineTuningValidation& validation,
                                    const std::vector<GroupKeys>& groups);
};

// What leaving out a cluster, a GPU or a source costs.

/// A format of a cross-validation: its name, and the function that writes it.
struct HeldOutReportEntry {
  std::string_view name;
  std::string (*write)(const LeaveOneOut& validation);
};
/// "table" and "json".
inline constexpr std::size_t kLeftOutFormats = 2;
extern const HeldOutReportEntry kLeftOutReports[kLeftOutFormats];

inline constexpr std::size_t kValidationFormats = 3;
extern const ValidationReportEntry kValidationReports[kValidationFormats];

}  // namespace foretrain
