// The command explain: compares finished jobs with their predictions. The files are reports of the
// accounting, such as sacct --json, seff or jobstats. A job script or scenario among them says what was
// trained; without one the job is explained from its own figures. With --add the measured time goes into the
// user's store of evidence.
//
// `jobstats 123 | foretrain explain - --scenario my.toml` prints where the job's time went and what the next
// job should request (report/explanation). A file that no reader accepts ends it with exit code 1.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/explanation/explanation.hpp"
#include "sim/analysis/explanation/job_observation.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/evidence/measured_step.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/accounting/readers.hpp"
#include "sim/import/job_script.hpp"
#include "sim/report/explanation/explanation_reports.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Content of the given files: finished jobs, and at most one scenario or job script.
struct ExplainedFiles {
  std::vector<FinishedJob> jobs;
  /// Name of the scenario or job script; empty: nothing is predicted.
  std::string scenario;
};

/// Returns true when the file says what was trained, instead of how a job went.
bool is_scenario_file(const std::string& name, const SourceText& text) {
  return name.ends_with(".toml") || (!is_accounting(text.text) && is_job_script(text.text));
}

/// Reads all files. Throws one InputError with the mistakes of all of them.
ExplainedFiles read_files(const ExplainCommand& command) {
  ExplainedFiles out{{}, command.scenario};
  std::vector<Diagnostic> mistakes;
  for (const std::string& name : command.files) {
    try {
      SourceText text = read_text_file(name == "-" ? "/dev/stdin" : name, kLargestAccounting);
      if (name == "-") text.name = "standard input";
      if (is_scenario_file(name, text)) {
        if (!out.scenario.empty())
          throw InputError(fmt::format("two scenarios: {} and {}", printable(out.scenario), printable(name)),
                           "give one of them");
        out.scenario = name;
        continue;
      }
      std::vector<FinishedJob> jobs = read_accounting(text);
      std::move(jobs.begin(), jobs.end(), std::back_inserter(out.jobs));
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  if (out.jobs.empty())
    throw InputError("no file is about a finished job",
                     "as sacct --json -j JOBID, seff JOBID or jobstats JOBID print it");
  // Several tools may report on one job; their figures are joined.
  out.jobs = joined_jobs(std::move(out.jobs));
  return out;
}

/// Returns up to five ids for a message.
std::string ids_of(const std::vector<FinishedJob>& jobs) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(jobs.size(), 5); ++i)
    out += (i == 0 ? "" : ", ") + printable(jobs[i].id);
  return jobs.size() > 5 ? out + ", …" : out;
}

/// Keeps only the job with this id; an empty id keeps all. Throws InputError when no job has it.
void choose_job(std::vector<FinishedJob>& jobs, const std::string& id) {
  if (id.empty()) return;
  const auto found = std::ranges::find(jobs, id, &FinishedJob::id);
  if (found == jobs.end())
    throw InputError(fmt::format("there is no job {}", printable(shortened(id, 40))),
                     "there are: " + ids_of(jobs));
  FinishedJob chosen = std::move(*found);
  jobs.clear();
  jobs.push_back(std::move(chosen));
}

/// Returns the job's own number of GPUs, or those of --gpus. Throws InputError when neither is known.
std::vector<int> gpus_to_predict(const ExplainCommand& command, const FinishedJob& job) {
  if (!command.overrides.gpus.empty()) return command.overrides.gpus;
  if (gpu_count(job).value_or(0) > 0) return {*gpu_count(job)};
  throw InputError("how many GPUs the job had stands in none of the files", "give --gpus, as in --gpus 4");
}

/// An explained job, with what it measured when --add asks for it.
struct ExplainedJob {
  JobExplanation explanation;
  std::optional<JobObservation> measured{};
  /// Input with which another version can predict the job again; set when `measured` has a row.
  JobInput input{};
};

/// Returns the input with which another version of foretrain can predict the job again.
JobInput input_of(const FinishedJob& job, const OpenedScenario& opened, const ScenarioOverrides& overrides) {
  JobInput input = own_input(opened, overrides);
  if (opened.scenario.layout == Layout::spread) input.spread_nodes = opened.scenario.cluster.nodes;
  input.elapsed_s = job.elapsed_s ? job.elapsed_s->value : 0;
  return input;
}

/// Predicts the job's training on its number of GPUs, and explains the job with it.
ExplainedJob with_prediction(const ExplainCommand& command, const std::string& scenario,
                             const FinishedJob& job) {
  ScenarioOverrides overrides = command.overrides;
  overrides.gpus = gpus_to_predict(command, job);
  // Settings that the user did not give are listed with where they come from.
  if (command.overrides.gpus.empty())
    overrides.origins["--gpus"] = {"the job's own number of GPUs", SettingOrigin::Kind::command, {}};
  std::vector<std::string> names;
  if (!scenario.empty()) names.push_back(scenario);
  const OpenedScenario opened =
      std::move(open_scenarios(names, overrides, RequestedScaling::of_scenario).front());
  ProgressLine progress("predicting " + opened.scenario.name);
  const Prediction prediction = predict(opened.scenario, [&progress](double done) { progress.show(done); });
  const auto point = std::ranges::find(prediction.points, overrides.gpus.front(), &PredictionPoint::gpus);
  if (point == prediction.points.end())
    throw InputError(fmt::format("nothing is predicted for {} GPUs", overrides.gpus.front()));
  const NodeSpec& node = opened.scenario.cluster.node;
  const PredictedRun run{prediction, *point, node.gpus > 0 ? node.host.cores / node.gpus : 0,
                         opened.scenario.cluster.site.gpu_type + " " + node.gpu.name};
  ExplainedJob out{explain_job(job, &run)};
  if (!command.add) return out;
  out.measured = observation_of(job, run, opened.scenario);
  if (out.measured->row) out.input = input_of(job, opened, overrides);
  return out;
}

/// Adds the measured job to the store of evidence. Returns a sentence that says so, or why it was not added.
std::string keep_measured(const ExplainCommand& command, JobObservation measured, JobInput input) {
  if (!measured.row) return fmt::format("Not kept as evidence: {}.\n", measured.why_not);
  Observation& row = *measured.row;
  row.source = kOwnSource, row.version = FORETRAIN_VERSION;
  input.run = row.run;
  const std::string store = named_store(command.store);
  add_job_to_store(store, row, input_of(input));
  return kept_sentence(store, row);
}

}  // namespace

// The report goes to standard output; sentences about evidence go to standard error.
void run_explain(const ExplainCommand& command) {
  ExplainedFiles files = read_files(command);
  choose_job(files.jobs, command.job);
  const bool predicts = !files.scenario.empty() || !command.overrides.model.empty();
  if (predicts && files.jobs.size() > 1)
    throw InputError(fmt::format("a prediction is of one job, and there are {}: {}", files.jobs.size(),
                                 ids_of(files.jobs)),
                     "choose one with --job");
  if (command.add && !predicts)
    throw InputError("what the job trained is not told, so there is nothing to keep",
                     "give a scenario, a job script, or --model and --cluster");
  std::vector<JobExplanation> explained;
  std::vector<std::pair<JobObservation, JobInput>> measured;
  for (const FinishedJob& job : files.jobs) {
    ExplainedJob one =
        predicts ? with_prediction(command, files.scenario, job) : ExplainedJob{explain_job(job)};
    if (one.measured) measured.emplace_back(std::move(*one.measured), std::move(one.input));
    explained.push_back(std::move(one.explanation));
  }
  write_report(command.output, command.format,
               find_row(kExplanationFormats, command.format)->write(explained));
  for (auto& [job, input] : measured) write_message(keep_measured(command, std::move(job), std::move(input)));
}

}  // namespace foretrain
