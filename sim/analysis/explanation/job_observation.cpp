// The measured step is the run time minus the predicted time outside of steps, divided by the predicted
// number of steps.
#include "sim/analysis/explanation/job_observation.hpp"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"

namespace foretrain {

namespace {

/// Returns the reason why a scenario cannot be evidence; empty if it can.
std::string warning_about(const Scenario& scenario) {
  if (scenario.anchor) return "its scenario is [measured] already";
  if (!has_evidence(scenario)) return "large models of [parallel] and mixed nodes have no evidence yet";
  return "";
}

/// Returns the reason why a job cannot be evidence: a missing fact, or a run other than the predicted one.
std::string warning_about(const FinishedJob& job, const PredictedRun& run) {
  if (!job.elapsed_s) return "no file says how long it ran";
  if (!did_its_work(job)) return "it did not end as a job that did its work";
  if (!run.knows_length())
    return "the scenario does not say how much it trained: data.samples and run.epochs";
  if (const auto idle = idle_gpus(job); !idle.empty())
    return fmt::format("{} of its GPUs did nothing", idle.size());
  if (const int had = gpu_count(job).value_or(run.point.gpus); had != run.point.gpus)
    return fmt::format("it had {}, the prediction is for {}", counted(had, "GPU"), run.point.gpus);
  if (is_other_gpu(job, run))
    return fmt::format("it ran on {}, the prediction is for {}", printable(job.gpu_type->value),
                       printable(run.gpu_type));
  const double beside = run.point.overhead.total_s();
  if (beside > kMostBesideSteps * job.elapsed_s->value)
    return fmt::format(
        "{} % of its time is start-up, validation and other things than steps, at most {} % "
        "may be",
        percent(beside / job.elapsed_s->value, 0), percent(kMostBesideSteps, 0));
  return "";
}

/// Returns the measured and the predicted seconds of a step. Both are divided by the predicted number of
/// steps.
std::pair<double, double> steps_of(const FinishedJob& job, const PredictedRun& run) {
  const PredictionPoint& p = run.point;
  const double beside = p.overhead.total_s();
  return {p.step_s * (job.elapsed_s->value - beside) / (p.total_s - beside), p.step_s};
}

}  // namespace

JobObservation observation_of(const FinishedJob& job, const PredictedRun& run, const Scenario& scenario) {
  std::string doubt = warning_about(scenario);
  if (doubt.empty()) doubt = warning_about(job, run);
  if (!doubt.empty()) return {std::nullopt, std::move(doubt)};
  Observation row = step_question(scenario, run.point.batch_per_gpu);
  row.what = run.point.gpus > 1 ? Observed::job : Observed::step;
  row.run = "job " + (job.id.empty() ? "without an id" : job.id);
  row.gpus = run.point.gpus, row.nodes = run.point.nodes;
  std::tie(row.measured, row.predicted) = steps_of(job, run);
  // A quotient beyond kLargestQuotient means another training, or another number of epochs.
  if (const double quotient = row.measured / row.predicted;
      !(quotient < kLargestQuotient && quotient > 1 / kLargestQuotient))
    return {std::nullopt,
            fmt::format(
                "it took {:.3g} times the predicted {:.4g} s: was it another training, or so many epochs?",
                job.elapsed_s->value / run.point.total_s, run.point.total_s)};
  return {std::move(row), ""};
}

}  // namespace foretrain
