// Writes the result of a search: the answer, how much of the space it is the best of, and one line for each
// setting.
//
// A case is known to be no better when it was predicted, or when its kernels or its loader alone take longer
// than the best step.
#include "sim/report/sweep/tune_reports.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/evidence/evidence_report.hpp"
#include "sim/report/fields/shared_fields.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/sweep/aligned_columns.hpp"

namespace foretrain {

namespace {

// A relative difference below this cannot be measured, so both values count as equally good.
constexpr double kTie = 0.001;
// Longest value or reason in a cell.
constexpr std::size_t kLongestReason = 60;

/// Returns by how many percent `figure` is worse than `best`.
double worse_percent(const TuneGoal& goal, double figure, double best) {
  return 100 * (goal.is_largest ? best / figure - 1 : figure / best - 1);
}

/// Returns another value of a setting and how it compares: predicted, bounded from below, impossible, or not
/// considered.
std::string neighbour_text(const TuneGoal& goal, const NeighbourCase& other, double best) {
  const std::string value = printable(shortened(text_of(other.value), kLongestReason));
  const double worse = worse_percent(goal, other.figure, best);
  switch (other.known) {
    case ComparisonCertainty::predicted:
      return worse < 100 * kTie ? fmt::format("{} as good", value)
                                : fmt::format("{} +{:.1f} %", value, worse);
    case ComparisonCertainty::cannot_be_better:
      return fmt::format("{} +{:.1f} % or more", value, std::max(0.0, worse));
    case ComparisonCertainty::cannot_run:
      return fmt::format("{} cannot: {}", value, printable(shortened(other.why_not, kLongestReason)));
    case ComparisonCertainty::not_looked_at:
      break;
  }
  return fmt::format("{} not looked at", value);
}

/// Returns the table of settings: name, best value, and the other values with everything else as in the best
/// case.
std::string axes_table(const TuneResult& search) {
  std::vector<Cells> rows{{"setting", "best", "others, all else as in the best"}};
  for (const TunedAxis& axis : search.axes) {
    std::string others;
    for (const NeighbourCase& other : axis.others)
      others +=
          (others.empty() ? "" : "; ") + neighbour_text(search.goal, other, search.tried[search.best].figure);
    rows.push_back({printable(axis.name), printable(shortened(text_of(axis.best), kLongestReason)), others});
  }
  return aligned_columns(rows, {true, true, true});
}

/// Returns how many cases were predicted, and which share of all cases is known to be no better.
std::string how_sure(const TuneResult& search) {
  const auto cases = static_cast<double>(search.cases.cases);
  std::string out = fmt::format(
      "{} of {}{} predicted ({:.2g} %). {}{:.3g} % of all are known to be no better: predicted, or what "
      "their "
      "kernels and their loader alone take is longer.\n",
      search.tried.size(), search.cases.is_exact ? "" : "about ", counted(search.cases.cases, "case"),
      cases > 0 ? 100 * static_cast<double>(search.tried.size()) / cases : 0,
      search.is_share_exact ? "" : "About ", std::floor(1e4 * search.share_known) / 100);
  if (search.share_known < 1)
    out += search.ran_out ? "The rest was not looked at: it ended at --most.\n"
                          : fmt::format("The rest was not looked at: {} led to nothing better.\n",
                                        counted(search.fruitless, "further start"));
  return out;
}

/// Returns the name of a certainty in JSON.
constexpr std::string_view name_of(ComparisonCertainty known) {
  constexpr std::string_view kNames[] = {"predicted", "cannot_be_better", "cannot_run", "not_looked_at"};
  return kNames[static_cast<std::size_t>(known)];
}

/// Returns a setting with the other values that were compared.
Json json_of(const TunedAxis& axis) {
  Json others = Json::array();
  for (const NeighbourCase& other : axis.others) {
    Json row{{"value", json_of_cell(other.value)}, {"known", name_of(other.known)}};
    const bool has_figure =
        other.known == ComparisonCertainty::predicted || other.known == ComparisonCertainty::cannot_be_better;
    row["figure"] = has_figure ? Json(other.figure) : Json(nullptr);
    if (!other.why_not.empty()) row["why_not"] = other.why_not;
    others.push_back(std::move(row));
  }
  return {{"name", axis.name}, {"best", json_of_cell(axis.best)}, {"others", std::move(others)}};
}

/// Returns a case with its settings and all figures.
Json json_of(const TuneResult& search, const TriedCase& tried) {
  Json settings = Json::object(), figures = Json::object();
  for (std::size_t c = 0; c < search.columns.size(); ++c)
    settings[search.columns[c]] = json_of_cell(tried.values[c]);
  for (const CaseFigure& figure : case_figures())
    figures[std::string(figure.name)] = json_of_cell(figure.of(tried.result));
  return {{"settings", std::move(settings)}, {"figures", std::move(figures)}};
}

}  // namespace

std::string write_tuning(const TuneAnswer& answer) {
  const TuneResult& search = answer.search;
  const std::string head = answer_head(answer.answer);
  if (!search.found()) return head;
  return head + measured_line_of(answer.measured) + "\n" + how_sure(search) + "\n" + axes_table(search) +
         "\n" + answer_basis(answer.answer);
}

// Columns: the varied settings, all figures, and the reason when a case cannot run.
std::string write_tuning_csv(const TuneAnswer& answer) {
  std::string out;
  for (const std::string& column : answer.search.columns) out += csv_field(column) + ",";
  for (const CaseFigure& figure : case_figures()) out += std::string(figure.name) + ",";
  out += "message\n";
  for (const TriedCase& tried : answer.search.tried) {
    for (const Value& value : tried.values)
      out += (std::holds_alternative<std::monostate>(value.data) ? "" : csv_field(text_of(value))) + ",";
    for (const CaseFigure& figure : case_figures()) {
      const Value value = tried.result.why_not.empty() ? figure.of(tried.result) : Value{};
      out += (std::holds_alternative<std::monostate>(value.data) ? "" : text_of(value)) + ",";
    }
    out += csv_field(tried.result.why_not) + "\n";
  }
  return out;
}

std::string write_tuning_json(const TuneAnswer& answer) {
  const TuneResult& search = answer.search;
  Json axes = Json::array();
  for (const TunedAxis& axis : search.axes) axes.push_back(json_of(axis));
  return json_text({{"schema", "foretrain.tuning/1"},
                    {"scenario", answer.scenario},
                    {"goal", search.goal.name},
                    {"best", search.found() ? json_of(search, search.tried[search.best]) : Json(nullptr)},
                    {"as_it_stands",
                     {{"gpus", answer.own_gpus},
                      {"figure", answer.own_figure ? Json(*answer.own_figure) : Json(nullptr)}}},
                    {"answer", declared_json(answer.answer)},
                    {"cases", search.cases.cases},
                    {"cases_are_exact", search.cases.is_exact},
                    {"predicted", search.tried.size()},
                    {"share_known", search.share_known},
                    {"share_is_exact", search.is_share_exact},
                    {"fruitless", search.fruitless},
                    {"ran_out", search.ran_out},
                    {"axes", std::move(axes)}});
}

}  // namespace foretrain
