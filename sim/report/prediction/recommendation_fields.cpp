// Declares the JSON fields of a recommendation: the job to request, and the others that were considered.
//
// Times are in seconds, energy is in kWh, and cost is in `cost_unit`.
#include "sim/analysis/step/known_figures.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

template <>
const OutputObject<JobOption>& output_object<JobOption>();
template <>
const OutputObject<ConfirmingRun>& output_object<ConfirmingRun>();

namespace {

/// Returns nothing for an energy of 0, which stands for an unknown power and not for no energy.
std::optional<double> unless_zero(double energy_kwh) {
  return energy_kwh > 0 ? std::optional(energy_kwh) : std::nullopt;
}

/// Returns the CO2 of the run by its energy and the site's grid; nothing when one of them is unknown.
std::optional<double> co2_kg(const Recommendation& r) {
  if (!r.best || !(r.best->energy_kwh > 0) || !(r.grid_g_per_kwh > 0)) return std::nullopt;
  return r.best->energy_kwh * r.grid_g_per_kwh / 1000;
}

/// Returns the getter of a figure of the job's point.
template <class Figure>
auto of_point(Figure PredictionPoint::*figure) {
  return [figure](const JobOption& job) { return job.point.*figure; };
}

/// Returns the fields that are requested from the batch system.
const OutputFields<JobOption>& requested_fields() {
  using J = JobOption;
  static const OutputFields<J> fields{
      {"gpus", "number of GPUs", of_point(&PredictionPoint::gpus)},
      {"nodes", "nodes they are on", of_point(&PredictionPoint::nodes)},
      {"strategy", "how the work is divided", &J::strategy},
      {"batch_per_gpu", "samples per GPU and micro-step", of_point(&PredictionPoint::batch_per_gpu)},
      {"accumulation", "micro-steps of an optimizer step", &J::accumulation},
      {"workers_per_gpu", "loader processes of a GPU; 0: none, or loading is not described",
       &J::workers_per_gpu},
      {"partition", "of the cluster; empty: its file names none", &J::partition},
      {"time_limit_s", "to ask for, of one job", &J::time_limit_s},
      {"jobs", "in a row, where the partition allows less than the run takes", &J::jobs}};
  return fields;
}

/// Returns the fields of time, energy and cost.
const OutputFields<JobOption>& cost_fields() {
  using J = JobOption;
  static const OutputFields<J> fields{
      {"total_s", "the whole run", of_point(&PredictionPoint::total_s)},
      {"total_interval", "where it lies at the level", of_point(&PredictionPoint::total_interval)},
      {"time_to_result_s", "the run with its wait in the queue", &J::time_to_result_s},
      {"speedup", kSpeedupMeaning, [](const J& j) { return known_figures(j.point).speedup; }},
      {"efficiency", "speedup / GPUs; null as speedup",
       [](const J& j) { return known_figures(j.point).efficiency; }},
      {"gpu_hours", "GPUs times hours", &J::gpu_hours},
      {"gpu_energy_kwh", "of the GPUs alone; null: unknown",
       [](const J& j) { return unless_zero(j.gpu_energy_kwh); }},
      {"energy_kwh", "with the job's share of its nodes; null: unknown",
       [](const J& j) { return unless_zero(j.energy_kwh); }},
      {"cost", "in cost_unit", &J::cost},
      {"deadline_probability", "that it ends in time; null: no deadline was given", &J::keeps_deadline},
      {"trade", "what it gives and takes against the recommendation, in words", &J::trade}};
  return fields;
}

}  // namespace

// recommendation.best, .runners_up[] and .looked_at[].
template <>
const OutputObject<JobOption>& output_object<JobOption>() {
  static const OutputObject<JobOption> object{"JobOption", "One way to run the training",
                                              requested_fields() + cost_fields()};
  return object;
}

// recommendation.confirming_runs[].
template <>
const OutputObject<ConfirmingRun>& output_object<ConfirmingRun>() {
  using R = ConfirmingRun;
  static const OutputObject<R> object{
      "ConfirmingRun",
      "A run of some minutes that tells whether the recommendation is right",
      {{"gpus", "number of GPUs", [](const R& r) { return r.plan.nodes * r.plan.gpus_per_node; }},
       {"steps", "optimizer steps", &R::steps},
       {"duration_s", "with start-up", &R::duration_s},
       {"command", "the line to type", [](const R& r) { return interactive_command(r.plan); }}}};
  return object;
}

// recommendation.
template <>
const OutputObject<Recommendation>& output_object<Recommendation>() {
  using R = Recommendation;
  static const OutputObject<R> object{
      "Recommendation",
      "What to ask the cluster for",
      {{"goal", "what the job is best at", [](const R& r) { return name_of(r.goal); }},
       {"cost_unit", "of cost; empty: that of the given price", &R::cost_unit},
       {"best", "the job to ask for; null: none can run", &R::best},
       {"runners_up", "the next smaller and the next larger job", &R::runners_up},
       {"looked_at", "all jobs that were, by growing number of GPUs", &R::looked_at},
       {"co2_kg", "by the energy and the grid of the site; null: unknown", co2_kg},
       {"confirming_runs", "the two shortest that would tell whether it is right", &R::confirming},
       {"warnings", "what changes the training, in sentences", &R::warnings},
       {"why_none", "why no job keeps the limits; null: one does",
        [](const R& r) { return r.best ? std::nullopt : std::optional(r.why_none); }},
       {"notes", "about batch, workers and strategies, in sentences", &R::notes}}};
  return object;
}

}  // namespace foretrain
