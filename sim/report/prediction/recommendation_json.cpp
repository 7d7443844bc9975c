// The recommended job and the others that were looked at, as JSON.
#include "sim/analysis/step/known_figures.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

Json job_json(const JobOption& job) {
  const PredictionPoint& p = job.point;
  const KnownFigures known = known_figures(p);
  return {{"gpus", p.gpus},
          {"nodes", p.nodes},
          {"strategy", job.strategy},
          {"batch_per_gpu", p.batch_per_gpu},
          {"accumulation", job.accumulation},
          {"workers_per_gpu", job.workers_per_gpu},
          {"partition", job.partition},
          {"time_limit_s", job.time_limit_s},
          {"jobs", job.jobs},
          {"total_s", p.total_s},
          {"total_interval", interval_json(p.total_interval)},
          {"time_to_result_s", job.time_to_result_s},
          {"speedup", or_null(known.speedup)},
          {"efficiency", or_null(known.efficiency)},
          {"gpu_hours", job.gpu_hours},
          {"gpu_energy_kwh", job.gpu_energy_kwh > 0 ? Json(job.gpu_energy_kwh) : Json(nullptr)},
          // A board whose power is unknown has no energy, which is not the same as none.
          {"energy_kwh", job.energy_kwh > 0 ? Json(job.energy_kwh) : Json(nullptr)},
          {"cost", job.cost},
          {"deadline_probability", job.keeps_deadline ? Json(*job.keeps_deadline) : Json(nullptr)},
          {"trade", job.trade}};
}

}  // namespace

Json recommendation_json(const Recommendation& r) {
  Json out{{"goal", name_of(r.goal)},
           {"cost_unit", r.cost_unit},
           {"best", r.best ? job_json(*r.best) : Json(nullptr)}};
  out["runners_up"] = Json::array();
  for (const JobOption& job : r.runners_up) out["runners_up"].push_back(job_json(job));
  out["looked_at"] = Json::array();
  for (const JobOption& job : r.looked_at) out["looked_at"].push_back(job_json(job));
  out["co2_kg"] = r.best && r.best->energy_kwh > 0 && r.grid_g_per_kwh > 0
                      ? Json(r.best->energy_kwh * r.grid_g_per_kwh / 1000)
                      : Json(nullptr);
  out["confirming_runs"] = Json::array();
  for (const ConfirmingRun& run : r.confirming)
    out["confirming_runs"].push_back({{"gpus", run.plan.nodes * run.plan.gpus_per_node},
                                      {"steps", run.steps},
                                      {"duration_s", run.duration_s},
                                      {"command", interactive_command(run.plan)}});
  out["warnings"] = r.warnings;
  out["why_none"] = r.best ? Json(nullptr) : Json(r.why_none);
  out["notes"] = r.notes;
  return out;
}

}  // namespace foretrain
