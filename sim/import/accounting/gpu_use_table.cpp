// A line is a head if one column numbers GPUs and another holds a utilisation or an amount of memory.
// The separator is not known beforehand: bars, commas, tabs and runs of two blanks are tried in turn, and the
// one that yields a head is kept for its rows.
#include "sim/import/accounting/gpu_use_table.hpp"

#include <algorithm>
#include <utility>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/readers.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// Limits against files that are no such tables.
constexpr std::size_t kMostGpuRows = 100'000;
constexpr std::size_t kMostGpuCells = 60;

/// Cuts a line where two or more blanks stand, so that a cell may hold single blanks.
std::vector<std::string_view> wide_cells(std::string_view line) {
  std::vector<std::string_view> out;
  while (!(line = trimmed(line)).empty() && out.size() < kMostGpuCells) {
    const std::size_t end = std::min(line.find("  "), line.size());
    out.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return out;
}

/// Returns the bytes of the unit that a head in lower case names; 1 when it names none.
double bytes_unit(std::string_view head) {
  if (holds(head, "gib") || holds(head, "gb")) return 1ll << 30;
  if (holds(head, "mib") || holds(head, "mb")) return 1 << 20;
  return holds(head, "kib") || holds(head, "kb") ? 1 << 10 : 1;
}

}  // namespace

std::vector<std::string_view> GpuUseTable::cells_of(std::string_view line) const {
  if (separator_ == ' ') return wide_cells(line);
  std::vector<std::string_view> out = split_at(line, separator_);
  for (std::string_view& cell : out) cell = trimmed(cell);
  // Lines such as "| a | b |" have an empty cell at each end.
  if (out.size() > 1 && out.front().empty()) out.erase(out.begin());
  if (out.size() > 1 && out.back().empty()) out.pop_back();
  if (out.size() > kMostGpuCells) out.resize(kMostGpuCells);
  return out;
}

// Some reports name the quantity above the table ("GPU memory") and the statistic in the head ("max (GiB)").
// A column in percent is no amount of memory, although its head may hold "mem".
GpuUseTable::Head GpuUseTable::head_of(std::string_view cell, const std::string& title) {
  const std::string head = lower_case(trimmed(cell.substr(0, 100)));
  const bool is_memory =
      holds(head, "mem") || holds(head, "gib") || holds(head, "mib") || holds(title, "memory");
  const double unit = bytes_unit(head);
  if (head == "host" || head == "hostname" || head == "node" || head == "nodename") return {Column::node};
  if (head == "gpu" || head == "gpu id" || head == "gpu_id" || head == "index" || head == "gpu index")
    return {Column::index};
  if (is_memory && !holds(head, "%") && holds(head, "total")) return {Column::memory_total, unit};
  if (is_memory && !holds(head, "%") && (holds(head, "max") || holds(head, "used") || holds(head, "peak")))
    return {Column::memory_used, unit};
  const bool is_share = holds(head, "util") || holds(head, "load") || holds(head, "mean (%)");
  return is_share && !is_memory ? Head{Column::utilization} : Head{};
}

bool GpuUseTable::take_head(const std::vector<std::string_view>& cells, const std::string& before) {
  std::vector<Head> heads;
  for (const std::string_view cell : cells) {
    // The first of several columns with one meaning counts.
    const Head head = head_of(cell, before);
    const bool is_known = std::ranges::any_of(
        heads, [&](const Head& h) { return h.column == head.column && h.column != Column::other; });
    heads.push_back(is_known ? Head{} : head);
  }
  const auto has = [&](Column column) {
    return std::ranges::any_of(heads, [&](const Head& h) { return h.column == column; });
  };
  // A table of other things may have one of the columns, so two are required.
  if (!has(Column::index) || !(has(Column::utilization) || has(Column::memory_used))) return false;
  columns_ = std::move(heads);
  return true;
}

bool GpuUseTable::take(const LogLine& line, JobSheet& sheet) {
  const std::string before = std::exchange(title_, lower_case(trimmed(line.text.substr(0, 200))));
  // Longer lines belong to no table.
  if (line.text.size() > 4000) return false;
  const char old = separator_;
  for (const char separator : {'|', ',', '\t', ' '}) {
    // A new head replaces the old one at any line; a report may hold several tables.
    separator_ = separator;
    if (!(separator == ' ' || holds(line.text, std::string_view(&separator, 1)))) continue;
    if (take_head(cells_of(line.text), before)) return true;
  }
  // This line is no head, so it is read with the separator of the last one.
  separator_ = old;
  if (columns_.empty()) return false;
  const std::vector<std::string_view> cells = cells_of(line.text);
  const bool is_row = cells.size() == columns_.size() && seen_.size() < kMostGpuRows;
  if (is_row) take_row(cells, line, sheet);
  return is_row;
}

/// Reads a row of the table. A row whose index is no number is skipped.
void GpuUseTable::take_row(const std::vector<std::string_view>& cells, const LogLine& line, JobSheet& sheet) {
  std::pair<std::string, int> name;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (columns_[i].column == Column::node) name.first = std::string(cells[i].substr(0, 200));
    if (columns_[i].column != Column::index) continue;
    const auto index = whole_count(cells[i]);
    // This is a rule between rows, or a row of sums.
    if (!index) return;
    name.second = *index;
  }
  // The figures of all rows are given together, with the place of the first row.
  if (first_line_ == 0) first_line_ = line.number;
  Seen& seen = seen_[name];
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int begin = static_cast<int>(cells[i].data() - line.text.data()) + 1;
    const JobCell cell{cells[i], {line.number, begin, static_cast<int>(cells[i].size())}, "GPU table"};
    Known<double> read;
    // The sheet checks and reports a value; here it is summed up instead of kept.
    if (columns_[i].column == Column::utilization) {
      sheet.share(read, cell);
      if (read) seen.sum += read->value, ++seen.rows;
    } else if (columns_[i].column == Column::memory_used || columns_[i].column == Column::memory_total) {
      sheet.bytes(read, cell, columns_[i].unit);
      double& most = columns_[i].column == Column::memory_used ? seen.used : seen.total;
      if (read) most = std::max(most, read->value);
    }
  }
}

// A figure of 0 bytes means that nothing was measured, so it stays empty.
void GpuUseTable::give(FinishedJob& job, JobSheet& sheet) {
  std::vector<MeasuredGpu> gpus;
  for (const auto& [name, seen] : seen_) {
    MeasuredGpu gpu{name.first, name.second, {}, {}, {}};
    if (seen.rows > 0) gpu.utilization = seen.sum / seen.rows;
    if (seen.used > 0) gpu.memory_used = seen.used;
    if (seen.total > 0) gpu.memory_total = seen.total;
    gpus.push_back(std::move(gpu));
  }
  if (!gpus.empty()) sheet.put(job.measured_gpus, std::move(gpus), {"", {first_line_, 1, 1}, "GPU table"});
  seen_.clear(), columns_.clear(), first_line_ = 0;
}

// A head is searched for in the first 64 KiB.
bool is_gpu_use_table(std::string_view text) {
  const SourceText source;
  Diagnostics diagnostics(source);
  std::vector<FinishedJob> jobs;
  JobSheet sheet(source, diagnostics, jobs);
  GpuUseTable table;
  LogLines lines(text.substr(0, 1 << 16));
  for (LogLine line; lines.next(line);) {
    table.take(line, sheet);
    if (table.has_head()) return true;
  }
  return false;
}

void read_gpu_use_table(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) {
  JobSheet sheet(source, diagnostics, jobs);
  GpuUseTable table;
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) table.take(line, sheet);
  FinishedJob* job = sheet.job("", 1);
  table.give(*job, sheet);
  if (!job->measured_gpus) diagnostics.report({1, 1, 1}, "the table has no row of a GPU");
}

}  // namespace foretrain
