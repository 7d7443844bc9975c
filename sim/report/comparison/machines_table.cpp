// Writes the table of machines. Columns are as wide as their cells. When they exceed kMachineColumns, as with
// a long name of a cluster, the least important columns are dropped first.
//
// Columns: cluster, GPU, GPUs, nodes, step, length of the run or epoch (or the rate), speed relative to the
// fastest machine, GPU-hours, cost, energy in kWh, and memory of a GPU.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/spoken.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"

namespace foretrain {

namespace {

// A column of the table.
struct Column {
  std::string heading;
  std::function<std::string(const MachineRow&)> cell;
  // True for names, which are left-aligned; figures are right-aligned.
  bool is_left = false;
  // Columns with the largest number are dropped first when the table is too wide; 0: never.
  int priority = 0;
  std::size_t width = 0;
};

/// Returns a value with two significant digits, or without decimals from 10 on.
std::string figure(double value) {
  if (value <= 0) return "-";
  return value < 10 ? fmt::format("{:.2g}", value) : decimal(value, 0);
}

/// Returns predicted and available memory of a GPU in GB (10^9 bytes).
std::string memory_of(const PredictionPoint& p) {
  const double gigabytes = static_cast<double>(p.memory.total().count) / 1e9,
               there = static_cast<double>(p.memory_capacity.count) / 1e9;
  return fmt::format("{} of {} GB", decimal(gigabytes, gigabytes < 10 ? 1 : 0), decimal(there, 0));
}

/// Returns the column for the length of the run or of an epoch; without either, the rate.
Column length_column(const MachineComparison& c) {
  if (c.amount == AmountOf::million_samples)
    return {.heading = "samples/s", .cell = [](const MachineRow& row) {
              const double rate = row.point->samples_per_s;
              return decimal(rate, rate < 100 ? 1 : 0);
            }};
  return {.heading = c.amount == AmountOf::run ? "run" : "epoch",
          .cell = [](const MachineRow& row) { return spoken_duration(row.time_s); }};
}

/// Returns the cost; its unit is added when costs are not comparable.
std::string cost_of(const MachineComparison& c, const MachineRow& row) {
  if (!row.cost) return "-";
  const std::string cost = figure(*row.cost);
  return c.counts_cost || row.cost_unit.empty() ? cost : cost + " " + row.cost_unit;
}

/// Returns all columns. `speed` is relative to the fastest row; GPU-hours, cost and kWh are for the amount
/// below the table.
std::vector<Column> columns_of(const MachineComparison& c) {
  const bool has_cost =
      std::ranges::any_of(c.rows, [](const MachineRow& row) { return row.cost.has_value(); });
  std::vector<Column> columns{
      {.heading = "cluster", .cell = [](const MachineRow& row) { return row.cluster; }, .is_left = true},
      {.heading = "GPU",
       .cell = [](const MachineRow& row) { return short_gpu_name(row.gpu); },
       .is_left = true},
      {.heading = "GPUs", .cell = [](const MachineRow& row) { return fmt::format("{}", row.gpus); }},
      {.heading = "nodes",
       .cell = [](const MachineRow& row) { return fmt::format("{}", row.nodes); },
       .priority = 4},
      {.heading = "step", .cell = [](const MachineRow& row) { return spoken_duration(row.point->step_s); }},
      length_column(c),
      {.heading = "speed",
       .cell = [](const MachineRow& row) { return percent(row.speed, row.speed < 0.1 ? 1 : 0) + " %"; },
       .priority = 1},
      {.heading = "GPU-hours",
       .cell = [](const MachineRow& row) { return figure(row.gpu_hours); },
       .priority = has_cost ? 1 : 0}};
  if (has_cost) {
    const bool has_unit = c.counts_cost && !c.rows.front().cost_unit.empty();
    columns.push_back({.heading = has_unit ? c.rows.front().cost_unit : "cost",
                       .cell = [&c](const MachineRow& row) { return cost_of(c, row); }});
  }
  columns.push_back({.heading = "kWh",
                     .cell = [](const MachineRow& row) { return figure(row.energy_kwh); },
                     .priority = 3});
  columns.push_back({.heading = "memory per GPU",
                     .cell = [](const MachineRow& row) { return memory_of(*row.point); },
                     .priority = 2});
  return columns;
}

// The first columns are names and stand in every row; other cells only in rows that run.
constexpr std::size_t kNameColumns = 3;

/// Sets the widths and drops columns until the table fits or no column can be dropped.
void fit_widths(std::vector<Column>& columns, const MachineComparison& c) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].width = columns[i].heading.size();
    for (const MachineRow& row : c.rows)
      if (row.runs() || i < kNameColumns)
        columns[i].width = std::max(columns[i].width, columns[i].cell(row).size());
  }
  const auto total = [&columns] {
    std::size_t width = 0;
    for (const Column& column : columns) width += 2 + column.width;
    return width;
  };
  while (total() > kMachineColumns) {
    const auto least_missed = std::ranges::max_element(columns, {}, &Column::priority);
    // Every column that may be dropped is gone.
    if (least_missed->priority == 0) return;
    columns.erase(least_missed);
  }
}

/// Returns a cell with its padding.
std::string padded(const Column& column, const std::string& text) {
  return column.is_left ? fmt::format("  {:<{}}", text, column.width)
                        : fmt::format("  {:>{}}", text, column.width);
}

/// Returns `text` behind `first`, wrapped at kMachineColumns; further lines begin below the end of `first`.
std::string filled(const std::string& first, std::string_view text) {
  const std::size_t indent = std::min(first.size(), kMachineColumns / 2);
  std::string out, line = first;
  bool is_first = true;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    // A number and its percent sign stay on one line.
    if (text.substr(end).starts_with(" %")) end = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!is_first && line.size() + 1 + word.size() > kMachineColumns) {
      out += line + "\n";
      line = std::string(indent, ' '), is_first = true;
    }
    if (!is_first) line += ' ';
    line += word;
    is_first = false;
  }
  return out + line + "\n";
}

// Width of the labels below the table.
constexpr std::size_t kLabelColumns = 14;
std::string labelled_line(std::string_view label, std::string_view text) {
  return filled(fmt::format("{:<{}}", label, kLabelColumns), text);
}

/// Returns the table. A row that cannot run has its reason behind the names.
std::string table_of(const MachineComparison& c) {
  std::vector<Column> columns = columns_of(c);
  fit_widths(columns, c);
  std::string out;
  for (const Column& column : columns) out += padded(column, column.heading);
  out += "\n";
  for (const MachineRow& row : c.rows) {
    std::string line;
    for (std::size_t i = 0; i < (row.runs() ? columns.size() : kNameColumns); ++i)
      line += padded(columns[i], columns[i].cell(row));
    out += row.runs() ? line + "\n" : filled(line + "  ", row.why_not);
  }
  return out;
}

/// Returns what was trained.
std::string asked(const MachineComparison& c) {
  return fmt::format(
      "{} with {}, {}, {}.", c.training, c.strategy, c.precision,
      c.strong_scaling ? fmt::format("global batch {}", c.batch) : fmt::format("batch {} per GPU", c.batch));
}

/// Returns what times and costs are of, and what decides which machine is the cheapest.
std::string amounts(const MachineComparison& c) {
  std::string text = "Times, GPU-hours, cost and energy are of ";
  if (c.amount == AmountOf::run)
    text += fmt::format("the whole run: {} of {} samples, with start-up.",
                        c.epochs == 1 ? "1 epoch" : fmt::format("{:g} epochs", c.epochs), c.samples);
  else if (c.amount == AmountOf::epoch)
    text += fmt::format("one epoch's steps ({} samples); --epochs N gives those of the run.", c.samples);
  else
    text += "a million samples; --dataset NAME and --epochs N give those of the run.";
  const bool has_cost =
      std::ranges::any_of(c.rows, [](const MachineRow& row) { return row.cost.has_value(); });
  if (has_cost && !c.counts_cost)
    text += " Prices are missing or in several units, so GPU-hours are compared.";
  if (!has_cost) text += " No price is known, so GPU-hours are compared (--price CLUSTER=X gives one).";
  return text;
}

// Largest number of warnings; the other formats have all.
constexpr std::size_t kWarnings = 4;
std::string warnings_of(const MachineComparison& c) {
  const std::size_t shown = std::min(kWarnings, c.warnings.size());
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += labelled_line(i == 0 ? "Warning" : "", c.warnings[i] + ".");
  if (c.warnings.size() > shown)
    out += labelled_line(
        "", fmt::format("{} more with --format json.",
                        counted(static_cast<std::int64_t>(c.warnings.size() - shown), "warning")));
  return out;
}

/// Returns the measured runs that calibrate the predictions. Their texts begin with the label, which is
/// removed.
std::string measured_of(const MachineComparison& c) {
  constexpr std::string_view kWord = "Measured ";
  std::string out;
  for (const std::string& text : c.measured)
    out += labelled_line("Measured", text.starts_with(kWord) ? text.substr(kWord.size()) : text);
  return out;
}

/// Returns the decisions of the model on each cluster, for --explain.
std::string decisions(const MachineComparison& c) {
  std::string out;
  for (const auto& [cluster, list] : c.decisions) {
    out += fmt::format("\nDecisions on {}\n", cluster);
    for (const Decision& d : list.list()) out += fmt::format("  {}: {} ({})\n", d.subject, d.choice, d.why);
  }
  return out;
}

}  // namespace

// --quiet prints the verdict alone.
std::string write_machines_table(const MachineComparison& c, const ReportOptions& options) {
  std::string out = filled("", c.verdict);
  if (options.quiet) return out;
  out += "\n" + table_of(c) + "\n" + labelled_line("Asked", asked(c)) + labelled_line("Amounts", amounts(c));
  for (std::size_t i = 0; i < c.assumed.size(); ++i)
    out += labelled_line(i == 0 ? "Assumed" : "", c.assumed[i] + ".");
  out += measured_of(c) + warnings_of(c);
  if (options.explain) out += decisions(c);
  return out;
}

}  // namespace foretrain
