// Writes states and rows of sweeps. Rows stand below their column names, in columns as wide as their cells.
#include "sim/report/sweep/sweep_reports.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/report/prediction/csv.hpp"
#include "sim/report/sweep/aligned_columns.hpp"
#include "sim/report/sweep/sweep_fields.hpp"

namespace foretrain {

namespace {

// Widest cell of a table in characters. The message of a failed case is a sentence and stands in the last
// column.
constexpr std::size_t kWidestCell = 60;

/// Returns a value as a cell, with four significant digits or as a whole number.
std::string cell_of(const Value& value) {
  // Numbers from 1000 up to a million are easier to read without an exponent.
  if (const auto* number = std::get_if<double>(&value.data))
    return std::abs(*number) < 1e6 && std::abs(*number) >= 1000 ? fmt::format("{:.0f}", *number)
                                                                : fmt::format("{:.4g}", *number);
  return printable(shortened(text_of(value), kWidestCell));
}

/// Returns the finished share of a database's cases.
std::string share_of(const SweepState& state) {
  if (state.all.cases == 0) return "-";
  return fmt::format("{:.1f} %",
                     100.0 * static_cast<double>(state.done) / static_cast<double>(state.all.cases));
}

}  // namespace

// SQLite's NULL becomes null.
Json json_of_cell(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return *integer;
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return nullptr;
}

// Columns: file, name of the sweep, shard, finished cases, all cases, share, cases that cannot run, cases per
// second. Below stand cases that ended their worker process.
std::string write_states(const std::vector<SweepState>& states) {
  std::vector<Cells> rows{{"file", "sweep", "shard", "done", "of", "", "failed", "cases/s"}};
  std::string crashes;
  for (const SweepState& s : states)
    rows.push_back({printable(shortened(s.file, kWidestCell)), printable(shortened(s.sweep, kWidestCell)),
                    fmt::format("{}/{}", s.shard.part, s.shard.of), fmt::format("{}", s.done),
                    fmt::format("{}{}", s.all.is_exact ? "" : "about ", s.all.cases), share_of(s),
                    fmt::format("{}", s.failed), s.rate > 0 ? fmt::format("{:.0f}", s.rate) : "-"});
  // Only some crashes are kept with their messages; the others are counted.
  for (const SweepState& s : states) {
    for (const std::string& crash : s.crashes)
      crashes +=
          fmt::format("warning: {}: {}\n", printable(shortened(s.file, kWidestCell)), printable(crash));
    if (static_cast<std::size_t>(s.crashed) > s.crashes.size())
      crashes += fmt::format(
          "warning: {}: {} more cases ended their workers; `sweep show --failed` lists them\n",
          printable(shortened(s.file, kWidestCell)), static_cast<std::size_t>(s.crashed) - s.crashes.size());
  }
  return aligned_columns(rows, {true, true, true, false, false, false, false, false}) + crashes;
}

std::string write_states_json(const std::vector<SweepState>& states) {
  return json_text(declared_json(SweepStates{states}));
}

// A column with any text is left-aligned.
std::string write_answer(const SweepAnswer& answer) {
  std::vector<Cells> rows{{}};
  std::vector<bool> is_text(answer.columns.size(), false);
  for (const std::string& column : answer.columns)
    rows.front().push_back(printable(shortened(column, kWidestCell)));
  for (const std::vector<Value>& row : answer.rows) {
    Cells& cells = rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      cells.push_back(cell_of(row[c]));
      is_text[c] = is_text[c] || std::holds_alternative<std::string>(row[c].data);
    }
  }
  std::string out = printable(answer.heading) + "\n\n" + aligned_columns(rows, is_text);
  for (const std::string& warning : answer.warnings) out += "warning: " + warning + "\n";
  return out;
}

// NULL becomes an empty field.
std::string write_answer_csv(const SweepAnswer& answer) {
  std::string out;
  for (std::size_t c = 0; c < answer.columns.size(); ++c)
    out += (c == 0 ? "" : ",") + csv_field(answer.columns[c]);
  out += "\n";
  for (const std::vector<Value>& row : answer.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool is_empty = std::holds_alternative<std::monostate>(row[c].data);
      out += (c == 0 ? "" : ",") + (is_empty ? "" : csv_field(text_of(row[c])));
    }
    out += "\n";
  }
  return out;
}

std::string write_answer_json(const SweepAnswer& answer) { return json_text(declared_json(answer)); }

}  // namespace foretrain
