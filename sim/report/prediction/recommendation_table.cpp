// Writes a recommendation: what to request, in a sentence and as options, and the table that it was chosen
// from.
//
// Columns: GPUs, nodes, strategy, length of the run, speedup, efficiency, GPU-hours, energy in kWh, and cost
// in the site's unit. A deadline is kept when the run ends in time with a probability of 95 %.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

/// Returns a time limit as Slurm writes it, rounded up to minutes.
std::string time_limit(double seconds) {
  const auto minutes = static_cast<long long>(std::ceil(seconds / 60));
  const std::string clock = fmt::format("{:02}:{:02}:00", minutes / 60 % 24, minutes % 60);
  return minutes < 24 * 60 ? clock : fmt::format("{}-{}", minutes / (24 * 60), clock);
}

/// Returns the request in the words of the batch system.
std::string resources(const JobPlan& plan) {
  // HTCondor requests resources of each machine.
  if (plan.system == BatchSystem::htcondor) {
    const std::string nodes = plan.nodes > 1 ? fmt::format("machine_count = {}, ", plan.nodes) : "";
    return fmt::format("  {}request_gpus = {}, request_cpus = {}, allowed_job_duration = {:.0f}\n", nodes,
                       plan.gpus_per_node, plan.cores_per_node, plan.time_limit_s);
  }
  if (plan.system != BatchSystem::slurm)
    return fmt::format("  {} with {} and {} on each, {}\n", counted(plan.nodes, "node"),
                       counted(plan.gpus_per_node, "GPU"), counted(plan.cores_per_node, "core"),
                       spoken_time(plan.time_limit_s));
  const int tasks = tasks_per_node(plan);
  return fmt::format("  --nodes={} --ntasks-per-node={} --cpus-per-task={} --gres=gpu:{}{} --time={}\n",
                     plan.nodes, tasks, std::max(1, plan.cores_per_node / tasks),
                     plan.gpu_type.empty() ? "" : plan.gpu_type + ":", plan.gpus_per_node,
                     time_limit(plan.time_limit_s));
}

/// Returns "done in 11 h (8 to 17 h), inside your 24 h with 98 % probability".
std::string when_done(const Recommendation& r) {
  const JobOption& job = *r.best;
  const Interval& ends = job.point.total_interval;
  const std::string done = spoken_duration(job.point.total_s), range = spoken_range(ends.low_s, ends.high_s);
  if (!r.deadline_s || !job.keeps_deadline)
    return fmt::format("done in {}; 9 of 10 such runs take {}", done, range);
  return fmt::format("done in {} ({}), inside your {} with {} probability", done, range,
                     spoken_duration(*r.deadline_s), spoken_chance(*job.keeps_deadline));
}

/// Returns why this job was chosen.
std::string_view why_this(const Recommendation& r) {
  if (r.goal == Goal::fastest) return "the fastest job";
  if (r.goal == Goal::cheapest) return "the cheapest job";
  return r.deadline_s ? "the smallest job that keeps the deadline" : "balanced";
}

/// Returns the request: GPUs, nodes, cluster, options, batch, workers, memory, and when the run ends.
std::string request(const Recommendation& r) {
  const JobOption& job = *r.best;
  const PredictionPoint& p = job.point;
  std::string out = fmt::format(
      "\nAsk for {} on {} of {}{} with {} ({}).\n", counted(p.gpus, "GPU"), counted(p.nodes, "node"),
      r.plan.cluster, job.partition.empty() ? "" : ", partition " + job.partition, job.strategy, why_this(r));
  out += resources(r.plan);
  out += fmt::format(
      "  batch {} per GPU{}, {} in all{}{}\n", p.batch_per_gpu,
      job.accumulation > 1 ? fmt::format(" and micro-step, {} of them", job.accumulation) : "",
      p.global_batch,
      job.workers_per_gpu > 0 ? fmt::format("; {} per GPU", counted(job.workers_per_gpu, "worker")) : "",
      r.plan.memory_per_node.count > 0
          ? fmt::format("; {} of memory a node", to_string(r.plan.memory_per_node))
          : "");
  return out + fmt::format("  {}\n", when_done(r));
}

/// Returns the heading of the cost column; empty when the cost is GPU-hours, which have a column of their
/// own.
std::string cost_heading(const Recommendation& r) {
  return r.cost_unit == "GPU-h" ? "" : r.cost_unit.empty() ? "cost" : r.cost_unit;
}

/// Returns the width of the strategies' column, since layouts have long names.
std::size_t strategy_width(const Recommendation& r) {
  constexpr std::size_t kUsual = 20;
  std::size_t width = std::max(kUsual, r.best->strategy.size());
  for (const JobOption& job : r.runners_up) width = std::max(width, job.strategy.size());
  return width;
}

/// Returns the line of one job.
std::string line(const Recommendation& r, const JobOption& job) {
  const std::string cost = cost_heading(r).empty() ? "" : fmt::format(" {:>9.4g}", job.cost);
  const std::string result =
      r.has_queue_wait ? fmt::format(" {:>12}", spoken_time(job.time_to_result_s)) : "";
  const std::string energy = job.energy_kwh > 0 ? fmt::format("{:.3g}", job.energy_kwh) : "-";
  return fmt::format("{:>6} {:>5} {:>{}} {:>12}{} {:>8} {:>8} % {:>9.4g} {:>8}{}\n", job.point.gpus,
                     job.point.nodes, job.strategy, strategy_width(r), spoken_time(job.point.total_s), result,
                     decimal(job.point.speedup, 2), percent(job.point.efficiency, 0), job.gpu_hours, energy,
                     cost);
}

/// Returns the table of the recommended job and its runners-up. Columns: GPUs, nodes, strategy, total time,
/// time with the queue, speedup, efficiency, GPU-hours, energy, cost.
std::string options(const Recommendation& r) {
  const std::string cost = cost_heading(r).empty() ? "" : fmt::format(" {:>9}", cost_heading(r));
  const std::string result = r.has_queue_wait ? fmt::format(" {:>12}", "with queue") : "";
  std::string out =
      fmt::format("\n{:>6} {:>5} {:>{}} {:>12}{} {:>8} {:>10} {:>9} {:>8}{}\n", "GPUs", "nodes", "strategy",
                  strategy_width(r), "total", result, "speedup", "efficiency", "GPU-hours", "kWh", cost);
  out += line(r, *r.best);
  for (const JobOption& job : r.runners_up) out += line(r, job);
  return out;
}

/// Returns what a smaller job saves and what a larger one gives.
std::string others(const Recommendation& r) {
  std::string out;
  for (const JobOption& job : r.runners_up) {
    if (job.trade.empty()) continue;
    const std::string gpus = counted(job.point.gpus, "GPU");
    out +=
        fmt::format("{}: {} {} {}: {}.\n", job.point.gpus < r.best->point.gpus ? "Smaller" : "Larger", gpus,
                    job.point.gpus == 1 ? "takes" : "take", spoken_duration(job.point.total_s), job.trade);
  }
  return out;
}

/// Returns the CO2 of the recommended job; empty when energy or grid is unknown.
std::string carbon(const Recommendation& r) {
  if (r.grid_g_per_kwh == 0 || r.best->energy_kwh == 0) return "";
  return fmt::format("CO2 of the first: {:.3g} kg, at {:g} g per kWh\n",
                     r.best->energy_kwh * r.grid_g_per_kwh / 1000, r.grid_g_per_kwh);
}

/// Returns the table of all jobs that were considered, by number of GPUs.
std::string looked_at(const Recommendation& r) {
  // The table would repeat the one above.
  if (r.looked_at.size() <= r.runners_up.size() + 1) return "";
  std::string out = fmt::format("\n{:>6} {:>5} {:>12} {:>8} {:>10} {:>9}   all that were looked at\n", "GPUs",
                                "nodes", "total", "speedup", "efficiency", "GPU-hours");
  for (const JobOption& job : r.looked_at) {
    const PredictionPoint& p = job.point;
    const KnownFigures known = known_figures(p);
    const std::string_view mark = p.gpus == r.best->point.gpus ? " <- ask for these" : p.fits() ? "" : " !";
    out += fmt::format("{:>6} {:>5} {:>12} {:>8} {:>8} % {:>9.4g}{}\n", p.gpus, p.nodes,
                       spoken_time(p.total_s), or_dash(known.speedup, 2),
                       known.efficiency ? percent(*known.efficiency, 0) : "-", job.gpu_hours, mark);
  }
  return out;
}

/// Returns short runs that would confirm the recommendation, and how their result is given back.
std::string confirming(const Recommendation& r) {
  if (r.confirming.empty()) return "";
  std::string out = "\nThe shortest runs that would confirm this:\n";
  for (const ConfirmingRun& run : r.confirming)
    out += fmt::format("  {}    # {} steps, about {}\n", interactive_command(run.plan), run.steps,
                       spoken_time(run.duration_s));
  const JobPlan& first = r.confirming.front().plan;
  return out +
         fmt::format("and what the first measured: --set measured.gpus={} --set measured.samples_per_s=<…>\n",
                     first.nodes * first.gpus_per_node);
}

}  // namespace

// The short form for the answer; --details has the tables.
std::vector<RequestLine> request_lines(const Recommendation& r) {
  std::vector<RequestLine> out;
  if (!r.best) return out;
  out.push_back({"Request", std::string(trimmed(resources(r.plan)))});
  for (const JobOption& job : r.runners_up) {
    if (job.trade.empty()) continue;
    const bool is_smaller = job.point.gpus < r.best->point.gpus;
    out.push_back(
        {is_smaller ? "Smaller" : "Larger", fmt::format("{}: {}, {}.", counted(job.point.gpus, "GPU"),
                                                        spoken_duration(job.point.total_s), job.trade)});
  }
  for (const std::string& warning : r.warnings) out.push_back({"Warning", capitalized(warning) + "."});
  if (!r.confirming.empty())
    out.push_back(
        {"Confirm first",
         fmt::format(
             "A run of {} on {} narrows the times; --details shows the command.",
             spoken_duration(r.confirming.front().duration_s),
             counted(r.confirming.front().plan.nodes * r.confirming.front().plan.gpus_per_node, "GPU"))});
  return out;
}

std::string write_recommendation(const Recommendation& r) {
  if (!r.best) return fmt::format("\nNo job to recommend: {}.\n", r.why_none);
  std::string out = request(r) + options(r) + others(r) + carbon(r);
  for (const std::string& warning : r.warnings) out += "warning: " + warning + "\n";
  for (const std::string& note : r.notes) out += "note: " + note + "\n";
  return out + looked_at(r) + confirming(r);
}

}  // namespace foretrain
