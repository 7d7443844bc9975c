// Writes the table of a study. Columns of axes are as wide as their cells; a combination that cannot run has
// its reason in place of figures.
//
// Columns: the varied settings, step, epoch, total, GPU time, samples per second, speedup over one GPU,
// efficiency, memory of a GPU, and the largest part of the step.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/evidence/evidence_report.hpp"
#include "sim/report/prediction/table.hpp"
#include "sim/report/study/study_reports.hpp"

namespace foretrain {

namespace {

// Names and widths of the columns with settings; the number of GPUs is always one of them.
struct Columns {
  std::vector<std::string> names;
  std::vector<std::size_t> widths;
};

/// Returns the settings of a row as text.
std::vector<std::string> cells_of(const StudyResult& study, const StudyRow& row) {
  std::vector<std::string> cells;
  for (const Value& value : row.values) cells.push_back(text_of(value));
  if (!varies(study, "run.gpus")) cells.push_back(std::to_string(row.gpus));
  return cells;
}

/// Returns the columns of all axes.
Columns columns_of(const StudyResult& study) {
  Columns columns;
  for (const StudyAxis& axis : study.axes) columns.names.push_back(axis.name);
  if (!varies(study, "run.gpus")) columns.names.emplace_back("gpus");
  for (const std::string& name : columns.names) columns.widths.push_back(name.size());
  for (const StudyRow& row : study.rows) {
    const std::vector<std::string> cells = cells_of(study, row);
    for (std::size_t i = 0; i < cells.size(); ++i)
      columns.widths[i] = std::max(columns.widths[i], cells[i].size());
  }
  return columns;
}

/// Returns cells aligned to the right.
std::string aligned(const Columns& columns, const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cells[i], columns.widths[i]);
  return out;
}

/// Returns the heading with what all combinations have in common.
std::string heading(const StudyResult& study) {
  std::string fixed;
  const auto add = [&](std::string_view key, std::string_view before, const std::string& text) {
    if (!varies(study, key)) fixed += fmt::format("{}{}{}", fixed.empty() ? "" : " ", before, text);
  };
  add("model.name", "", study.model);
  add("cluster.name", "on ", study.cluster);
  add("strategy.name", "with ", study.strategy);
  add("model.precision", "in ", study.precision);
  std::vector<std::string> names;
  for (const StudyAxis& axis : study.axes) names.push_back(axis.name);
  return fmt::format("{}: {}{}by {}\n\n", study.scenario, fixed, fixed.empty() ? "" : ", ",
                     fmt::join(names, ", "));
}

/// Returns the largest part of the step's breakdown with its share.
std::string bound(const PredictionPoint& p) {
  static constexpr std::array<std::string_view, kAccountCount> kNames{"compute", "communication", "input",
                                                                      "host",    "optimizer",     "other"};
  const auto most = std::max_element(p.breakdown.begin(), p.breakdown.end());
  return fmt::format("{} {} %", kNames[static_cast<std::size_t>(most - p.breakdown.begin())],
                     percent(*most / p.step_s, 0));
}

/// Returns the marks of the fastest and the cheapest combination.
std::string marks(const StudyResult& study, std::size_t row) {
  std::string out = row == study.fastest ? "  fastest" : "";
  if (row == study.cheapest) out += out.empty() ? "  cheapest" : ", cheapest";
  return out;
}

/// Returns the figures of a combination; "!" means that it does not fit into memory.
std::string figures(const StudyResult& study, std::size_t row) {
  const PredictionPoint& p = study.rows[row].point;
  const KnownFigures known = known_figures(p);
  const auto time = [](const std::optional<double>& value, double unit_s) {
    return value ? spoken_time(*value * unit_s) : std::string("-");
  };
  return fmt::format("{:>10} {:>11} {:>11} {:>11} {:>11} {:>8} {:>10} {:>9}{}  {:<18}{}",
                     to_string(seconds(p.step_s)), time(known.epoch_s, 1), time(known.total_s, 1),
                     time(known.gpu_hours, 3600), decimal(p.samples_per_s, 1), or_dash(known.speedup, 2),
                     known.efficiency ? percent(*known.efficiency, 1) + " %" : "-",
                     to_string(p.memory.total()), p.fits() ? "  " : " !", bound(p), marks(study, row));
}

/// Returns the table. Columns: settings, step, epoch, total, GPU time (GPUs times time), rate, speedup,
/// efficiency, memory, and the largest part of the step.
std::string lines(const StudyResult& study) {
  const Columns columns = columns_of(study);
  std::string out =
      fmt::format("{}{:>10} {:>11} {:>11} {:>11} {:>11} {:>8} {:>10} {:>9}    most of the step\n",
                  aligned(columns, columns.names), "step", "epoch", "total", "GPU time", "samples/s",
                  "speedup", "efficiency", "memory");
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    const StudyRow& row = study.rows[i];
    out += without_trailing_spaces(aligned(columns, cells_of(study, row)) +
                                   (row.why_not.empty() ? figures(study, i) : "  not here: " + row.why_not)) +
           "\n";
  }
  return out;
}

/// Returns a combination in words, such as "batch 64, optimizer sgd on 2 GPUs".
std::string words(const StudyResult& study, const StudyRow& row) {
  std::string out;
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    if (study.axes[i].key == "run.gpus" || std::holds_alternative<std::monostate>(row.values[i].data))
      continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", study.axes[i].name, text_of(row.values[i]));
  }
  return fmt::format("{}{}{}", out, out.empty() ? "" : " on ", counted(row.gpus, "GPU"));
}

/// Returns the fastest and the cheapest combination. Without a number of samples their rates are compared.
std::string best(const StudyResult& study) {
  // There is no winner when nothing fits.
  if (!study.fastest || !study.cheapest) return "\nNothing is fastest: no combination fits into memory.\n";
  const StudyRow &fastest = study.rows[*study.fastest], &cheapest = study.rows[*study.cheapest];
  // Times of the run need the number of samples.
  const bool known = study.samples > 0;
  const std::string time = known ? spoken_time(fastest.point.total_s)
                                 : fmt::format("{:.1f} samples/s", fastest.point.samples_per_s);
  const std::string cost =
      known ? spoken_time(cheapest.point.gpu_hours * 3600) + " of GPU time"
            : fmt::format("{:.1f} samples/s per GPU", cheapest.point.samples_per_s / cheapest.gpus);
  return fmt::format("\nFastest: {}, {}.\nCheapest: {}, {}.\n", words(study, fastest), time,
                     words(study, cheapest), cost);
}

}  // namespace

std::string write_study_table(const StudyResult& study, const ReportOptions& options) {
  std::string out = heading(study) + lines(study) + best(study);
  if (study.samples == 0) out += "Epoch and total need data.samples, as in --set data.samples=50000.\n";
  out += measured_line_of(study.measured);
  for (const std::string& warning : study.warnings) out += "warning: " + warning + "\n";
  if (!study.note.empty()) out += "\n" + study.note + "\n";
  if (!options.explain) return out;
  out += "\nDecisions\n";
  for (const Decision& d : study.decisions.list())
    out += fmt::format("  {}: {} ({})\n", d.subject, d.choice, d.why);
  return out;
}

}  // namespace foretrain
