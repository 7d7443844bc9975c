// Declares the JSON fields and CSV columns of layouts on one number of GPUs and on several.
//
// Units are seconds, bytes and tokens per second. `mfu` is 3 times the FLOPs of forward, with the causal half
// of attention, over the peak of the GPUs.
#include "sim/report/plan/plan_fields.hpp"

#include "sim/report/fields/csv_table.hpp"
#include "sim/report/plan/plan_reports.hpp"

namespace foretrain {

template <>
const OutputObject<ModelLayout>& output_object<ModelLayout>();
template <>
const OutputObject<PlannedCount>& output_object<PlannedCount>();

namespace {

/// Returns the getter of a degree of parallelism.
auto degree(int Degrees::*which) {
  return [which](const ModelLayout& layout) { return layout.job.degrees.*which; };
}

/// Returns the getter of a figure of the layout's prediction.
template <class Figure>
auto of_layout_point(Figure LargeModelPoint::*figure) {
  return [figure](const ModelLayout& layout) { return layout.point.*figure; };
}

/// Returns the getter of a figure that exists only when a layout fits.
auto of_fitting(double PlannedCount::*figure) {
  return [figure](const PlannedCount& count) {
    return count.best() != nullptr ? std::optional(count.*figure) : std::nullopt;
  };
}

/// Returns the fields that describe a layout. The product of tensor, pipeline, context and data degrees is
/// the number of GPUs; experts are spread over ranks of these.
const OutputFields<ModelLayout>& layout_settings() {
  using L = ModelLayout;
  static const OutputFields<L> fields{
      {"layout", "degrees above 1, as in TP 8 x PP 4 x DP 2", of_layout_point(&LargeModelPoint::layout)},
      {"tensor", "GPUs that share each layer", degree(&Degrees::tensor)},
      {"pipeline", "stages", degree(&Degrees::pipeline)},
      {"virtual_stages", "parts of a stage", degree(&Degrees::virtual_stages)},
      {"context", "GPUs that share each sequence", degree(&Degrees::context)},
      {"expert", "GPUs that share the experts", degree(&Degrees::expert)},
      {"data", "copies of the network", degree(&Degrees::data)},
      {"micro_batch", "sequences", [](const L& l) { return l.job.micro_batch; }},
      {"micro_batches", "of a step", [](const L& l) { return l.job.micro_batches(); }},
      {"schedule", "order of the passes of a pipeline", [](const L& l) { return name_of(l.job.schedule); }},
      {"shard", "what data ranks share out", [](const L& l) { return name_of(l.job.sharding); }},
      {"recompute", "what backward computes again", [](const L& l) { return name_of(l.job.recompute); }}};
  return fields;
}

}  // namespace

// A range of a number or time.
template <>
const OutputObject<Range>& output_object<Range>() {
  static const OutputObject<Range> object{
      "Range",
      "Lowest and highest value of 90 %",
      {{"low", "lower end", &Range::low}, {"high", "upper end", &Range::high}}};
  return object;
}

// foretrain.plan/1: layouts[].
template <>
const OutputObject<ModelLayout>& output_object<ModelLayout>() {
  using L = ModelLayout;
  static const OutputFields<L> figures{
      {"step_s", "a step", &L::step_s},
      {"step_90", "90 % interval of the step, of layouts that the table shows; seconds",
       [](const L& l) {
         return l.interval ? std::optional(Range{l.interval->low_s, l.interval->high_s}) : std::nullopt;
       }},
      {"over_first_90", "likewise of the step over the first layout's",
       [](const L& l) { return l.interval ? std::optional(l.over_first) : std::nullopt; }},
      {"tokens_per_s_per_gpu", "training rate of a GPU",
       of_layout_point(&LargeModelPoint::tokens_per_s_per_gpu)},
      {"mfu", "3 x forward FLOPs, causal half of attention, over the peak",
       of_layout_point(&LargeModelPoint::mfu)},
      {"bubble", "share of the step", of_layout_point(&LargeModelPoint::bubble)},
      {"memory_bytes", "of the fullest stage",
       [](const L& l) { return static_cast<std::int64_t>(l.memory_bytes); }},
      {"chance_of_fitting", "into the memory, from the error of measured memory; 0 to 1", &L::fits},
      {"breakdown", "of a step of the busiest stage; the parts sum to it", &L::breakdown},
      {"tied_with_first", "within 2 %", &L::is_tied},
      {"on_front", "nothing is faster and needs less memory", &L::is_on_front}};
  static const OutputObject<L> object{"Layout", "One layout of a large model", layout_settings() + figures};
  return object;
}

// foretrain.plan/1: the whole report.
template <>
const OutputObject<LayoutSearch>& output_object<LayoutSearch>() {
  using S = LayoutSearch;
  static const OutputObject<S> object{
      "Plan", "All layouts that fit, fastest first",
      schema_of_report<S>("plan") +
          OutputFields<S>{
              {"model", "the network", &S::model},
              {"cluster", "the cluster", &S::cluster},
              {"gpus", "number of GPUs", &S::gpus},
              {"global_batch", "sequences of a step", &S::global_batch},
              {"tokens_per_step", "tokens of a step", &S::tokens},
              {"possible", "layouts that divide", &S::possible},
              {"without_memory", "those of them that need more than a GPU has", &S::without_memory},
              {"why_first", "what the second-best kind of layout loses; null: nothing fits",
               [](const S& s) { return s.best() != nullptr ? std::optional(s.why_first) : std::nullopt; }},
              {"why_none", "what is nearest where nothing fits; null: something does",
               [](const S& s) { return s.best() != nullptr ? std::nullopt : std::optional(s.why_none); }},
              {"would_change", "machines on which another layout would be first", &S::would_change},
              {"layouts", "that fit, fastest first", &S::layouts},
              {"answer", "the one answer, of a plan on one number of GPUs",  // write_plan_json() puts it in
               [](const S&) { return std::optional<Answer>(); }, WhenUnknown::is_absent}},
      "plan"};
  return object;
}

// foretrain.plans/1: counts[].
template <>
const OutputObject<PlannedCount>& output_object<PlannedCount>() {
  using C = PlannedCount;
  static const OutputObject<C> object{
      "PlannedCount",
      "One number of GPUs",
      {{"gpus", "number of GPUs", &C::gpus},
       {"nodes", "nodes they are on", &C::nodes},
       {"fits", "whether any layout does", [](const C& c) { return c.best() != nullptr; }},
       {"tokens_per_s", "of the first layout, all GPUs", of_fitting(&C::tokens_per_s)},
       {"run_s", "for tokens_of_run", of_fitting(&C::run_s)},
       {"gpu_hours", "of that", of_fitting(&C::gpu_hours)},
       {"efficiency", "tokens/s a GPU over that of the fewest GPUs that fit", of_fitting(&C::efficiency)},
       {"pays", "a doubling since the last number that pays is 1.4 times as fast or more", &C::pays},
       {"plan", "its layouts", &C::search}}};
  return object;
}

// foretrain.plans/1: the whole report.
template <>
const OutputObject<PlannedCounts>& output_object<PlannedCounts>() {
  using P = PlannedCounts;
  static const OutputObject<P> object{
      "Plans", "Layouts on several numbers of GPUs",
      schema_of_report<P>("plans") +
          OutputFields<P>{
              {"model", "the network", [](const P& p) { return p.counts.front().search.model; }},
              {"cluster", "the cluster", [](const P& p) { return p.counts.front().search.cluster; }},
              {"global_batch", "sequences of a step, on every number of GPUs",
               [](const P& p) { return p.counts.front().search.global_batch; }},
              {"tokens_per_step", "tokens of a step",
               [](const P& p) { return p.counts.front().search.tokens; }},
              {"tokens_of_run", "what run_s and gpu_hours are about", &P::tokens},
              {"is_run_of_scenario", "else 10^12 tokens", &P::is_run},
              {"verdict", "the answer's verdict and action",
               [](const P& p) {
                 return std::vector<std::string>{p.answer.verdict, p.answer.action};
               }},
              {"answer", "the one answer, as every output says it", &P::answer},
              {"best_gpus", "the last number that pays; null: nothing fits",
               [](const P& p) { return p.best ? std::optional(p.counts[*p.best].gpus) : std::nullopt; }},
              {"counts", "by growing number of GPUs", &P::counts}}};
  return object;
}

// A plan on one number of GPUs is the search itself, with the answer added.
std::string write_plan_json(const PlannedCounts& plan, const PlanReportOptions&) {
  if (plan.counts.size() > 1) return json_text(declared_json(plan));
  Json out = declared_json(plan.counts.front().search);
  out["answer"] = declared_json(plan.answer);
  return json_text(out);
}

// There is one line for each layout; `gpus` repeats the number of GPUs of its search.
std::string write_plan_csv(const PlannedCounts& plan, const PlanReportOptions&) {
  static const std::vector<CsvColumn> columns{{"tensor"},
                                              {"pipeline"},
                                              {"virtual_stages"},
                                              {"context"},
                                              {"expert"},
                                              {"data"},
                                              {"micro_batch"},
                                              {"schedule"},
                                              {"shard"},
                                              {"recompute"},
                                              {"step_s"},
                                              {"tokens_per_s_per_gpu"},
                                              {"mfu"},
                                              {"bubble"},
                                              {"memory_bytes"},
                                              {"on_front", "", CsvFlags::as_digits},
                                              {"step_low_s", "step_90/low"},
                                              {"step_high_s", "step_90/high"},
                                              {"gpus", "../gpus"},
                                              {"chance_of_fitting"}};
  // The header is written once for all numbers of GPUs.
  std::string out = csv_header(columns);
  for (const PlannedCount& count : plan.counts)
    out += csv_lines(columns, declared_json(count.search), "layouts");
  return out;
}

}  // namespace foretrain
