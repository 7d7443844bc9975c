// The report of `job check`: what is wrong with a job before it is submitted.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/import/job_checks.hpp"
#include "sim/import/job_script.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// Something that could not be checked.
struct NotChecked {
  /// The thing that was not checked, such as "the time limit".
  std::string what;
  /// Why, and what the user must give so that it can be checked.
  std::string why;
};

/// Content of the report: the job as it was understood, its faults and its prediction.
struct JobCheckReport {
  const JobScript& script;
  /// Name of the cluster; empty: unknown.
  std::string cluster;
  /// Mistakes for which the batch system would refuse the job, and warnings.
  std::vector<Diagnostic> refused, warnings;
  std::vector<NotChecked> not_checked;
  /// True when memory and time were predicted.
  bool predicted = false;
  /// The answer in the words of predict.
  Answer answer{};
};

/// Returns the answer, warnings, and what was not checked. Mistakes go to standard error as for every
/// command.
std::string write_job_check_table(const JobCheckReport& report);

/// Returns schema foretrain.job_check/1. Keys are added, never renamed.
std::string write_job_check_json(const JobCheckReport& report);

/// The formats of `job check`; the first is the default.
inline constexpr Format<JobCheckReport> kJobCheckFormats[] = {{"table", write_job_check_table},
                                                              {"json", write_job_check_json}};

}  // namespace foretrain
