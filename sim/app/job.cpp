// job show: a job script as it was understood. job check: what is wrong with it before it is submitted.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/jobs/job_lint.hpp"
#include "sim/import/program_arguments.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/prediction/job_listing.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

SourceText open_job_text(const JobCommand& command) {
  SourceText text = read_text_file(command.file);
  if (!is_job_script(text.text))
    throw InputError(std::vector<Diagnostic>{{text.name,
                                              {},
                                              "",
                                              "is no job script: it has no directives (#SBATCH, #PBS, #BSUB, "
                                              "#$, #flux:), no #!, no request_gpus and no "
                                              "kind: Job",
                                              "scenarios are for foretrain predict"}});
  return text;
}

/// What the prediction says of the job: its time limit, and its loader's room in a container.
std::vector<Diagnostic> findings_of_prediction(const JobCommand& command, const OpenedJob& job) {
  OpenedScenario opened =
      std::move(open_scenarios({command.file}, command.overrides, AskedScaling::of_scenario).front());
  std::vector<Diagnostic> found;
  const JobScript& script = job.script;
  const auto& shm = script.request.shared_memory;
  const int processes =
      script.launch.processes_per_node ? std::clamp(script.launch.processes_per_node->value, 1, 1024) : 1;
  if (shm && !shm->value.whole_node) {
    const std::string why = shared_memory_warning(shm->value.bytes, opened.scenario.workload, processes);
    if (!why.empty())
      found.push_back({job.text.name, shm->span, "", why, "a larger sizeLimit, or fewer workers"});
  }
  if (!opened.time_limit || opened.scenario.workload.data.samples == 0) return found;
  const std::string why =
      time_limit_warning(opened.time_limit->seconds, opened.time_limit->gpus, predict(opened.scenario));
  if (!why.empty()) found.push_back({job.text.name, script.request.seconds->span, "", why, ""});
  return found;
}

/// What could not be looked at, and how to have it looked at.
std::string not_checked(const JobCommand& command, const OpenedJob& job) {
  std::string out;
  if (!job.cluster) out += fmt::format("not checked: nodes and partitions; {}\n", job.no_cluster);
  const bool knows_samples = std::ranges::any_of(command.overrides.settings, [](const std::string& setting) {
    return setting.starts_with("data.samples") || setting.starts_with("data.set");
  });
  if (job.script.request.seconds && !knows_samples)
    out += "not checked: the time limit; that takes --model NAME and --set data.samples=N\n";
  return out;
}

}  // namespace

void run_job_check(const JobCommand& command) {
  const OpenedJob job = read_job(open_job_text(command), command.overrides);
  std::vector<Diagnostic> warnings = job.findings.warnings;
  for (Diagnostic& remark : lint_job(job.script, job.text)) warnings.push_back(std::move(remark));
  const bool is_predictable =
      job.cluster && job.findings.refused.empty() && job.script.resources.gpus &&
      (!command.overrides.model.empty() || find_argument(job.script.launch.arguments, "model") != nullptr);
  if (is_predictable) {
    for (Diagnostic& finding : findings_of_prediction(command, job)) warnings.push_back(std::move(finding));
  }
  std::ranges::stable_sort(warnings, {}, [](const Diagnostic& row) { return row.span.line; });
  std::string out;
  for (const Diagnostic& warning : warnings) out += "warning: " + one_line(warning) + "\n";
  if (warnings.empty() && job.findings.refused.empty())
    out += fmt::format("{}: nothing wrong is seen\n", printable(job.text.name));
  write_output(command.output, out + not_checked(command, job));
  if (!job.findings.refused.empty()) throw InputError(job.findings.refused);
}

void run_job_show(const JobCommand& command) {
  SourceText text = open_job_text(command);
  const OpenedJob job = read_job(std::move(text), command.overrides);
  const JobListing listing{job.script, job.findings, job.cluster ? job.cluster->name : "", job.no_cluster,
                           job.toml};
  write_output(command.output, find_row(kJobFormats, command.format)->write(listing));
}

}  // namespace foretrain
