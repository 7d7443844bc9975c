// Settings stand under the names of their axes; the number of GPUs of every line is the column gpus.
#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/study/study_reports.hpp"

namespace foretrain {

namespace {

std::string header(const StudyResult& study) {
  std::string out = "scenario,";
  for (const StudyAxis& axis : study.axes) {
    if (axis.key != "run.gpus") out += csv_field(axis.name) + ",";
  }
  return out +
         "gpus,nodes,batch_per_gpu,global_batch,steps_per_epoch,step_s,step_low_s,step_high_s,epoch_s,total_"
         "s,samples_per_s,speedup,"
         "efficiency,gpu_hours,memory_bytes,memory_capacity_bytes,compute_s,exposed_communication_s,input_"
         "stall_s,host_s,optimizer_s,other_"
         "s,"
         "fastest,cheapest,why_not\n";
}

std::string settings(const StudyResult& study, const StudyRow& row) {
  std::string out;
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    if (study.axes[i].key == "run.gpus") continue;
    const bool is_set = !std::holds_alternative<std::monostate>(row.values[i].data);
    out += (is_set ? csv_field(text_of(row.values[i])) : "") + ",";
  }
  return out;
}

std::string study_figures(const PredictionPoint& p) {
  const KnownFigures known = known_figures(p);
  std::string out = fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{}", p.nodes, p.batch_per_gpu, p.global_batch,
      csv_figure(known.steps_per_epoch), p.step_s, csv_figures(known.interval), csv_figure(known.epoch_s),
      csv_figure(known.total_s), p.samples_per_s, csv_figure(known.speedup), csv_figure(known.efficiency),
      csv_figure(known.gpu_hours), p.memory.total().count, p.memory_capacity.count);
  for (const double share : p.breakdown) out += fmt::format(",{}", share);
  return out;
}

}  // namespace

std::string write_study_csv(const StudyResult& study, const ReportOptions&) {
  std::string out = header(study);
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    const StudyRow& row = study.rows[i];
    const std::string values =
        row.why_not.empty() ? study_figures(row.point) : std::string(14 + kAccountCount, ',');
    out +=
        fmt::format("{},{}{},{},{},{},{}\n", csv_field(study.scenario), settings(study, row), row.gpus,
                    values, i == study.fastest ? 1 : 0, i == study.cheapest ? 1 : 0, csv_field(row.why_not));
  }
  return out;
}

}  // namespace foretrain
