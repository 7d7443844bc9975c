// Every layout that fits, for programs: JSON and CSV.
#include <fmt/format.h>

#include "sim/report/json_value.hpp"
#include "sim/report/plan/plan_reports.hpp"

namespace foretrain {

namespace {

Json layout_json(const ModelLayout& layout) {
  const LargeModelJob& job = layout.job;
  const Degrees& d = job.degrees;
  return {{"layout", layout.point.layout},
          {"tensor", d.tensor},
          {"pipeline", d.pipeline},
          {"virtual_stages", d.virtual_stages},
          {"context", d.context},
          {"expert", d.expert},
          {"data", d.data},
          {"micro_batch", job.micro_batch},
          {"micro_batches", job.micro_batches()},
          {"schedule", name_of(job.schedule)},
          {"shard", name_of(job.sharding)},
          {"recompute", name_of(job.recompute)},
          {"step_s", layout.step_s},
          {"tokens_per_s_per_gpu", layout.point.tokens_per_s_per_gpu},
          {"mfu", layout.point.mfu},
          {"bubble", layout.point.bubble},
          {"memory_bytes", static_cast<std::int64_t>(layout.memory_bytes)},
          {"tied_with_first", layout.is_tied},
          {"on_front", layout.is_on_front}};
}

}  // namespace

std::string write_plan_json(const LayoutSearch& search, const PlanReportOptions&) {
  Json out{{"schema", "foretrain.plan/1"},        {"model", search.model},
           {"cluster", search.cluster},           {"gpus", search.gpus},
           {"global_batch", search.global_batch}, {"tokens_per_step", search.tokens},
           {"possible", search.possible},         {"without_memory", search.without_memory}};
  out["why_first"] = search.layouts.empty() ? Json(nullptr) : Json(search.why_first);
  out["why_none"] = search.layouts.empty() ? Json(search.why_none) : Json(nullptr);
  out["would_change"] = search.would_change;
  out["layouts"] = Json::array();
  for (const ModelLayout& layout : search.layouts) out["layouts"].push_back(layout_json(layout));
  return json_text(out);
}

std::string write_plan_csv(const LayoutSearch& search, const PlanReportOptions&) {
  std::string out =
      "tensor,pipeline,virtual_stages,context,expert,data,micro_batch,schedule,shard,recompute,step_s,"
      "tokens_per_s_per_gpu,mfu,bubble,memory_bytes,on_front\n";
  for (const ModelLayout& layout : search.layouts) {
    const LargeModelJob& job = layout.job;
    const Degrees& d = job.degrees;
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.0f},{}\n", d.tensor, d.pipeline,
                       d.virtual_stages, d.context, d.expert, d.data, job.micro_batch, name_of(job.schedule),
                       name_of(job.sharding), name_of(job.recompute), layout.step_s,
                       layout.point.tokens_per_s_per_gpu, layout.point.mfu, layout.point.bubble,
                       layout.memory_bytes, layout.is_on_front ? 1 : 0);
  }
  return out;
}

}  // namespace foretrain
