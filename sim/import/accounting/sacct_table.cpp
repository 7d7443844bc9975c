// Reader of sacct -P and -p: columns between "|" in any order, named by a header such as
// "JobID|State|Elapsed|AllocTRES".
// Rows of steps (123.batch, 123.0) belong to their job (sacct(1), "Job Accounting Fields"). A step's use of
// memory and GPUs is taken from its row, all else from the row of the job.
// Unknown columns are skipped. A row with another number of columns than the header is reported.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/accounting/readers.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Limit of rows in one file.
constexpr std::size_t kMostRows = 500'000;

/// A row while it is read. Cells whose meaning depends on other columns are kept here until the end of the
/// row.
struct SacctRow {
  JobSheet& sheet;
  FinishedJob& job;
  bool is_step = false;
  JobCell memory_asked{}, tasks{}, used_most{}, used_mean{}, used_total{}, largest{};
};

/// A function that reads one cell of a known column.
using TakeCell = void (*)(SacctRow& row, const JobCell& cell);
/// A known column of sacct.
struct SacctColumn {
  std::string_view name;
  /// True if rows of steps hold it; other columns count in rows of jobs alone.
  bool of_step = false;
  TakeCell take = nullptr;
};

/// Reads a plain number of seconds or minutes, where `unit` is the seconds of one.
void take_raw(SacctRow& row, Known<double>& field, const JobCell& cell, double unit) {
  if (says_nothing(cell.text)) return;
  const auto value = whole_count(cell.text);
  value ? row.sheet.put(field, *value * unit, cell) : row.sheet.mistake(cell, "number", "3600");
}

/// Takes nothing: the column is known, but it is read elsewhere.
void ignore(SacctRow&, const JobCell&) {}

/// The known columns, in the order in which they are read. Since the first value counts, what the job was
/// given stands before what it asked for.
const std::vector<SacctColumn>& columns_of_sacct() {
  static const std::vector<SacctColumn> rows{
      {"jobid", false, ignore},
      {"jobidraw", false, ignore},
      {"jobname", false, [](SacctRow& r, const JobCell& c) { r.sheet.text(r.job.name, c); }},
      {"cluster", false, [](SacctRow& r, const JobCell& c) { r.sheet.text(r.job.cluster, c); }},
      {"partition", false, [](SacctRow& r, const JobCell& c) { r.sheet.text(r.job.partition, c); }},
      {"state", false, [](SacctRow& r, const JobCell& c) { r.sheet.state(r.job, c); }},
      {"exitcode", false, [](SacctRow& r, const JobCell& c) { r.sheet.exit_code(r.job, c); }},
      {"elapsedraw", false, [](SacctRow& r, const JobCell& c) { take_raw(r, r.job.elapsed_s, c, 1); }},
      {"elapsed", false, [](SacctRow& r, const JobCell& c) { r.sheet.seconds(r.job.elapsed_s, c); }},
      {"timelimit", false, [](SacctRow& r, const JobCell& c) { r.sheet.limit(r.job.limit_s, c); }},
      {"timelimitraw", false,
       [](SacctRow& r, const JobCell& c) {
         // Timelimit is preferred; the raw minutes count only where it is absent or says nothing.
         if (!r.job.limit_s && whole_count(c.text)) take_raw(r, r.job.limit_s, c, 60);
       }},
      {"start", false, [](SacctRow& r, const JobCell& c) { r.sheet.text(r.job.start, c); }},
      {"end", false, [](SacctRow& r, const JobCell& c) { r.sheet.text(r.job.end, c); }},
      {"nodelist", false, [](SacctRow& r, const JobCell& c) { r.sheet.text(r.job.node_list, c); }},
      {"alloctres", false, [](SacctRow& r, const JobCell& c) { r.sheet.resources(r.job, c); }},
      {"allocnodes", false, [](SacctRow& r, const JobCell& c) { r.sheet.count(r.job.nodes, c); }},
      {"nnodes", false, [](SacctRow& r, const JobCell& c) { r.sheet.count(r.job.nodes, c); }},
      {"alloccpus", false, [](SacctRow& r, const JobCell& c) { r.sheet.count(r.job.cpus, c); }},
      {"ncpus", false, [](SacctRow& r, const JobCell& c) { r.sheet.count(r.job.cpus, c); }},
      {"reqtres", false, [](SacctRow& r, const JobCell& c) { r.sheet.resources(r.job, c); }},
      {"reqmem", false, [](SacctRow& r, const JobCell& c) { r.memory_asked = c; }},
      {"totalcpu", false, [](SacctRow& r, const JobCell& c) { r.sheet.seconds(r.job.cpu_s, c); }},
      {"admincomment", false, [](SacctRow& r, const JobCell& c) { r.sheet.admin_comment(r.job, c); }},
      {"ntasks", true, [](SacctRow& r, const JobCell& c) { r.tasks = c; }},
      {"maxrss", true, [](SacctRow& r, const JobCell& c) { r.largest = c; }},
      {"tresusageintot", true, [](SacctRow& r, const JobCell& c) { r.used_total = c; }},
      {"tresusageinmax", true, [](SacctRow& r, const JobCell& c) { r.used_most = c; }},
      {"tresusageinave", true, [](SacctRow& r, const JobCell& c) { r.used_mean = c; }}};
  return rows;
}

/// Returns the name of a column in lower case, without a width: "JobName%30" is "jobname".
std::string column_name(std::string_view cell) {
  return lower_case(trimmed(cell.substr(0, std::min(cell.find('%'), cell.size()))));
}

/// Says whether a line is a header: at least two of its cells name known columns.
bool is_header(std::string_view line) {
  if (!holds(line, "|") || line.size() > 20'000) return false;
  std::size_t known = 0;
  for (const std::string_view cell : split_at(line, '|')) {
    const std::string name = column_name(cell);
    known += std::ranges::any_of(columns_of_sacct(), [&](const SacctColumn& c) { return c.name == name; });
  }
  return known >= 2;
}

/// Returns the amount of a resource in a list such as "cpu=00:01:02,mem=123456K"; no value when the list
/// lacks it.
std::optional<double> used_of(const JobCell& cell, std::string_view name) {
  const auto list = resource_list(cell.text);
  const auto found = list.find(name);
  return found == list.end() ? std::nullopt : memory_bytes(found->second);
}

/// Keeps the highest value over the steps. Zero means that nothing was measured.
void keep_largest(Known<double>& field, double value, const FigurePlace& place) {
  if (value > 0 && (!field || field->value < value)) field = Figure<double>{value, place};
}

/// Takes a step's use: the total over its tasks, or the largest task times the number of tasks, as seff
/// estimates it.
void finish_step(SacctRow& row) {
  FinishedJob& job = row.job;
  const double tasks = std::clamp(whole_count(row.tasks.text).value_or(1), 1, 1'000'000);
  const auto total = used_of(row.used_total, "mem");
  std::optional<double> largest;
  if (!says_nothing(row.largest.text)) {
    largest = memory_bytes(row.largest.text);
    if (!largest) row.sheet.mistake(row.largest, "amount of memory", "123456K");
  }
  const JobCell& place = total ? row.used_total : row.largest;
  if (total || largest)
    keep_largest(job.memory_used, total ? *total : *largest * tasks, row.sheet.place_of(place));
  // Utilisation is summed in percent over GPUs, so it is divided by their number. The job's row came first
  // and gave it.
  const auto all = used_of(row.used_total, "gres/gpuutil"), mean = used_of(row.used_mean, "gres/gpuutil");
  if ((all || mean) && job.gpus && job.gpus->value > 0)
    keep_largest(job.gpu_utilization, std::min((all ? *all : *mean * tasks) / 100 / job.gpus->value, 1.0),
                 row.sheet.place_of(all ? row.used_total : row.used_mean));
  if (const auto most = used_of(row.used_most, "gres/gpumem"))
    keep_largest(job.gpu_memory_used, *most, row.sheet.place_of(row.used_most));
}

/// Takes ReqMem. In older versions it is of a core ("4Gc") or of a node ("16Gn"), in newer ones of the whole
/// job.
/// A requested amount in AllocTRES or ReqTRES is more precise and stays.
void finish_job(SacctRow& row) {
  FinishedJob& job = row.job;
  if (says_nothing(row.memory_asked.text) || job.memory_asked) return;
  row.sheet.bytes(job.memory_asked, row.memory_asked, 1 << 20);
  const std::string_view text = trimmed(row.memory_asked.text);
  const Known<int>& times = text.ends_with('c') ? job.cpus : job.nodes;
  if (!job.memory_asked || !(text.ends_with('c') || text.ends_with('n'))) return;
  // The amount of the job is not known without the number of cores or nodes.
  if (times)
    job.memory_asked->value *= times->value;
  else
    job.memory_asked.reset();
}

/// Reads the lines of a file: headers, rows, and prompts or remarks between them.
class SacctTable {
 public:
  SacctTable(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs)
      : sheet_(source, diagnostics, jobs), diagnostics_(diagnostics) {}

  /// Returns false when the limit of jobs or rows is reached; the rest of the file is then not read.
  bool read(const LogLine& line) {
    // This is a prompt, or a remark.
    if (!holds(line.text, "|")) return true;
    if (is_header(line.text)) return take_header(line.text), true;
    if (header_.empty()) return true;
    std::vector<std::string_view> cells = split_at(line.text, '|');
    // Rows of sacct -p end in one more "|".
    if (cells.size() == header_.size() + 1 && trimmed(cells.back()).empty()) cells.pop_back();
    if (cells.size() != header_.size())
      return diagnostics_.report(
                 {line.number, 1, 1},
                 fmt::format("{} columns, but the header has {}", cells.size(), header_.size()),
                 "a job name with | in it cannot be read: leave JobName out of --format"),
             true;
    return take_row(line, cells);
  }

 private:
  void take_header(std::string_view text) {
    header_.clear();
    for (const std::string_view cell : split_at(text, '|')) header_.push_back(column_name(cell));
    if (!header_.empty() && header_.back().empty()) header_.pop_back();
  }
  /// Returns the index of a column, or the number of columns when the header lacks it.
  std::size_t place(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(header_, name) - header_.begin());
  }
  std::string_view id_in(const std::vector<std::string_view>& cells) const {
    std::size_t at_id = place("jobid");
    if (at_id == header_.size()) at_id = place("jobidraw");
    return at_id == header_.size() ? std::string_view() : trimmed(cells[at_id]);
  }
  /// Reads one row. The part of the id before "." names the job, what follows names the step.
  bool take_row(const LogLine& line, const std::vector<std::string_view>& cells) {
    const std::string_view id = id_in(cells);
    const std::size_t dot = std::min(id.find('.'), id.size());
    FinishedJob* job = ++rows_ > kMostRows ? nullptr : sheet_.job(id.substr(0, dot), line.number);
    if (job == nullptr) return false;
    SacctRow row{sheet_, *job, dot < id.size()};
    for (const SacctColumn& column : columns_of_sacct()) {
      const std::size_t at_cell = place(column.name);
      // Steps cannot be told from jobs without an id, and a job's own row has empty cells in the columns of
      // steps.
      // Therefore only rows of steps are restricted to some columns.
      if (at_cell == header_.size() || (row.is_step && !column.of_step)) continue;
      const std::string_view text = cells[at_cell];
      const int begin = static_cast<int>(text.data() - line.text.data()) + 1;
      column.take(
          row,
          {text, {line.number, begin, static_cast<int>(std::max<std::size_t>(1, text.size()))}, column.name});
    }
    if (!row.is_step) finish_job(row);
    finish_step(row);
    return true;
  }

  JobSheet sheet_;
  Diagnostics& diagnostics_;
  std::vector<std::string> header_;
  std::size_t rows_ = 0;
};

}  // namespace

// A header is searched for in the first 64 KiB.
bool is_sacct_table(std::string_view text) {
  LogLines lines(text.substr(0, 1 << 16));
  for (LogLine line; lines.next(line);) {
    if (is_header(line.text)) return true;
  }
  return false;
}

void read_sacct_table(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) {
  SacctTable table(source, diagnostics, jobs);
  LogLines lines(source.text);
  for (LogLine line; lines.next(line);) {
    if (!table.read(line)) return;
  }
}

}  // namespace foretrain
