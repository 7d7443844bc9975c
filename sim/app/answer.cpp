// Answers one question of the page that `foretrain serve` shows. The question is JSON, and so is the answer.
// It takes the path of `foretrain predict`: question, opened scenario, analysis, and then every text that the
// page shows, packed into one JSON object. Wrong input is answered with its diagnostics, not thrown.
#include "sim/app/answer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/pages/listing.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/meeting.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/prediction/crossover_table.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/prediction/table.hpp"
#include "sim/report/workshop/question.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/toml/given_files.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns one list of the catalog, such as all GPUs, with names and summaries.
WorkshopCatalog listed(const std::string& kind) {
  WorkshopCatalog catalog{kind, {}};
  for (const ListedEntry& entry : list_entries(kind)) catalog.items.push_back({entry.name, entry.summary});
  return catalog;
}

/// Returns all clusters, each with its number of GPUs, GPUs per node and GPU type, which the page's forms
/// need.
WorkshopCatalog listed_clusters() {
  WorkshopCatalog catalog = listed("clusters");
  for (WorkshopCatalog::Item& item : catalog.items) {
    const ClusterSpec cluster = open_cluster(item.name);
    item.gpus_per_node = cluster.node.gpus;
    item.most_gpus = cluster.nodes * cluster.node.gpus;
    item.gpu = cluster.node.gpu.name;
  }
  return catalog;
}

/// Returns all strategies with the names of the options that each of them accepts.
WorkshopCatalog listed_strategies() {
  WorkshopCatalog catalog = listed("strategies");
  for (WorkshopCatalog::Item& item : catalog.items) {
    for (const Knob& knob : shared_knobs()) item.options.emplace_back(knob.name);
    for (const Knob& knob : find_strategy(item.name)->knobs) item.options.emplace_back(knob.name);
  }
  return catalog;
}

/// Returns all lists that the forms of the page offer, as JSON.
std::string answered_list() {
  return write_catalogs({listed("scenarios"), listed("models"), listed_clusters(), listed_strategies(),
                         listed("gpus"), listed("datasets")});
}

/// Returns the largest requestable number of GPUs that the scenario's range covers. One GPU can always be
/// requested.
int most_job_gpus(const Scenario& scenario) {
  std::vector<int> counts = requestable_gpu_counts(scenario);
  counts.insert(counts.begin(), 1);
  std::erase_if(counts, [&scenario](int gpus) { return gpus > scenario.gpus.back(); });
  return counts.back();
}

/// Adds the script of a batch job to `answer`, or the reason why no job can be proposed.
void add_job(const OpenedScenario& opened, const PredictCommand& asked, const EvidenceUse& use,
             WorkshopAnswer& answer) {
  const ComparedScenarios scenarios = read_recommended(opened.source, asked.overrides);
  RecommendationRequest request;
  request.only_gpus = {most_job_gpus(opened.scenario)};
  request.fixed = given_parallel_keys(opened.source, asked.overrides);
  const Recommendation recommendation = recommend(scenarios, request, nullptr, use);
  if (!recommendation.best) return answer.why_no_job = recommendation.why_none, void();
  const JobSystem& system = job_system(recommendation.plan.system);
  answer.why_no_job = why_not_written(recommendation.plan, system.system).why;
  if (answer.why_no_job.empty()) answer.job_script = write_job_script(recommendation.plan, system);
}

/// Returns the paragraph under "Why": the verdict and what happens when GPUs are added.
std::string why(const Prediction& prediction) {
  return prediction.answer.verdict + "\n" + crossover_paragraph(prediction);
}

/// Returns the overrides in a form that a scenario file can state. A file has no key for the kind of scaling,
/// so strong scaling becomes a fixed global batch, and weak scaling a fixed batch per GPU.
ScenarioOverrides as_in_file(const PredictCommand& asked, const Scenario& scenario) {
  ScenarioOverrides overrides = asked.overrides;
  if (asked.scaling == RequestedScaling::of_scenario) return overrides;
  overrides.batch.reset();
  overrides.settings.push_back(scenario.global_batch
                                   ? fmt::format("model.global_batch={}", *scenario.global_batch)
                                   : fmt::format("model.batch_per_gpu={}", scenario.workload.batch_per_gpu));
  return overrides;
}

/// Returns the evidence that corrects the prediction. A question comes over the network, so it may switch
/// evidence off but may not name a file of this machine; then InputError is thrown.
EvidenceUse requested_evidence(const PredictCommand& asked, const OpenedEvidence& evidence) {
  if (asked.evidence == "off") return {};
  if (!asked.evidence.empty())
    throw InputError("a question names no store of evidence", "--evidence off leaves all stores out");
  return {&evidence.field, kOwnSource};
}

/// Opens the single scenario that the question describes, exactly as `foretrain predict` does.
OpenedScenario opened_as(const PredictCommand& asked) {
  return std::move(open_scenarios(asked.scenarios, asked.overrides, asked.scaling).front());
}

// Numbers of GPUs for a curve when neither the question nor the scenario lists any.
const std::vector<int> kCurve{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024};

/// Returns those of `counts` with which the scenario can be opened. Each is tried by itself, because one
/// number that the cluster or batch cannot serve must not refuse the others. `why` receives the first
/// refusal.
std::vector<int> askable(PredictCommand asked, const std::vector<int>& counts, std::string& why) {
  std::vector<int> fit;
  for (const int gpus : counts) {
    asked.overrides.gpus = {gpus};
    try {
      opened_as(asked);
      fit.push_back(gpus);
    } catch (const InputError& refused) {
      if (why.empty()) why = refused.first_message();
    }
  }
  return fit;
}

/// Opens the scenario for a curve over numbers of GPUs, and stores the numbers it could use in `asked`.
/// `left_out` receives a sentence when larger numbers had to be dropped. Throws InputError when no number can
/// be opened.
OpenedScenario opened_curve(PredictCommand& asked, std::string& left_out) {
  std::vector<int> counts = asked.overrides.gpus;
  // The numbers of a scenario that lists several, or of the question itself, are used as they stand.
  const bool are_given = !counts.empty();
  std::string why;
  try {
    OpenedScenario opened = opened_as(asked);
    const int most = opened.scenario.gpus.back();
    if (are_given || opened.scenario.gpus.size() > 1 || most == 1) return opened;
    std::ranges::copy_if(kCurve, std::back_inserter(counts), [most](int gpus) { return gpus < most; });
    counts.push_back(most);
    asked.overrides.gpus = askable(asked, counts, why);
  } catch (const InputError&) {
    // Opening failed for one of the numbers: keep those that work and report where the curve ends.
    if (!are_given) counts = kCurve;
    std::vector<int> fit = askable(asked, counts, why);
    if (fit.empty()) throw;
    asked.overrides.gpus = std::move(fit);
    left_out = fmt::format("Up to {}: {}.", counted(asked.overrides.gpus.back(), "GPU"), why);
  }
  return opened_as(asked);
}

/// Returns the complete answer to a question about a training.
std::string answered(const WorkshopQuestion& question, const OpenedEvidence& evidence) {
  PredictCommand asked = predict_question(question.arguments);
  const EvidenceUse use = requested_evidence(asked, evidence);
  std::string left_out;
  const OpenedScenario opened = question.wants_curve ? opened_curve(asked, left_out) : opened_as(asked);
  if (!opened.scenario.study.axes.empty())
    throw InputError("a scenario with a [study] is a table of its own", "foretrain predict shows it");
  Prediction prediction = predict(opened.scenario, nullptr, {.every_gpu = asked.every_gpu, .evidence = use});
  prediction.warnings.insert(prediction.warnings.end(), evidence.warnings.begin(), evidence.warnings.end());
  WorkshopAnswer answer{
      .prediction = write_json(prediction, {}),
      .details = prediction_details(opened.scenario, opened.source, prediction, evidence.field.table(), ""),
      .table = write_table(prediction, {}),
      .why = why(prediction),
      .scenario_toml = scenario_file_of(opened.source, as_in_file(asked, opened.scenario)),
      .left_out = left_out};
  if (question.wants_job) add_job(opened, asked, use, answer);
  return write_answer(answer);
}

/// Removes the folders of the catalogs from error messages: a reader on the network must not see where this
/// machine keeps its files.
std::string without_folders(std::string text) {
  for (const std::string& folder : catalog_folders())
    for (std::size_t at = 0; (at = text.find(folder + "/", at)) != std::string::npos;)
      text.erase(at, folder.size() + 1);
  return text;
}

}  // namespace

std::string answer_question(std::string_view question) {
  try {
    const WorkshopQuestion asked = read_question(question);
    // Evidence is opened first: as long as GivenFiles exists, only the files of the question and the catalogs
    // can be read.
    OpenedEvidence evidence;
    if (!asked.lists) evidence = open_evidence("", EvidenceOf::trainings);
    const GivenFiles files(asked.files, catalog_folders());
    return asked.lists ? answered_list() : answered(asked, evidence);
  } catch (const InputError& error) {
    return write_refusal(without_folders(printable_lines(error.what())));
  } catch (const EnvironmentError& error) {
    return write_refusal("error: " + without_folders(printable_lines(error.what())) + "\n");
  }
}

}  // namespace foretrain
