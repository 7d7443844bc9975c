// The commands job show, check and settings, which read job scripts and settings but never run them. `show`
// prints what was understood; `check` finds mistakes before the job is submitted and predicts its time when
// it can; `settings` prints what training settings of other tools mean.
//
// `foretrain job check FILE` prints warnings and the answer of a prediction
// (report/prediction/job_check_report.cpp). It ends with exit code 1 when the batch system would refuse the
// job, or with --strict when there is any warning. `job check --brief` prints at most three lines and is
// meant for filters that run at submission.
#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/answer/job_answer.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/named_scenario.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/settings_files.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/jobs/job_lint.hpp"
#include "sim/import/program_arguments.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/prediction/job_check_report.hpp"
#include "sim/report/prediction/job_listing.hpp"
#include "sim/report/prediction/settings_listing.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Reads the script. Throws InputError when the file is no job script.
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

/// The prediction of the job: its answer, and findings about time limit and shared memory.
struct PredictedJob {
  Answer answer;
  std::vector<Diagnostic> findings;
};

/// Predicts the job. Findings compare the prediction with the requested time limit, and the memory of loader
/// workers with the container's /dev/shm.
PredictedJob predicted_job(const JobCommand& command, const OpenedJob& job) {
  const OpenedScenario opened =
      std::move(open_scenarios({command.file}, command.overrides, RequestedScaling::of_scenario).front());
  const OpenedEvidence evidence = open_evidence("", EvidenceOf::trainings);
  const Prediction prediction =
      predict(opened.scenario, nullptr, {.evidence = {&evidence.field, kOwnSource}});
  PredictedJob out{prediction.answer, {}};
  const JobScript& script = job.script;
  const auto& shm = script.request.shared_memory;
  const int processes =
      script.launch.processes_per_node ? std::clamp(script.launch.processes_per_node->value, 1, 1024) : 1;
  if (shm && !shm->value.whole_node) {
    const std::string why = shared_memory_warning(shm->value.bytes, opened.scenario.workload, processes);
    if (!why.empty())
      out.findings.push_back({job.text.name, shm->span, "", why, "a larger sizeLimit, or fewer workers"});
  }
  // The number of samples may be unknown; then the length of the run is unknown, so the time limit cannot be
  // checked.
  if (!opened.time_limit || opened.scenario.workload.data.samples == 0) return out;
  const std::string why = time_limit_warning(opened.time_limit->seconds, opened.time_limit->gpus, prediction);
  if (!why.empty()) out.findings.push_back({job.text.name, script.request.seconds->span, "", why, ""});
  return out;
}

/// Returns true when the network is known from the command line, a recorded program or the script.
bool knows_model(const JobCommand& command, const OpenedJob& job) {
  return !command.overrides.model.empty() || names_program(command.overrides) || describes_network(job) ||
         find_argument(job.script.launch.arguments, "model") != nullptr;
}

/// Returns true when the size of the data set is given.
bool knows_samples(const JobCommand& command) {
  return std::ranges::any_of(command.overrides.settings, [](const std::string& setting) {
    return setting.starts_with("data.samples") || setting.starts_with("data.set");
  });
}

/// Returns what a prediction lacks, as the end of a sentence; empty when it lacks nothing. `of_time` adds
/// what the length of the whole run needs.
std::string missing_for_prediction(const JobCommand& command, const OpenedJob& job, bool of_time) {
  std::vector<std::string> missing;
  if (!job.cluster) missing.emplace_back("the cluster (--cluster NAME)");
  if (!job.script.resources.gpus) missing.emplace_back("a number of GPUs in the script");
  if (!knows_model(command, job)) missing.emplace_back("the network (--model NAME)");
  if (of_time && !knows_samples(command)) missing.emplace_back("the data set's size (--set data.samples=N)");
  return missing.empty() ? "" : fmt::format("that takes {}", fmt::join(missing, ", "));
}

/// Returns the checks that were not possible, each with what the user must give to make it possible.
std::vector<NotChecked> not_checked(const JobCommand& command, const OpenedJob& job) {
  std::vector<NotChecked> out;
  if (!job.cluster && !job.no_cluster_sentence.empty())
    out.push_back({"nodes and partitions", job.no_cluster_sentence});
  if (!job.script.launch.started_by && job.script.request.asks)
    out.push_back({"how the training starts",
                   "no line was recognised that starts a training program, so that processes, batch and "
                   "loader workers are not known"});
  if (job.script.request.seconds) {
    const std::string missing = missing_for_prediction(command, job, true);
    if (!missing.empty())
      out.push_back({"the time limit", missing});
    else if (!job.findings.refused.empty())
      out.push_back({"the time limit", "the request has mistakes"});
  }
  const auto& shm = job.script.request.shared_memory;
  const std::string missing = missing_for_prediction(command, job, false);
  if (shm && !shm->value.whole_node && !missing.empty()) out.push_back({"/dev/shm", missing});
  return out;
}

// Takes the place of an unknown network when only the job's GPUs are of interest.
constexpr const char* kStandIn = "resnet50";

/// Opens the job with the network kStandIn. Returns nothing when the cluster or the number of GPUs is
/// missing, or the script has a mistake.
std::optional<OpenedScenario> job_of_any_network(const JobCommand& command, const OpenedJob& job) {
  if (!job.cluster || !job.script.resources.gpus) return std::nullopt;
  ScenarioOverrides overrides = command.overrides;
  overrides.model = kStandIn;
  try {
    return std::move(open_scenarios({command.file}, overrides, RequestedScaling::of_scenario).front());
  } catch (const InputError&) {
    // The script's own findings report the mistake.
    return std::nullopt;
  }
}

/// Returns the answer for a job whose training is not predicted: that it would be refused, or what is
/// missing.
Answer answer_of_unpredicted(const JobCommand& command, const OpenedJob& job) {
  if (!job.findings.refused.empty()) return would_not_start(job.findings.refused);
  const std::optional<OpenedScenario> opened = job_of_any_network(command, job);
  return answer_without_prediction(opened ? &opened->scenario : nullptr,
                                   missing_for_prediction(command, job, false));
}

}  // namespace

// The report is written first, so that it is complete; mistakes then end the command with exit code 1.
void run_job_check(const JobCommand& command) {
  const OpenedJob job = read_job(open_job_text(command), command.overrides);
  std::vector<Diagnostic> warnings = job.findings.warnings;
  for (Diagnostic& remark : lint_job(job.script, job.text, job.cluster ? job.cluster->node.gpus : 0))
    warnings.push_back(std::move(remark));
  const bool is_predictable =
      job.cluster && job.findings.refused.empty() && job.script.resources.gpus && knows_model(command, job);
  PredictedJob predicted =
      is_predictable ? predicted_job(command, job) : PredictedJob{answer_of_unpredicted(command, job), {}};
  for (Diagnostic& finding : predicted.findings) warnings.push_back(std::move(finding));
  std::ranges::stable_sort(warnings, {}, [](const Diagnostic& row) { return row.span.line; });
  const JobCheckReport report{job.script,
                              job.cluster ? job.cluster->name : "",
                              job.findings.refused,
                              std::move(warnings),
                              not_checked(command, job),
                              is_predictable,
                              std::move(predicted.answer)};
  write_output(command.output, find_row(kJobCheckFormats, command.format)->write(report));
  if (!job.findings.refused.empty()) throw InputError(job.findings.refused);
  if (command.strict && !report.warnings.empty())
    throw InputError(fmt::format("{} has {}, and --strict takes each for a mistake", job.text.name,
                                 counted(static_cast<std::int64_t>(report.warnings.size()), "warning")),
                     "");
}

namespace {

// Limits of --brief: lines in all, and characters of one line.
constexpr std::size_t kBriefLines = 3, kLongestBrief = 200;

/// Inserts options of sbatch's command line as #SBATCH lines behind the script's own, where the last one
/// counts. Returns the first and last of the inserted lines.
std::pair<int, int> add_directives(const std::string& options, SourceText& text) {
  if (options.empty()) return {0, -1};
  std::vector<std::string> words;
  std::istringstream in(options);
  for (std::string word; in >> word;) {
    // "-n 4" and "--nodes 2" are one directive.
    const bool goes_on = !word.starts_with('-') && !words.empty();
    goes_on ? void(words.back() += " " + word) : words.push_back(word);
  }
  // `head` ends with the last directive of the script; `rest` is what follows it.
  std::string head, rest;
  int line = 0, after = 1;
  std::istringstream lines(text.text);
  for (std::string one; std::getline(lines, one);) {
    ++line;
    rest += one + "\n";
    if (line > 1 && !one.starts_with("#SBATCH")) continue;
    head += std::exchange(rest, "");
    after = line;
  }
  for (const std::string& word : words) head += "#SBATCH " + word + "\n";
  text.text = head + rest;
  return {after + 1, after + static_cast<int>(words.size())};
}

/// Returns what the batch system would refuse, followed by what wastes the job. Notes on settings and on
/// lines that were not understood are left to `job check`.
std::vector<std::string> brief_lines(OpenedJob job, std::pair<int, int> added) {
  job.script.not_understood.clear(), job.script.remarks.clear();
  const JobFindings findings = check_job(job.script, job.text, job.cluster.value_or(ClusterSpec{}));
  std::vector<std::string> out;
  for (const Diagnostic& mistake : job.findings.refused) out.push_back("error: " + mistake.message);
  for (const Diagnostic& warning : lint_job_cpus(job.script, job.text)) out.push_back(warning.message);
  for (const Diagnostic& warning : findings.warnings) {
    // A warning about an inserted line has no place in the user's file.
    const bool is_of_options = warning.span.line >= added.first && warning.span.line <= added.second;
    if (!is_of_options) out.push_back(warning.message);
  }
  return out;
}

}  // namespace

void run_job_brief(const JobCommand& command) {
  SourceText text = read_text_file(command.file == "-" ? "/dev/stdin" : command.file);
  const std::pair<int, int> added = add_directives(command.options, text);
  // Every submitted script passes through here: those without GPUs or of another kind get no output.
  if (!is_job_script(text.text)) return;
  const OpenedJob job = read_job(std::move(text), command.overrides);
  if (!job.script.resources.gpus || job.script.resources.gpus->value < 1) return;
  const std::vector<std::string> found = brief_lines(job, added);
  std::string out;
  for (std::size_t i = 0; i < found.size() && i < kBriefLines; ++i) {
    const bool is_rest = i + 1 == kBriefLines && found.size() > kBriefLines;
    out += fmt::format("foretrain: {}\n", is_rest ? fmt::format("{} more: foretrain job check {}",
                                                                found.size() - i, printable(command.file))
                                                  : shortened(printable(found[i]), kLongestBrief));
  }
  write_output(command.output, out);
  // The lines are written already: an error without diagnostics only sets exit code 1.
  if (!job.findings.refused.empty()) throw InputError(std::vector<Diagnostic>{});
}

// Prints what was understood. A mistake in the script is part of the listing and not an error, so the exit
// code is 0.
void run_job_show(const JobCommand& command) {
  SourceText text = open_job_text(command);
  const OpenedJob job = read_job(std::move(text), command.overrides);
  const JobListing listing{job.script,     job.findings, job.cluster ? job.cluster->name : "",
                           job.no_cluster, job.settings, job.toml};
  write_output(command.output, find_row(kJobFormats, command.format)->write(listing));
}

// Prints each key of the settings' files with what it means for a prediction.
void run_job_settings(const SettingsCommand& command) {
  const std::vector<TrainingSettings> files = open_settings(command.files, command.gpus);
  write_output(command.output, find_row(kSettingsFormats, command.format)->write(SettingsListing{files}));
}

}  // namespace foretrain
