// Declares the JSON fields and CSV columns of one training on several machines. A machine that cannot run it
// has its reason, and null for every figure.
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/comparison/comparison_fields.hpp"
#include "sim/report/fields/csv_table.hpp"

namespace foretrain {

namespace {

/// Returns the function that reads a figure of a row; null for a row that cannot run.
template <class Figure>
auto of_running(Figure MachineRow::*figure) {
  return [figure](const MachineRow& row) { return row.runs() ? std::optional(row.*figure) : std::nullopt; };
}

/// Does the same for a figure of the row's predicted point.
template <class Figure>
auto of_running_point(Figure PredictionPoint::*figure) {
  return [figure](const MachineRow& row) {
    return row.runs() ? std::optional(row.point.value_or(PredictionPoint{}).*figure) : std::nullopt;
  };
}

/// Returns the decisions of the model, keyed by cluster.
NamedValues<std::vector<Decision>> decisions_by_cluster(const MachineComparison& c) {
  NamedValues<std::vector<Decision>> out;
  for (const auto& [cluster, decisions] : c.decisions) out.values.emplace_back(cluster, decisions.list());
  return out;
}

}  // namespace

// foretrain.machines/1: rows[].
template <>
const OutputObject<MachineRow>& output_object<MachineRow>() {
  using R = MachineRow;
  static const OutputObject<R> object{
      "MachineRow",
      "One cluster and number of GPUs",
      {{"cluster", "the cluster", &R::cluster},
       {"gpu", "its GPU, a name of the catalog", &R::gpu},
       {"gpus", "number of GPUs", &R::gpus},
       {"nodes", "nodes they are on; null: it cannot run there",
        [](const R& r) { return r.nodes > 0 ? std::optional(r.nodes) : std::nullopt; }},
       {"runs", "whether it can run the training", [](const R& r) { return r.runs(); }},
       {"why_not", "the reason where it cannot",
        [](const R& r) { return r.runs() ? std::nullopt : std::optional(r.why_not); }},
       {"step_s", "a step; null: it cannot run, as for all figures",
        of_running_point(&PredictionPoint::step_s)},
       {"samples_per_s", "training rate over all GPUs", of_running_point(&PredictionPoint::samples_per_s)},
       {"time_s", "time of `amount`", of_running(&R::time_s)},
       {"time_interval", "of time_s; null: it cannot run, or nobody computed intervals",
        [](const R& r) { return r.runs() && r.time.high_s > 0 ? std::optional(r.time) : std::nullopt; }},
       {"speed", "time of the fastest row / time_s: 1 or less", of_running(&R::speed)},
       {"gpu_hours", "that the job pays for `amount`", of_running(&R::gpu_hours)},
       {"energy_kwh", "of the GPUs and their share of the nodes, for `amount`; null: unknown",
        [](const R& r) { return r.runs() && r.energy_kwh > 0 ? std::optional(r.energy_kwh) : std::nullopt; }},
       {"cost", "of `amount`; null: no price is known", &R::cost},
       {"cost_unit", "as the site bills; empty: the currency of --price",
        [](const R& r) { return r.cost ? std::optional(r.cost_unit) : std::nullopt; }},
       {"memory", "of the GPU that needs most; null: nothing was predicted",
        [](const R& r) { return r.point ? std::optional(ShortMemory{*r.point}) : std::nullopt; }}}};
  return object;
}

namespace {

/// Returns the fields that describe the question: what is trained, and what times and costs are of.
const OutputFields<MachineComparison>& machine_question_fields() {
  using C = MachineComparison;
  static const OutputFields<C> fields{
      {"scenario", "its name: the file without folder and ending, or \"model on cluster\"", &C::scenario},
      {"model", "the network", &C::model},
      {"strategy", "how the work is divided", &C::strategy},
      {"precision", "as model.precision of a scenario; \"as recorded\" of a recorded program", &C::precision},
      {"scaling", "weak: the batch per GPU stays; strong: the global batch does",
       [](const C& c) { return scaling_name(c.strong_scaling); }, kScalings},
      {"batch", "with strong scaling of all GPUs, else of each GPU", &C::batch},
      {"amount",
       "what times, GPU-hours, cost and energy are of: the run where data set and epochs are given, else "
       "one epoch's steps, else a million samples",
       [](const C& c) { return name_of(c.amount); }, OneOf{{"run", "epoch", "million_samples"}}},
      {"deadline_s", "of the question; null: none was given", &C::deadline_s},
      {"compares", "what decides which row is cheapest: cost where all prices are in one unit",
       [](const C& c) { return std::string_view(c.counts_cost ? "cost" : "gpu_hours"); },
       OneOf{{"cost", "gpu_hours"}}}};
  return fields;
}

}  // namespace

// foretrain.machines/1: the whole report.
template <>
const OutputObject<MachineComparison>& output_object<MachineComparison>() {
  using C = MachineComparison;
  static const OutputFields<C> found{
      {"verdict", "which machine to use, for people", &C::verdict},
      {"fastest", "place in rows; null: none runs", &C::fastest},
      {"cheapest", "place in rows; null: none runs", &C::cheapest},
      {"best",
       "place in rows of the cheapest that keeps the deadline with 95 %, without a deadline of the row that "
       "is both fastest and cheapest; null: there is none",
       &C::best},
      {"rows", "one for each cluster and number of GPUs, the fastest first; those that cannot run last",
       &C::rows},
      {"measured", "measured runs of this training that calibrate the predictions, for people", &C::measured},
      {"assumed", "of each server that is known by its GPU alone what it is, for people", &C::assumed},
      {"decisions", "what the model chose, and why, by cluster", decisions_by_cluster},
      {"warnings", "what the user should know, in sentences", &C::warnings}};
  static const OutputObject<C> object{"Machines", "One training on several machines",
                                      schema_of_report<C>("machines") + machine_question_fields() + found};
  return object;
}

std::string write_machines_json(const MachineComparison& c, const ReportOptions&) {
  return json_text(declared_json(c));
}

std::string write_machines_csv(const MachineComparison& c, const ReportOptions&) {
  // There is one line for each row; the first two columns repeat the report's.
  static const std::vector<CsvColumn> columns{{"scenario", "../scenario"},
                                              {"amount", "../amount"},
                                              {"cluster"},
                                              {"gpu"},
                                              {"gpus"},
                                              {"nodes"},
                                              {"runs", "", CsvFlags::as_digits},
                                              {"step_s"},
                                              {"samples_per_s"},
                                              {"time_s"},
                                              {"time_low_s", "time_interval/low_s"},
                                              {"time_high_s", "time_interval/high_s"},
                                              {"speed"},
                                              {"gpu_hours"},
                                              {"energy_kwh"},
                                              {"cost"},
                                              {"cost_unit"},
                                              {"memory_bytes", "memory/bytes"},
                                              {"why_not"}};
  return csv_table(columns, declared_json(c), "rows");
}

}  // namespace foretrain
