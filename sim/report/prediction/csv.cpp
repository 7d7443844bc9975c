// Plain fields; only names may need quotes, and what is not known is empty (known_figures.hpp).
#include "sim/report/prediction/csv.hpp"

#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"

namespace foretrain {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_figures(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{},{}", interval->low_s, interval->high_s) : ",";
}

std::string csv_figures(const std::optional<Range>& range) {
  return range ? fmt::format("{},{}", range->low, range->high) : ",";
}

std::string write_csv(const Prediction& p, const ReportOptions&) {
  std::string out =
      "scenario,model,cluster,strategy,precision,gpus,nodes,batch_per_gpu,global_batch,steps_per_epoch,step_"
      "s,step_low_s,step_high_s,epoch_"
      "s,total_s,samples_per_s,speedup,efficiency,gpu_hours,"
      "memory_bytes,memory_capacity_bytes,compute_s,exposed_communication_s,input_stall_s,host_s,optimizer_s,"
      "other_s,"
      "startup_s,loader_restart_s,validation_s,checkpoint_s,periodic_s,largest_batch_per_gpu,scaling,"
      "total_low_s,total_high_s,speedup_low,speedup_high,chance_of_gain,fits,warnings,verdict,cause\n";
  const std::string names = fmt::format("{},{},{},{},{}", csv_field(p.scenario), csv_field(p.model),
                                        csv_field(p.cluster), csv_field(p.strategy), csv_field(p.precision));
  const std::string words = fmt::format("{},{},{}", csv_field(fmt::format("{}", fmt::join(p.warnings, "; "))),
                                        csv_field(p.answer.verdict), csv_field(p.answer.cause));
  for (const PredictionPoint& q : p.points) {
    const KnownFigures known = known_figures(q);
    out += fmt::format("{},{},{},{},{},{},{},{}", names, q.gpus, q.nodes, q.batch_per_gpu, q.global_batch,
                       csv_figure(known.steps_per_epoch), q.step_s, csv_figures(known.interval));
    out += fmt::format(",{},{},{},{},{},{},{},{}", csv_figure(known.epoch_s), csv_figure(known.total_s),
                       q.samples_per_s, csv_figure(known.speedup), csv_figure(known.efficiency),
                       csv_figure(known.gpu_hours), q.memory.total().count, q.memory_capacity.count);
    for (const double share : q.breakdown) out += fmt::format(",{}", share);
    out += fmt::format(",{},{},{},{},{},{},{}", q.overhead.startup_s, q.overhead.loader_restart_s,
                       q.overhead.validation_s, q.overhead.checkpoint_s, q.overhead.periodic_s,
                       q.largest_batch, p.strong_scaling ? "strong" : "weak");
    out += fmt::format(",{},{},{},{},{}\n", csv_figures(known.total_interval),
                       csv_figures(known.speedup_range), csv_figure(known.chance_of_gain), q.fits(), words);
  }
  return out;
}

std::string write_predictions_csv(const std::vector<Prediction>& predictions, const ReportOptions& options) {
  std::vector<std::string> texts;
  for (const Prediction& prediction : predictions) texts.push_back(write_csv(prediction, options));
  return joined_csv(texts);
}

std::string joined_csv(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += out.empty() ? text : text.substr(text.find('\n') + 1);
  return out;
}

}  // namespace foretrain
