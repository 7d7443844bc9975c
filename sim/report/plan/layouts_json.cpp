// Every layout that fits, for programs.
#include "sim/analysis/search/layouts.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

Json low_and_high(double low, double high) { return {{"low", low}, {"high", high}}; }

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
          {"step_90",
           layout.interval ? low_and_high(layout.interval->low_s, layout.interval->high_s) : Json(nullptr)},
          {"over_first_90",
           layout.interval ? low_and_high(layout.over_first.low, layout.over_first.high) : Json(nullptr)},
          {"tokens_per_s_per_gpu", layout.point.tokens_per_s_per_gpu},
          {"mfu", layout.point.mfu},
          {"bubble", layout.point.bubble},
          {"memory_bytes", static_cast<std::int64_t>(layout.memory_bytes)},
          {"chance_of_fitting", layout.fits},
          {"breakdown", breakdown_json(layout.breakdown)},
          {"tied_with_first", layout.is_tied},
          {"on_front", layout.is_on_front}};
}

}  // namespace

Json layouts_json(const LayoutSearch& search) {
  Json out{{"schema", "foretrain.plan/1"},        {"model", search.model},
           {"cluster", search.cluster},           {"gpus", search.gpus},
           {"global_batch", search.global_batch}, {"tokens_per_step", search.tokens},
           {"possible", search.possible},         {"without_memory", search.without_memory}};
  const bool fits = search.best() != nullptr;
  out["why_first"] = fits ? Json(search.why_first) : Json(nullptr);
  out["why_none"] = fits ? Json(nullptr) : Json(search.why_none);
  out["would_change"] = search.would_change;
  out["layouts"] = Json::array();
  for (const ModelLayout& layout : search.layouts) out["layouts"].push_back(layout_json(layout));
  return out;
}

}  // namespace foretrain
