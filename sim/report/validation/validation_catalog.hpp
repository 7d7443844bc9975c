// The formats of validations: a table of functions, with one row for each.
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

// Training runs and collectives.

/// Options of a validation's table.
struct ValidationTableOptions {
  /// Keys of each table of errors by groups.
  std::vector<GroupKeys> groups{};
  /// Number of rows that are listed, worst first; 0: every series instead.
  int worst = 0;
};

/// Returns error statistics, those of groups, one block for each series or the worst rows, and the skipped
/// rows by reason.
std::string write_validation_table(const Validation& validation, const ValidationTableOptions& options = {});
/// Returns one line for each series of collectives, worst first.
std::string write_validation_table(const CollectiveValidation& validation);

// Kernels, by `groups` or else by class, by class and GPU, by operator, and by size. GPUs that no constant
// was fitted to stand first.

std::string write_kernel_table(const KernelValidation& validation, const std::vector<GroupKeys>& groups);
/// Returns schema foretrain.validation/1. Series are operators on GPUs, and times are in microseconds.
/// "error" is of GPUs that no constant was fitted to, and "seen" of the others.
std::string write_kernel_json(const KernelValidation& validation, const std::vector<GroupKeys>& groups);

// Large models: steps and memory beside two baselines, by `groups` or the usual ones.

std::string write_large_model_table(const LargeModelValidation& validation,
                                    const std::vector<GroupKeys>& groups);
/// Returns schema foretrain.validation/1 of kind "large_models", with a point for every predicted row.
std::string write_large_model_json(const LargeModelValidation& validation,
                                   const std::vector<GroupKeys>& groups);

// Fine-tunings: memory, time and verdicts, by `groups` or the usual ones.

std::string write_fine_tuning_table(const FineTuningValidation& validation,
                                    const std::vector<GroupKeys>& groups);
/// Returns schema foretrain.validation/1 of kind "fine_tunings", with a point for every predicted row.
std::string write_fine_tuning_json(const FineTuningValidation& validation,
                                   const std::vector<GroupKeys>& groups);

// Cases: a line of CSV for each scored row, with everything that its interval depends on (tools/fit_spreads).

std::string write_training_cases(const Validation& validation, const ValidationTableOptions& options);
std::string write_collective_cases(const CollectiveValidation& validation);
std::string write_large_model_cases(const LargeModelValidation& validation,
                                    const std::vector<GroupKeys>& groups);
std::string write_fine_tuning_cases(const FineTuningValidation& validation,
                                    const std::vector<GroupKeys>& groups);

/// A format: its name, and the function for each kind of rows.
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

// Cross-validation: the cost of leaving out a cluster, a GPU or a source.

/// A format of a cross-validation.
struct HeldOutReportEntry {
  std::string_view name;
  std::string (*write)(const LeaveOneOut& validation);
};
/// Number of formats: table and json.
inline constexpr std::size_t kLeftOutFormats = 2;
extern const HeldOutReportEntry kLeftOutReports[kLeftOutFormats];

/// The formats of `validate`: table, json, cases.
inline constexpr std::size_t kValidationFormats = 3;
extern const ValidationReportEntry kValidationReports[kValidationFormats];

}  // namespace foretrain
