// question → opened scenario → analysis → the texts that predict writes, in one piece of JSON.
#include "sim/app/answer.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/app/opened_scenarios.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/pages/listing.hpp"
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

namespace foretrain {

namespace {

WorkshopCatalog listed(const std::string& kind) {
  WorkshopCatalog catalog{kind, {}};
  for (const ListedEntry& entry : list_entries(kind)) catalog.items.push_back({entry.name, entry.summary});
  return catalog;
}

WorkshopCatalog listed_clusters() {
  WorkshopCatalog catalog = listed("clusters");
  for (WorkshopCatalog::Item& item : catalog.items) {
    const ClusterSpec cluster = open_cluster(item.name);
    item.gpus_per_node = cluster.node.gpus;
    item.most_gpus = cluster.nodes * cluster.node.gpus;
  }
  return catalog;
}

std::string answered_list() {
  return write_catalogs({listed("scenarios"), listed("models"), listed_clusters(), listed("strategies")});
}

/// The largest number of GPUs up to the largest asked for that a job can have.
std::vector<int> job_gpus(const Scenario& scenario) {
  std::vector<int> counts = requestable_gpu_counts(scenario);
  counts.insert(counts.begin(), 1);
  std::erase_if(counts, [&scenario](int gpus) { return gpus > scenario.gpus.back(); });
  return {counts.back()};
}

void add_job(const OpenedScenario& opened, const PredictCommand& asked, const EvidenceUse& use,
             WorkshopAnswer& answer) {
  const ComparedScenarios scenarios = read_recommended(opened.source, asked.overrides);
  RecommendationRequest request;
  request.only_gpus = job_gpus(opened.scenario);
  request.fixed = given_parallel_keys(opened.source, asked.overrides);
  const Recommendation recommendation = recommend(scenarios, request, nullptr, use);
  if (!recommendation.best) return answer.why_no_job = recommendation.why_none, void();
  const JobSystem& system = job_system(recommendation.plan.system);
  answer.why_no_job = why_not_written(recommendation.plan, system.system).why;
  if (answer.why_no_job.empty()) answer.job_script = write_job_script(recommendation.plan, system);
}

std::string why(const Prediction& prediction) {
  return prediction.answer.verdict + "\n" + crossover_paragraph(prediction);
}

/// What was asked as a file can say it: a kind of scaling is the batch that stays.
ScenarioOverrides as_in_file(const PredictCommand& asked, const Scenario& scenario) {
  ScenarioOverrides overrides = asked.overrides;
  if (asked.scaling == AskedScaling::of_scenario) return overrides;
  overrides.batch.reset();
  overrides.settings.push_back(scenario.global_batch
                                   ? fmt::format("model.global_batch={}", *scenario.global_batch)
                                   : fmt::format("model.batch_per_gpu={}", scenario.workload.batch_per_gpu));
  return overrides;
}

/// A person who asks over the network may leave evidence out, and name no file of this machine.
EvidenceUse evidence_asked(const PredictCommand& asked, const OpenedEvidence& evidence) {
  if (asked.evidence == "off") return {};
  if (!asked.evidence.empty())
    throw InputError("a question names no store of evidence", "--evidence off leaves all stores out");
  return {&evidence.field, kOwnSource};
}

std::string answered(const WorkshopQuestion& question, const OpenedEvidence& evidence) {
  const PredictCommand asked = predict_question(question.arguments);
  const EvidenceUse use = evidence_asked(asked, evidence);
  const OpenedScenario opened =
      std::move(open_scenarios(asked.scenarios, asked.overrides, asked.scaling).front());
  if (!opened.scenario.study.axes.empty())
    throw InputError("a scenario with a [study] is a table of its own", "foretrain predict shows it");
  Prediction prediction = predict(opened.scenario, nullptr, {.every_gpu = asked.every_gpu, .evidence = use});
  prediction.warnings.insert(prediction.warnings.end(), evidence.warnings.begin(), evidence.warnings.end());
  WorkshopAnswer answer{.prediction = write_json(prediction, {}),
                        .details = prediction_details(opened.scenario, opened.source, prediction, ""),
                        .table = write_table(prediction, {}),
                        .why = why(prediction),
                        .scenario_toml = scenario_file_of(opened.source, as_in_file(asked, opened.scenario))};
  if (question.wants_job) add_job(opened, asked, use, answer);
  return write_answer(answer);
}

}  // namespace

std::string answer_question(std::string_view question) {
  try {
    const WorkshopQuestion asked = read_question(question);
    OpenedEvidence evidence;  // opened before only given files may be read
    if (!asked.lists) evidence = open_evidence("", EvidenceOf::trainings);
    const GivenFiles files(asked.files, catalog_folders());
    return asked.lists ? answered_list() : answered(asked, evidence);
  } catch (const InputError& error) {
    return write_refusal(printable_lines(error.what()));
  } catch (const WorldError& error) {
    return write_refusal("error: " + printable_lines(error.what()) + "\n");
  }
}

}  // namespace foretrain
