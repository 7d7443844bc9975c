// Finished jobs beside their predictions, in the formats of `explain`.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/explanation/explanation.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// Returns everything about one job, or a line for each of several jobs.
std::string write_explanation_table(const std::vector<JobExplanation>& jobs);

/// Returns schema foretrain.explanation/1. Keys are added, never renamed; unknown values are null.
std::string write_explanation_json(const std::vector<JobExplanation>& jobs);

/// Returns a line of at most 240 bytes for each job, for mails at the end of jobs.
std::string write_explanation_line(const std::vector<JobExplanation>& jobs);

/// The formats of `explain`; the first is the default.
inline constexpr Format<std::vector<JobExplanation>> kExplanationFormats[] = {
    {"table", write_explanation_table}, {"json", write_explanation_json}, {"line", write_explanation_line}};

}  // namespace foretrain
