// What is wrong with a job before it is submitted, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/import/job_checks.hpp"
#include "sim/import/job_script.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// Something that could not be looked at.
struct NotChecked {
  std::string what;  ///< "the time limit"
  std::string why;   ///< and how to have it looked at
};

/// What `job check` prints: the job as understood, its faults and its prediction.
struct JobCheckReport {
  const JobScript& script;
  std::string cluster;  ///< empty: not known
  std::vector<Diagnostic> refused, warnings;
  std::vector<NotChecked> not_checked;
  bool predicted = false;  ///< memory and time were predicted, too
  Answer answer{};         ///< would not start, idle GPUs, …: as predict says it
};

/// The answer, warnings, and what was not checked; mistakes go to standard error, as everywhere.
std::string write_job_check_table(const JobCheckReport& report);

/// Schema foretrain.job_check/1: keys are added, never renamed.
std::string write_job_check_json(const JobCheckReport& report);

inline constexpr Format<JobCheckReport> kJobCheckFormats[] = {{"table", write_job_check_table},
                                                              {"json", write_job_check_json}};

}  // namespace foretrain
