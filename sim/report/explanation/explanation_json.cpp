// Writes explained jobs as JSON (foretrain.explanation/1). Each figure has the file and line where it was
// read.
//
// Times are in seconds, memory is in bytes, and shares are fractions. A key of `figures` has the measured
// value, the prediction and its 90 % interval.
#include "sim/base/printable.hpp"
#include "sim/report/explanation/explanation_reports.hpp"
#include "sim/report/fields/shared_fields.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

/// Returns a value, or null when it is unknown.
template <class T>
Json said(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Returns a figure with the place where it was read, or null.
template <class T>
Json figure_json(const Known<T>& figure) {
  if (!figure) return nullptr;
  return {{"value", figure->value}, {"read_at", text_of(figure->at)}};
}

/// Returns the job's state by its common name and as the batch system wrote it.
Json state_json(const FinishedJob& job) {
  if (!job.state) return nullptr;
  return {{"value", name_of(job.state->value)},
          {"as_written", job.state_text ? Json(job.state_text->value) : Json(nullptr)},
          {"read_at", text_of(job.state->at)}};
}

/// Returns the measured utilization (a share) and memory of each GPU.
Json gpus_json(const FinishedJob& job) {
  Json out = Json::array();
  if (!job.measured_gpus) return out;
  for (const MeasuredGpu& gpu : job.measured_gpus->value)
    out.push_back({{"node", gpu.node},
                   {"gpu", gpu.index},
                   {"utilization", said(gpu.utilization)},
                   {"memory_used_bytes", said(gpu.memory_used)},
                   {"memory_total_bytes", said(gpu.memory_total)}});
  return out;
}

/// Returns the facts about the job. The keys are part of the schema and are never renamed.
Json job_json(const FinishedJob& job) {
  Json out{{"id", job.id.empty() ? Json(nullptr) : Json(job.id)}, {"state", state_json(job)}};
  out["name"] = figure_json(job.name), out["cluster"] = figure_json(job.cluster);
  out["partition"] = figure_json(job.partition), out["node_list"] = figure_json(job.node_list);
  out["start"] = figure_json(job.start), out["end"] = figure_json(job.end);
  out["exit_code"] = figure_json(job.exit_code), out["signal"] = figure_json(job.signal);
  out["nodes"] = figure_json(job.nodes), out["gpus"] = figure_json(job.gpus);
  out["gpu_type"] = figure_json(job.gpu_type), out["cpus"] = figure_json(job.cpus);
  out["tasks"] = figure_json(job.tasks), out["cpus_per_task"] = figure_json(job.cpus_per_task);
  out["cpu_s"] = figure_json(job.cpu_s);
  out["measured_gpus"] = gpus_json(job);
  return out;
}

/// Returns measured and predicted values by key, with the predicted 90 % interval.
Json compared_json(const JobExplanation& job) {
  Json out = Json::object();
  for (const ComparedFigure& row : job.figures) {
    out[row.key] = {{"measured", said(row.measured)},
                    {"predicted", said(row.predicted)},
                    {"low", said(row.low)},
                    {"high", said(row.high)},
                    {"read_at", row.read_at.empty() ? Json(nullptr) : Json(row.read_at)}};
  }
  return out;
}

/// Returns the prediction behind the explanation; null when there is none. The parts' shares sum to 1.
Json prediction_json_of(const JobExplanation& job) {
  // Nothing was predicted.
  if (job.model.empty()) return nullptr;
  Json parts = Json::object();
  for (const PartOfRun& part : job.parts)
    parts[std::string(part.key)] = {
        {"seconds", part.seconds}, {"share", part.share}, {"gpus_work", part.gpu_works}};
  return {{"scenario", job.scenario},
          {"model", job.model},
          {"cluster", job.cluster},
          {"strategy", job.strategy},
          {"parts", parts},
          {"warnings", job.warnings},
          {"answer", job.answer ? declared_json(*job.answer) : Json(nullptr)}};
}

/// Returns one job: its facts, figures, prediction, findings, and what the next job should request.
Json explanation_json(const JobExplanation& job) {
  Json findings = Json::array(), next = Json::array();
  for (const ExplainedFinding& finding : job.findings)
    findings.push_back(
        {{"finding", finding.key}, {"text", finding.text}, {"evidence", name_of(finding.evidence)}});
  for (const NextRequest& request : job.next)
    next.push_back(
        {{"option", request.option}, {"why", request.why}, {"evidence", name_of(request.evidence)}});
  return {{"job", job_json(job.job)},
          {"figures", compared_json(job)},
          {"prediction", prediction_json_of(job)},
          {"findings", findings},
          {"next", next},
          {"not_known", job.not_known}};
}

}  // namespace

// The list has one entry for each job, also when there is only one.
std::string write_explanation_json(const std::vector<JobExplanation>& jobs) {
  Json out{{"schema", "foretrain.explanation/1"}, {"jobs", Json::array()}};
  for (const JobExplanation& job : jobs) out["jobs"].push_back(explanation_json(job));
  return json_text(out);
}

}  // namespace foretrain
