// The command predict, the main path through the program: arguments, opened scenarios, request, analysis,
// report, output. It takes one of three ways: one scenario, several scenarios each by itself, or the
// combinations of a [study].
//
// Order matters for the user. All files are read and all options are checked first, then everything is
// simulated, and results are written last. So a mistake costs no computing time, and an error leaves no
// partial files. The report goes to -o or standard output; --html, --trace, --program-out and job scripts are
// written before it.
//
// `foretrain predict SCENARIO` prints the answer of report/prediction/answer_text.cpp. That the training does
// not fit into memory is an answer with exit code 0. Mistakes in the scenario or the options end the command
// with exit code 1.
#include "sim/analysis/predict.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/search/study.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/job_script_files.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/base/terminal.hpp"
#include "sim/import/accounting/gzip.hpp"
#include "sim/report/catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/prediction/chrome_trace.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/program/sent_program.hpp"
#include "sim/report/study/study_reports.hpp"
#include "sim/scenario/variation.hpp"

namespace foretrain {

namespace {

// Request: options that do not go together are refused, and the remaining files are read.

/// Returns true when the scenario varies settings in a [study].
bool has_study(const OpenedScenario& opened) { return !opened.scenario.study.axes.empty(); }

/// Throws InputError for outputs that show a single prediction, such as a trace, when there are several.
/// `is_written` states whether the format can show several.
void refuse_traces(const PredictCommand& command, bool is_written, std::string_view what,
                   std::string_view hint) {
  for (const auto& [option, file] :
       {std::pair{"--trace", &command.trace}, {"--program-out", &command.program_out}}) {
    if (!file->empty())
      throw InputError(fmt::format("{} shows one scenario, not {}", option, what), std::string(hint));
  }
  if (command.scaling == RequestedScaling::both)
    throw InputError(fmt::format("--scaling both shows one scenario, not {}", what), std::string(hint));
  if (command.recommendation.is_wanted())
    throw InputError(fmt::format("{} is about one scenario, not {}", command.recommendation.given_as(), what),
                     std::string(hint));
  if (!is_written)
    throw InputError(fmt::format("--format {} shows one scenario, not {}", command.format, what),
                     "as in --format table");
}

/// Throws InputError for options without effect on a study: its combinations state themselves what varies,
/// and its table has one line for each.
void refuse_with_study(const PredictCommand& command) {
  const std::string_view option = command.scaling != RequestedScaling::of_scenario ? "--scaling"
                                  : command.break_even                             ? "--break-even"
                                  : command.sensitivity                            ? "--sensitivity"
                                  : command.every_gpu                              ? "--every-gpu"
                                                                                   : "";
  if (!option.empty())
    throw InputError(fmt::format("{} has no effect on the combinations of a study", option),
                     "leave [study] out, and say with --set which one");
}

/// Throws InputError when the format cannot show both scalings.
void check_scalings(const PredictCommand& command) {
  if (command.scaling != RequestedScaling::both ||
      find_report(command.format)->write_both_scalings != nullptr)
    return;
  throw InputError(fmt::format("--scaling both has no {}", command.format),
                   "ask for --scaling weak and --scaling strong, or for table, json or csv");
}

/// Throws InputError when one of several scenarios has a [study].
void refuse_studies(const std::vector<OpenedScenario>& opened) {
  for (const OpenedScenario& one : opened) {
    if (has_study(one))
      throw InputError(fmt::format("{} has a [study], which is a table of its own", one.source.name),
                       "predict it by itself");
  }
}

/// Returns the alternatives that a recommendation compares; nothing when none is wanted.
std::optional<ComparedScenarios> alternatives(const PredictCommand& command, const OpenedScenario& opened) {
  if (!command.recommendation.is_wanted()) return std::nullopt;
  ComparedScenarios scenarios = read_recommended(opened.source, command.overrides);
  scenarios.own = scaled(std::move(scenarios.own), command.scaling);
  for (Scenario& other : scenarios.strategies) other = scaled(std::move(other), command.scaling);
  return scenarios;
}

// Analysis: each function is determined by its arguments, and shows a progress line while it runs.

/// Predicts the scenario. Warnings about evidence and about the job's time limit are added.
Prediction predicted(const PredictCommand& command, const OpenedEvidence& evidence, const Scenario& scenario,
                     const std::optional<JobTimeLimit>& limit) {
  ProgressLine progress("predicting " + scenario.name);
  Prediction prediction = predict(scenario, [&progress](double done) { progress.show(done); },
                                  // The page always has a section on sensitivity, so it is computed for
                                  // --html as well.
                                  {.sensitivity = command.sensitivity || !command.html.empty(),
                                   .break_even = command.break_even,
                                   .every_gpu = command.every_gpu,
                                   .limits = command.limits,
                                   .evidence = {&evidence.field, kOwnSource}});
  prediction.warnings.insert(prediction.warnings.end(), evidence.warnings.begin(), evidence.warnings.end());
  if (!limit) return prediction;
  const std::string too_short = time_limit_warning(limit->seconds, limit->gpus, prediction);
  // A run that the time limit would cut off is the most important warning, so it comes first.
  if (!too_short.empty())
    prediction.warnings.insert(prediction.warnings.begin(), fmt::format("{}: {}", limit->place, too_short));
  return prediction;
}

/// Searches for the job to request. Numbers of --gpus limit the choice. Throws InputError when a script is
/// wanted and no job can be recommended.
Recommendation recommended(const PredictCommand& command, const OpenedEvidence& evidence,
                           const OpenedScenario& opened, const ComparedScenarios& scenarios) {
  const RecommendationOptions& options = command.recommendation;
  ProgressLine progress("recommending for " + scenarios.own.name);
  RecommendationRequest request = options.request;
  request.only_gpus = command.overrides.gpus;
  request.fixed = given_parallel_keys(opened.source, command.overrides);
  Recommendation recommendation = recommend(
      scenarios, request, [&progress](double done) { progress.show(done); }, {&evidence.field, kOwnSource});
  if (asks_for_script(options) && !recommendation.best)
    throw InputError("there is no job to write a script for: " + recommendation.why_none);
  return recommendation;
}

// Limits of a program file: the last steps that are simulated, and kinds of ranks.
constexpr int kSentSteps = 3, kSentKinds = 256;

// Everything that is computed for one scenario.
struct Answered {
  Prediction prediction;
  // The prediction of the other scaling, for --scaling both.
  std::optional<Prediction> other_scaling{};
  // The recorded steps, for --trace.
  StepRecording recorded{};
  // The messages of the last step, for --program-out.
  SentProgram sent{};
};

/// Computes everything that the command's options ask for.
Answered answered(const PredictCommand& command, const OpenedEvidence& evidence, const OpenedScenario& opened,
                  const std::optional<ComparedScenarios>& others) {
  Answered answer{predicted(command, evidence, opened.scenario, opened.time_limit)};
  // The recommendation may change the answer's action.
  if (others) {
    Prediction& prediction = answer.prediction;
    prediction.recommendation = recommended(command, evidence, opened, *others);
    prediction.answer = with_recommendation(std::move(prediction.answer), *prediction.recommendation,
                                            opened.scenario, {&evidence.field, kOwnSource});
  }
  if (command.scaling == RequestedScaling::both) {
    const Scaling other = answer.prediction.strong_scaling ? Scaling::weak : Scaling::strong;
    answer.other_scaling =
        predicted(command, evidence, with_scaling(opened.scenario, other), opened.time_limit);
  }
  if (!command.trace.empty())
    answer.recorded = recording_of(opened.scenario, {command.trace_steps, command.trace_ranks});
  if (!command.program_out.empty()) {
    answer.sent = sent_program(recording_of(opened.scenario, {kSentSteps, kSentKinds}), opened.scenario);
    answer.sent.head.by = command.made.version;
  }
  return answer;
}

/// Predicts every combination of the study.
StudyResult studied(const PredictCommand& command, const StudyQuestion& study) {
  const OpenedEvidence evidence = open_evidence(command.evidence, EvidenceOf::trainings);
  ProgressLine progress("predicting " + study.own.name);
  StudyResult result =
      run_study(study, [&progress](double done) { progress.show(done); }, {&evidence.field, kOwnSource});
  result.warnings.insert(result.warnings.end(), evidence.warnings.begin(), evidence.warnings.end());
  return result;
}

// Report: all texts are made before any is written, so that every mistake appears first.

/// Returns the options of the report. Only a terminal has a width, and only one with UTF-8 shows bars.
ReportOptions options_of(const PredictCommand& command) {
  ReportOptions options{.explain = command.explain, .details = command.details};
  options.quiet = command.quiet;
  if (!command.output.empty() && command.output != "-") return options;
  options.columns = prose_width(STDOUT_FILENO), options.bars = takes_utf8(STDOUT_FILENO);
  return options;
}

/// Returns the prediction without sensitivity, unless the report was asked for it.
Prediction without_extras(const PredictCommand& command, Prediction prediction) {
  if (!command.sensitivity) prediction.sensitivity.reset();
  return prediction;
}

/// Returns the text for -o: of one scaling, or of weak scaling followed by strong scaling.
std::string main_report(const PredictCommand& command, const Answered& answer) {
  const ReportOptions options = options_of(command);
  const Prediction own = without_extras(command, answer.prediction);
  if (!answer.other_scaling) return find_report(command.format)->write(own, options);
  const Prediction other = without_extras(command, *answer.other_scaling);
  const auto write = find_report(command.format)->write_both_scalings;
  return own.strong_scaling ? write(other, own, options) : write(own, other, options);
}

/// Returns true when the file's name asks for gzip.
bool is_packed(const std::string& file) { return file.ends_with(".gz"); }

/// Returns the trace as Chrome's JSON, compressed when the file's name says so.
std::string trace_text(const PredictCommand& command, const Answered& answer, const Scenario& scenario) {
  const std::string text =
      write_trace(answer.recorded, scenario, answer.prediction.points.back().memory, command.trace_steps);
  return is_packed(command.trace) ? packed_gzip(text) : text;
}

/// Returns the HTML page. The requested scaling comes first, followed by the other one.
std::string page_of(const PredictCommand& command, const OpenedEvidence& evidence, const Answered& answer,
                    const OpenedScenario& opened) {
  const auto& recommendation = answer.prediction.recommendation;
  const std::string script = recommendation && recommendation->best
                                 ? script_or_reason(command.recommendation, recommendation->plan)
                                 : "";
  PageContent content{
      "prediction",
      {write_json(answer.prediction, {})},
      {prediction_details(opened.scenario, opened.source, answer.prediction, evidence.field.table(), script)},
      command.made};
  if (answer.other_scaling) content.reports.push_back(write_json(*answer.other_scaling, {}));
  return write_page(content);
}

/// Returns the files besides the report, in the order in which they are written.
std::vector<FileText> further_files(const PredictCommand& command, const OpenedEvidence& evidence,
                                    const Answered& answer, const OpenedScenario& opened) {
  std::vector<FileText> files;
  if (const auto& recommendation = answer.prediction.recommendation)
    files = job_script_files(command.recommendation, recommendation->plan);
  if (!command.html.empty()) files.push_back({command.html, page_of(command, evidence, answer, opened)});
  if (!command.trace.empty()) files.push_back({command.trace, trace_text(command, answer, opened.scenario)});
  if (!command.program_out.empty()) files.push_back({command.program_out, write_sent_program(answer.sent)});
  return files;
}

// The three ways.

/// Predicts one scenario and writes everything that was asked for.
void predict_one(const PredictCommand& command, const OpenedScenario& opened) {
  check_scalings(command);
  const std::optional<ComparedScenarios> others = alternatives(command, opened);
  const OpenedEvidence evidence = open_evidence(command.evidence, EvidenceOf::trainings);
  const Answered answer = answered(command, evidence, opened, others);
  const std::string report = main_report(command, answer);
  for (const auto& [file, text] : further_files(command, evidence, answer, opened))
    is_packed(file) && file == command.trace ? write_bytes(file, text) : write_file(file, text);
  write_report(command.output, command.format, report);
  warn_beside(command.format, answer.prediction.warnings);
}

/// Predicts the combinations of a study and writes their table.
void predict_study(const PredictCommand& command, const OpenedScenario& opened) {
  refuse_with_study(command);
  const auto write = find_report(command.format)->write_study;
  refuse_traces(command, write != nullptr, "the combinations of a study",
                "leave [study] out, and say with --set which combination");
  const StudyResult result = studied(command, read_study(opened.source, command.overrides, opened.scenario));
  if (!command.html.empty())
    write_file(command.html, write_page({"study", {write_study_json(result, {})}, {}, command.made}));
  write_report(command.output, command.format, write(result, {.explain = command.explain}));
  warn_beside(command.format, result.warnings);
}

/// Predicts several scenarios independently and writes them in one report.
void predict_several(const PredictCommand& command, const std::vector<OpenedScenario>& opened) {
  const auto write = find_report(command.format)->write_several;
  refuse_traces(command, write != nullptr, "several", "predict them one by one");
  refuse_studies(opened);
  const OpenedEvidence evidence = open_evidence(command.evidence, EvidenceOf::trainings);
  std::vector<Prediction> predictions;
  PageContent page{"prediction", {}, {}, command.made};
  for (const OpenedScenario& one : opened) {
    const Prediction prediction = predicted(command, evidence, one.scenario, one.time_limit);
    if (!command.html.empty()) {
      page.reports.push_back(write_json(prediction, {}));
      page.details.push_back(
          prediction_details(one.scenario, one.source, prediction, evidence.field.table(), ""));
    }
    predictions.push_back(without_extras(command, prediction));
  }
  if (!command.html.empty()) write_file(command.html, write_page(page));
  write_report(command.output, command.format, write(predictions, options_of(command)));
  for (const Prediction& prediction : predictions) warn_beside(command.format, prediction.warnings);
}

/// Returns true when the setting "a.b.c = value" is meant by `key`, which may be "c", "b.c" or "a.b.c".
bool is_called(const UnmodelledSetting& setting, std::string_view key) {
  const std::string path = "." + setting.setting.substr(0, setting.setting.find(" = "));
  return path.ends_with("." + std::string(key));
}

/// Removes settings that are not modelled and that the user chooses to ignore, and adds a warning for each.
/// Throws InputError when a key names none.
void ignore_settings(const std::vector<std::string>& keys, std::vector<OpenedScenario>& opened) {
  for (const std::string& key : keys) {
    std::size_t ignored = 0;
    for (OpenedScenario& one : opened) {
      const std::size_t gone = std::erase_if(
          one.scenario.unmodelled, [&](const UnmodelledSetting& setting) { return is_called(setting, key); });
      if (gone > 0)
        one.scenario.warnings.push_back(
            fmt::format("{} is ignored: the answer is as if it were not there", key));
      ignored += gone;
    }
    if (ignored == 0)
      throw InputError(fmt::format("--ignore {}: nothing of that name keeps this from being answered", key),
                       "the first line of the answer without --ignore names the setting");
  }
}

}  // namespace

// Several scenarios exclude a study; one scenario with a study is a table of combinations.
void run_predict(const PredictCommand& command) {
  std::vector<OpenedScenario> opened = open_scenarios(command.scenarios, command.overrides, command.scaling);
  ignore_settings(command.ignored, opened);
  check_outputs({{"-o", command.output},
                 {"--html", command.html},
                 {"--trace", command.trace},
                 {"--program-out", command.program_out},
                 {"--sbatch", command.recommendation.sbatch},
                 {"--condor", command.recommendation.condor},
                 {"--job-script", command.recommendation.job_script}});
  if (opened.size() > 1) return predict_several(command, opened);
  has_study(opened.front()) ? predict_study(command, opened.front()) : predict_one(command, opened.front());
}

}  // namespace foretrain
