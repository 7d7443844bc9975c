// Declares the JSON fields and CSV columns of a study. A combination that cannot run has only its settings
// and its reason.
//
// The combinations are in the order of the axes, and those with the same settings in the order of their
// numbers of GPUs.
#include "sim/report/study/study_fields.hpp"

#include "sim/report/prediction/csv.hpp"
#include "sim/report/study/study_reports.hpp"

namespace foretrain {

template <>
const OutputObject<StudyAxis>& output_object<StudyAxis>();

namespace {

// A combination, with the study whose axes it has.
struct ShownCombination {
  const StudyRow& row;
  const StudyResult& of;
};

/// Returns the settings of a combination by the names of the axes.
NamedValues<Value> settings_of_row(const ShownCombination& c) {
  NamedValues<Value> out;
  for (std::size_t i = 0; i < c.of.axes.size(); ++i)
    out.values.emplace_back(c.of.axes[i].name, c.row.values[i]);
  return out;
}

/// Returns fields of a prediction's point for combinations that run.
OutputFields<ShownCombination> combination_fields(std::initializer_list<std::string_view> names) {
  return fields_of_part<ShownCombination>(
      chosen_fields(output_object<PredictionPoint>(), names),
      [](const ShownCombination& c) { return c.row.why_not.empty() ? &c.row.point : nullptr; });
}

}  // namespace

// foretrain.study/1: axes[].
template <>
const OutputObject<StudyAxis>& output_object<StudyAxis>() {
  static const OutputObject<StudyAxis> object{"StudyAxis",
                                              "A setting that the study varies",
                                              {{"name", "as written", &StudyAxis::name},
                                               {"key", "of the scenario", &StudyAxis::key},
                                               {"values", "in their order", &StudyAxis::values}}};
  return object;
}

// foretrain.study/1: combinations[].
template <>
const OutputObject<ShownCombination>& output_object<ShownCombination>() {
  using C = ShownCombination;
  constexpr WhenUnknown kAbsent = WhenUnknown::is_absent;
  static const OutputObject<C> object{
      "Combination", "One combination of a study on one number of GPUs",
      OutputFields<C>{
          {"settings", "what the combination sets, by the name of the axis", settings_of_row},
          {"gpus", "number of GPUs", [](const C& c) { return c.row.gpus; }},
          {"runs", "whether it can run", [](const C& c) { return c.row.why_not.empty(); }},
          {"why_not", "why it cannot run",
           [](const C& c) { return c.row.why_not.empty() ? std::nullopt : std::optional(c.row.why_not); },
           kAbsent}} +
          combination_fields({"nodes", "batch_per_gpu", "global_batch", "steps_per_epoch", "step_s",
                              "epoch_s", "total_s", "gpu_hours", "samples_per_s", "speedup", "efficiency",
                              "interval"}) +
          OutputFields<C>{{"memory", "of the GPU that needs most",
                           [](const C& c) {
                             return c.row.why_not.empty() ? std::optional(ShortMemory{c.row.point})
                                                          : std::nullopt;
                           },
                           kAbsent}} +
          combination_fields({"breakdown"})};
  return object;
}

// foretrain.study/1: the whole report.
template <>
const OutputObject<StudyResult>& output_object<StudyResult>() {
  using S = StudyResult;
  static const OutputObject<S> object{
      "Study", "Every combination of a grid",
      schema_of_report<S>("study") +
          OutputFields<S>{
              {"scenario", "its name: the file without folder and ending, or \"model on cluster\"",
               &S::scenario},
              {"model", "the network", &S::model},
              {"cluster", "the cluster", &S::cluster},
              {"strategy", "how the work is divided", &S::strategy},
              {"precision", "as model.precision of a scenario; \"as recorded\" of a recorded program",
               &S::precision},
              {"axes", "the settings that are varied", &S::axes},
              {"combinations", "in the order of the axes, within each by number of GPUs",
               [](const S& s) {
                 std::vector<ShownCombination> out;
                 for (const StudyRow& row : s.rows) out.push_back({row, s});
                 return out;
               }},
              {"fastest", "of combinations; null: none fits into memory", &S::fastest},
              {"cheapest", "null as fastest", &S::cheapest},
              {"decisions", "what the model chose, and why", [](const S& s) { return s.decisions.list(); }},
              {"warnings", "what the user should know, in sentences", &S::warnings}}};
  return object;
}

std::string write_study_json(const StudyResult& study, const ReportOptions&) {
  return json_text(declared_json(study));
}

namespace {

/// Returns the columns. Settings stand under the names of their axes, except the number of GPUs, which is the
/// column gpus.
std::vector<CsvColumn> study_columns(const StudyResult& study, const std::vector<std::string>& paths) {
  std::vector<CsvColumn> out{{"scenario", "../scenario"}};
  for (std::size_t i = 0; i < study.axes.size(); ++i)
    if (study.axes[i].key != "run.gpus") out.push_back({study.axes[i].name, paths[i]});
  out.insert(out.end(), point_columns().begin(), point_columns().end());
  out.push_back({"fastest", "", CsvFlags::as_digits});
  out.push_back({"cheapest", "", CsvFlags::as_digits});
  out.push_back({"why_not"});
  return out;
}

}  // namespace

// `fastest` and `cheapest` are indices in JSON and flags of each line in CSV.
std::string write_study_csv(const StudyResult& study, const ReportOptions&) {
  std::vector<std::string> paths;
  for (const StudyAxis& axis : study.axes) paths.push_back("settings/" + axis.name);
  Json report = declared_json(study);
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    report["combinations"][i]["fastest"] = study.fastest == i;
    report["combinations"][i]["cheapest"] = study.cheapest == i;
  }
  return csv_table(study_columns(study, paths), report, "combinations");
}

}  // namespace foretrain
