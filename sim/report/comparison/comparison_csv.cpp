// Figures of a strategy that cannot run are empty fields.
#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/prediction/csv.hpp"

namespace foretrain {

namespace {

std::string comparison_figures(const ComparedStrategy& row) {
  if (!row.why_not.empty()) return fmt::format(",,,,,,,,,,,,,{}", csv_field(row.why_not));
  const PredictionPoint& p = row.point;
  const KnownFigures known = known_figures(p);
  const std::optional<double> ratio = known_ratio(row);
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},", p.batch_per_gpu, p.global_batch, p.step_s,
                     csv_figure(known.epoch_s), p.samples_per_s, csv_figure(known.speedup), csv_figure(ratio),
                     csv_figures(ratio ? std::optional(row.ratio_range) : std::nullopt),
                     p.breakdown[static_cast<std::size_t>(Account::exposed_communication)],
                     p.memory.total().count, p.fits() ? 1 : 0,
                     row.against_best.empty() ? "" : csv_field(differences_in_words(row.against_best)));
}

}  // namespace

std::string write_comparison_csv(const Comparison& c, const ReportOptions&) {
  std::string out =
      "scenario,model,cluster,precision,gpus,nodes,rank,strategy,standing,needs,batch_per_gpu,global_batch,"
      "step_s,epoch_s,"
      "samples_per_s,speedup,ratio,ratio_low,ratio_high,"
      "exposed_communication_s,memory_bytes,fits,against_best,why_not\n";
  for (const ComparedGpus& numbers : c.numbers) {
    int rank = 0;
    for (const ComparedStrategy& row : numbers.strategies)
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(c.scenario), csv_field(c.model),
                         csv_field(c.cluster), csv_field(c.precision), numbers.gpus, numbers.nodes, ++rank,
                         csv_field(row.strategy), name_of(row.standing), csv_field(row.needs),
                         comparison_figures(row));
  }
  return out;
}

std::string write_comparisons_csv(const std::vector<Comparison>& comparisons, const ReportOptions& options) {
  std::vector<std::string> texts;
  for (const Comparison& comparison : comparisons) texts.push_back(write_comparison_csv(comparison, options));
  return joined_csv(texts);
}

std::string write_matrix_csv(const StrategyMatrix& m) {
  std::string out = "gpus,model,cluster,best,others_as_fast,step_s,speedup,fits,runner_up,runner_up_by\n";
  for (const StrategyChoice& c : m.choices) {
    const std::string by = c.runner_up.empty() ? "" : fmt::format("{}", c.runner_up_by);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", m.gpus, csv_field(c.model), csv_field(c.cluster),
                       c.best, c.others_as_fast, c.step_s,
                       csv_figure(c.fits ? std::optional(c.speedup) : std::nullopt), c.fits ? 1 : 0,
                       c.runner_up, by);
  }
  return out;
}

}  // namespace foretrain
