// A finished job beside its prediction, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/explanation/explanation.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// One job: all that is known. Several: a line for each.
std::string write_explanation_table(const std::vector<JobExplanation>& jobs);

/// Schema foretrain.explanation/1: keys are added, never renamed. Null for what is not known.
std::string write_explanation_json(const std::vector<JobExplanation>& jobs);

/// A line for each job, at most 240 bytes: for mails at the end of a job.
std::string write_explanation_line(const std::vector<JobExplanation>& jobs);

inline constexpr Format<std::vector<JobExplanation>> kExplanationFormats[] = {
    {"table", write_explanation_table}, {"json", write_explanation_json}, {"line", write_explanation_line}};

}  // namespace foretrain
