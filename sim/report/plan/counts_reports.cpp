// Several numbers of GPUs: a line for the best layout of each, and where more stop paying.
#include <fmt/format.h>

#include "sim/analysis/answer/plan_answer.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

/// Four digits, never as a power of ten.
std::string hours_text(double hours) {
  return hours < 1000 ? fmt::format("{:.4g}", hours) : decimal(hours, 0);
}

std::string counts_row(const PlannedCounts& plan, std::size_t place) {
  const PlannedCount& count = plan.counts[place];
  const ModelLayout* best = count.best();
  if (best == nullptr)
    return fmt::format("{:>6} {:>5}  {}\n", count.gpus, count.nodes, count.search.why_none);
  return fmt::format("{:>6} {:>5} {:>10} {:>20} {:>10} {:>6} % {:>12} {:>10} {:>9}{} {}, {}\n", count.gpus,
                     count.nodes, to_string(seconds(best->step_s)), interval_text(best->interval),
                     decimal(count.tokens_per_s, 0), percent(count.efficiency, 1), spoken_time(count.run_s),
                     hours_text(count.gpu_hours),
                     to_string(Bytes{static_cast<std::int64_t>(best->memory_bytes)}),
                     plan.best == place ? " <-"
                     : count.pays       ? "   "
                                        : " - ",
                     best->point.layout, settings_of(best->job));
}

Json count_json(const PlannedCount& count) {
  Json out{{"gpus", count.gpus}, {"nodes", count.nodes}, {"fits", count.best() != nullptr}};
  const bool fits = count.best() != nullptr;
  out["tokens_per_s"] = fits ? Json(count.tokens_per_s) : Json(nullptr);
  out["run_s"] = fits ? Json(count.run_s) : Json(nullptr);
  out["gpu_hours"] = fits ? Json(count.gpu_hours) : Json(nullptr);
  out["efficiency"] = fits ? Json(count.efficiency) : Json(nullptr);
  out["pays"] = count.pays;
  out["plan"] = layouts_json(count.search);
  return out;
}

std::string layout_csv(const ModelLayout& layout, int gpus) {
  const LargeModelJob& job = layout.job;
  const Degrees& d = job.degrees;
  const auto end = [&](double Interval::*side) {
    return layout.interval ? fmt::format("{}", (*layout.interval).*side) : std::string();
  };
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.0f},{},{},{},{},{:.4f}\n", d.tensor,
                     d.pipeline, d.virtual_stages, d.context, d.expert, d.data, job.micro_batch,
                     name_of(job.schedule), name_of(job.sharding), name_of(job.recompute), layout.step_s,
                     layout.point.tokens_per_s_per_gpu, layout.point.mfu, layout.point.bubble,
                     layout.memory_bytes, layout.is_on_front ? 1 : 0, end(&Interval::low_s),
                     end(&Interval::high_s), gpus, layout.fits);
}

std::string counts_table(const PlannedCounts& plan) {
  const std::string run = plan.is_run ? "the run" : fmt::format("{:.0f}T tokens", plan.tokens / 1e12);
  std::string out = fmt::format(
      "The best layout of each number\n{:>6} {:>5} {:>10} {:>20} {:>10} {:>8} {:>12} {:>10} {:>9}    {}\n",
      "GPUs", "nodes", "step", "step, 90 %", "tokens/s", "effic.", run, "GPU-hours", "memory", "layout");
  for (std::size_t i = 0; i < plan.counts.size(); ++i) out += counts_row(plan, i);
  out += fmt::format(
      "<-: the last number that pays; -: does not, a doubling is less than {:.1f} times as fast\n",
      2 * kPays);
  if (!plan.best) return out;
  const std::string launch = launch_line(*plan.counts[*plan.best].best());
  if (!launch.empty())
    out += fmt::format("\nOn {} started as\n  {}\n", counted(plan.counts[*plan.best].gpus, "GPU"), launch);
  return out;
}

}  // namespace

std::string write_plan_table(const PlannedCounts& plan, const PlanReportOptions& options) {
  Answer answer = plan.answer;
  if (answer.action.starts_with(kStartItAs)) answer.action.clear();  // it stands below, on one line to paste
  std::string out = answer_head(answer) + "\n";
  out +=
      plan.counts.size() == 1 ? write_layouts_table(plan.counts.front().search, options) : counts_table(plan);
  return out + "\n" + answer_basis(plan.answer);
}

std::string write_plan_json(const PlannedCounts& plan, const PlanReportOptions&) {
  const LayoutSearch& first = plan.counts.front().search;
  if (plan.counts.size() == 1) {
    Json out = layouts_json(first);
    out["answer"] = answer_json(plan.answer);
    return json_text(out);
  }
  const std::vector<std::string> verdict{plan.answer.verdict, plan.answer.action};
  Json out{{"schema", "foretrain.plans/1"},     {"model", first.model},
           {"cluster", first.cluster},          {"global_batch", first.global_batch},
           {"tokens_per_step", first.tokens},   {"tokens_of_run", plan.tokens},
           {"is_run_of_scenario", plan.is_run}, {"verdict", verdict}};
  out["answer"] = answer_json(plan.answer);
  out["best_gpus"] = plan.best ? Json(plan.counts[*plan.best].gpus) : Json(nullptr);
  out["counts"] = Json::array();
  for (const PlannedCount& count : plan.counts) out["counts"].push_back(count_json(count));
  return json_text(out);
}

std::string write_plan_csv(const PlannedCounts& plan, const PlanReportOptions&) {
  std::string out =
      "tensor,pipeline,virtual_stages,context,expert,data,micro_batch,schedule,shard,recompute,step_s,"
      "tokens_per_s_per_gpu,mfu,bubble,memory_bytes,on_front,step_low_s,step_high_s,gpus,chance_of_fitting\n";
  for (const PlannedCount& count : plan.counts)
    for (const ModelLayout& layout : count.search.layouts) out += layout_csv(layout, count.gpus);
  return out;
}

}  // namespace foretrain
