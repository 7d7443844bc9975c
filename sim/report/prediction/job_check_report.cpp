// Writes the result of `job check`, one finding on a line, as compilers do. The readers are people before
// they submit a job, and editors and scripts that take the JSON.
#include "sim/report/prediction/job_check_report.hpp"

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/cluster/site.hpp"
#include "sim/report/fields/shared_fields.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/answer_reports.hpp"

namespace foretrain {

// Mistakes are not part of the table: the command throws them, so they go to standard error.
std::string write_job_check_table(const JobCheckReport& report) {
  std::string out = answer_head(report.answer) + "\n";
  for (const Diagnostic& warning : report.warnings) out += "warning: " + one_line(warning) + "\n";
  if (report.warnings.empty() && report.refused.empty())
    // Where it is unknown what starts the training, only what was recognised could be checked.
    out += fmt::format("{}: nothing wrong is seen{}\n", printable(report.script.file),
                       report.script.launch.started_by ? "" : " in what was recognised");
  for (const NotChecked& gap : report.not_checked)
    out += fmt::format("not checked: {}; {}\n", gap.what, printable(gap.why));
  return out;
}

// `predicted` is true when memory and time were simulated; `can_start` is false when the batch system would
// refuse the job. Findings have a file, a line and a text.
std::string write_job_check_json(const JobCheckReport& report) {
  Json gaps = Json::array();
  for (const NotChecked& gap : report.not_checked) gaps.push_back({{"what", gap.what}, {"why", gap.why}});
  return json_text({{"schema", "foretrain.job_check/1"},
                    {"file", report.script.file},
                    {"batch_system", name_of(report.script.system)},
                    {"cluster", report.cluster.empty() ? Json(nullptr) : Json(report.cluster)},
                    {"predicted", report.predicted},
                    {"can_start", report.refused.empty()},
                    {"answer", declared_json(report.answer)},
                    {"mistakes", findings_json(report.refused, "error")},
                    {"warnings", findings_json(report.warnings, "warning")},
                    {"not_checked", gaps}});
}

}  // namespace foretrain
