// predict: scenario → prediction → report, one line per arrow; of several scenarios each by itself, of a
// study every combination.
#include "sim/analysis/predict.hpp"

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/search/study.hpp"
#include "sim/app/commands.hpp"
#include "sim/app/named_outputs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/app/several_scenarios.hpp"
#include "sim/report/catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/prediction/both_scalings.hpp"
#include "sim/report/prediction/chrome_trace.hpp"
#include "sim/report/prediction/html.hpp"
#include "sim/report/prediction/job_script.hpp"
#include "sim/scenario/variation.hpp"

namespace foretrain {

namespace {

/// A scenario file, or a job script as one.
struct Question {
  NamedScenario named;
  Scenario scenario;
};

Scenario scaled(Scenario scenario, const std::string& scaling) {
  if (scaling == "weak") return with_scaling(std::move(scenario), Scaling::weak);
  return scaling == "strong" ? with_scaling(std::move(scenario), Scaling::strong) : scenario;
}

std::vector<Question> read_all(const PredictCommand& command) {
  std::vector<Question> questions;
  read_scenarios(command.scenarios, command.overrides, [&](const NamedScenario& named) {
    Scenario scenario = named.source.text.empty() ? make_scenario(command.overrides)
                                                  : read_scenario(named.source, command.overrides);
    if (named.job) apply_job(*named.job, scenario);
    questions.push_back({named, scaled(std::move(scenario), command.scaling)});
  });
  return questions;
}

bool has_study(const Question& question) { return !question.scenario.study.axes.empty(); }

Prediction predicted(const PredictCommand& command, const Question& question) {
  ProgressLine progress("predicting " + question.scenario.name);
  Prediction prediction = predict(
      question.scenario, [&progress](double done) { progress.show(done); },
      {.sensitivity = command.sensitivity, .break_even = command.break_even, .every_gpu = command.every_gpu});
  if (question.named.job) check_time_limit(*question.named.job, prediction);
  return prediction;
}

/// A page and a trace are of one prediction.
void refuse_pages(const PredictCommand& command, bool is_written, std::string_view what,
                  std::string_view hint) {
  const std::string_view option = !command.html.empty() ? "--html" : !command.trace.empty() ? "--trace" : "";
  if (!option.empty())
    throw InputError(fmt::format("{} shows one scenario, not {}", option, what), std::string(hint));
  if (command.scaling == "both")
    throw InputError(fmt::format("--scaling both shows one scenario, not {}", what), std::string(hint));
  if (command.recommendation.is_wanted())
    throw InputError(fmt::format("--recommend is about one scenario, not {}", what), std::string(hint));
  if (!is_written)
    throw InputError(fmt::format("--format {} shows one scenario, not {}", command.format, what),
                     "as in --format table");
}

Recommendation recommended(const PredictCommand& command, const Question& question) {
  ProgressLine progress("recommending for " + question.scenario.name);
  ComparedScenarios scenarios = read_recommended(question.named.source, command.overrides);
  scenarios.own = scaled(std::move(scenarios.own), command.scaling);
  for (Scenario& other : scenarios.strategies) other = scaled(std::move(other), command.scaling);
  Recommendation recommendation =
      recommend(scenarios, command.recommendation.request, [&progress](double done) { progress.show(done); });
  const bool is_script_wanted =
      !command.recommendation.sbatch.empty() || !command.recommendation.condor.empty();
  if (is_script_wanted && !recommendation.best)
    throw InputError("there is no job to write a script for: " + recommendation.why_none);
  return recommendation;
}

void write_job_scripts(const RecommendationOptions& options, const Recommendation& recommendation) {
  if (!options.sbatch.empty()) write_file(options.sbatch, write_sbatch(recommendation.plan));
  if (!options.condor.empty()) write_file(options.condor, write_condor(recommendation.plan));
}

std::string report(const PredictCommand& command, const Question& question, const Prediction& own) {
  const ReportOptions options{.explain = command.explain};
  if (command.scaling != "both") return find_report(command.format)->write(own, options);
  const Scaling other = own.strong_scaling ? Scaling::weak : Scaling::strong;
  const Prediction second = predicted(command, {question.named, with_scaling(question.scenario, other)});
  return write_both_scalings(own.strong_scaling ? second : own, own.strong_scaling ? own : second,
                             command.format, options);
}

void predict_one(const PredictCommand& command, const Question& question) {
  Prediction prediction = predicted(command, question);
  if (command.recommendation.is_wanted()) prediction.recommendation = recommended(command, question);
  const std::string text =
      report(command, question, prediction);  // every mistake shows before anything is written
  if (prediction.recommendation) write_job_scripts(command.recommendation, *prediction.recommendation);
  if (!command.html.empty()) write_file(command.html, write_html(prediction, {.explain = command.explain}));
  if (!command.trace.empty()) {
    const RecordedSteps recorded = record_steps(question.scenario);
    write_file(command.trace, write_chrome_trace(recorded.plan.graph, recorded.timeline));
  }
  write_output(command.output, text);
}

/// Its combinations say themselves what varies, and its table has no room for more than one line each.
void refuse_beside_study(const PredictCommand& command) {
  const std::string_view option = !command.scaling.empty() ? "--scaling"
                                  : command.break_even     ? "--break-even"
                                  : command.sensitivity    ? "--sensitivity"
                                  : command.every_gpu      ? "--every-gpu"
                                                           : "";
  if (!option.empty())
    throw InputError(fmt::format("{} has no effect on the combinations of a study", option),
                     "leave [study] out, and say with --set which one");
}

void predict_study(const PredictCommand& command, const Question& question) {
  refuse_beside_study(command);
  const auto write = find_report(command.format)->write_study;
  refuse_pages(command, write != nullptr, "the combinations of a study",
               "leave [study] out, and say with --set which combination");
  const StudyQuestion study = read_study(question.named.source, command.overrides, question.scenario);
  ProgressLine progress("predicting " + question.scenario.name);
  const StudyResult result = run_study(study, [&progress](double done) { progress.show(done); });
  progress.clear();
  write_output(command.output, write(result, {.explain = command.explain}));
}

void predict_several(const PredictCommand& command, const std::vector<Question>& questions) {
  const auto write = find_report(command.format)->write_several;
  refuse_pages(command, write != nullptr, "several", "predict them one by one");
  std::vector<Prediction> predictions;
  for (const Question& question : questions) {
    if (has_study(question))
      throw InputError(
          fmt::format("{} has a [study], which is a table of its own", question.named.source.name),
          "predict it by itself");
  }
  for (const Question& question : questions) predictions.push_back(predicted(command, question));
  write_output(command.output, write(predictions, {.explain = command.explain}));
}

}  // namespace

void run_predict(const PredictCommand& command) {
  const std::vector<Question> questions = read_all(command);
  check_outputs({{"-o", command.output},
                 {"--html", command.html},
                 {"--trace", command.trace},
                 {"--sbatch", command.recommendation.sbatch},
                 {"--condor", command.recommendation.condor}});
  if (questions.size() > 1) return predict_several(command, questions);
  const Question& question = questions.front();
  has_study(question) ? predict_study(command, question) : predict_one(command, question);
}

}  // namespace foretrain
