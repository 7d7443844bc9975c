// Writes recorded programs side by side: a column for each program, and a line for each thing that it is,
// issues or sends.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

namespace {

// Number of kinds of collectives.
constexpr std::size_t kWireOperations = static_cast<std::size_t>(WireOperation::barrier) + 1;
// Stands for a number that is unknown or zero.
constexpr std::string_view kNothing = "-";

// Number and bytes of messages of one kind.
struct SentTotal {
  std::int64_t count = 0;
  Bytes bytes{};
  void add(Bytes more) {
    ++count;
    bytes += more;
  }
  std::string text() const {
    return count == 0 ? std::string(kNothing) : fmt::format("{}, {}", count, to_string(bytes));
  }
};

// Everything that rank 0 issues in an optimizer step.
struct IssuedTotals {
  std::int64_t operators = 0, reads = 0;
  std::array<SentTotal, kWireOperations> sent{};
  SentTotal sends{};
};

/// Counts the rows of the program's first rank.
IssuedTotals totals_of(const Program& program) {
  IssuedTotals out;
  for (const ProgramRow& row : program.ranks.front().rows) {
    if (row.kind == ProgramRow::Kind::op) ++out.operators;
    if (row.kind == ProgramRow::Kind::read) ++out.reads;
    if (row.kind == ProgramRow::Kind::send) out.sends.add(row.bytes);
    if (row.kind == ProgramRow::Kind::collective)
      out.sent[static_cast<std::size_t>(row.operation)].add(row.bytes);
  }
  return out;
}

// A line of the table.
struct ProgramsLine {
  std::string name;
  std::vector<std::string> cells;
};

/// Returns a line with `cell(totals)` for each program.
template <class Cell>
ProgramsLine line_of_each(std::string name, const std::vector<IssuedTotals>& totals, Cell cell) {
  ProgramsLine line{std::move(name), {}};
  for (const IssuedTotals& one : totals) line.cells.push_back(cell(one));
  return line;
}

/// Adds the lines about the programs themselves; "-" for an unknown number.
void add_facts(const std::vector<const Program*>& programs, std::vector<ProgramsLine>& lines) {
  const auto fact = [&](const char* name, std::int64_t Program::*number) {
    ProgramsLine line{name, {}};
    for (const Program* program : programs)
      line.cells.push_back(program->*number > 0 ? grouped_digits(program->*number) : std::string(kNothing));
    lines.push_back(std::move(line));
  };
  fact("ranks", &Program::world);
  fact("parameters", &Program::parameters);
  fact("trained", &Program::trained);
  fact("samples of a rank", &Program::batch);
  fact("backward passes", &Program::micro_steps);
}

/// Adds a line for each kind of message that at least one program sends.
void add_sent(const std::vector<IssuedTotals>& totals, std::vector<ProgramsLine>& lines) {
  for (std::size_t i = 0; i < kWireOperations; ++i) {
    if (std::ranges::any_of(totals, [i](const IssuedTotals& one) { return one.sent[i].count > 0; }))
      lines.push_back(line_of_each(std::string(name_of(static_cast<WireOperation>(i))), totals,
                                   [i](const IssuedTotals& one) { return one.sent[i].text(); }));
  }
  if (std::ranges::any_of(totals, [](const IssuedTotals& one) { return one.sends.count > 0; }))
    lines.push_back(line_of_each("sends", totals, [](const IssuedTotals& one) { return one.sends.text(); }));
}

}  // namespace

// Each column is as wide as its widest cell.
std::string write_programs_table(const std::vector<const Program*>& programs) {
  std::vector<IssuedTotals> totals;
  for (const Program* program : programs) totals.push_back(totals_of(*program));
  std::vector<ProgramsLine> lines{{"In a step of rank 0", {}}};
  for (const Program* program : programs) lines.front().cells.push_back(program->name);
  add_facts(programs, lines);
  lines.push_back(line_of_each("operators", totals,
                               [](const IssuedTotals& one) { return grouped_digits(one.operators); }));
  lines.push_back(line_of_each("reads of the host", totals,
                               [](const IssuedTotals& one) { return grouped_digits(one.reads); }));
  add_sent(totals, lines);
  std::string out;
  for (const ProgramsLine& line : lines) {
    out += fmt::format("{:<20}", line.name);
    for (std::size_t column = 0; column < programs.size(); ++column) {
      std::size_t width = 0;
      for (const ProgramsLine& other : lines) width = std::max(width, other.cells[column].size());
      out += fmt::format("  {:>{}}", line.cells[column], width);
    }
    out += '\n';
  }
  return out;
}

}  // namespace foretrain
