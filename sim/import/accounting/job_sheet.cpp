// This file holds what the readers of accounting share: from cells to figures, and JSON of any shape.
// No value of a file is trusted: each one is bounded, and JSON is given up at a depth before it can exhaust
// the stack.
#include "sim/import/accounting/job_sheet.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/gzip.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// Limit of jobs in one file.
constexpr std::size_t kMostJobs = 20'000;
constexpr std::size_t kLongestName = 1000;
/// Limit of a payload in bytes, packed and unpacked. Ten thousand GPUs take about a megabyte.
constexpr std::size_t kLargestSummary = std::size_t{16} << 20;
constexpr int kDeepestSummary = 8;

}  // namespace

JobSheet::JobSheet(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs)
    : source_(source), diagnostics_(diagnostics), jobs_(jobs) {}

FinishedJob* JobSheet::job(std::string_view id, int line) {
  const std::string name = shortened(trimmed(id), 100);
  if (const auto found = places_.find(name); found != places_.end() && !name.empty())
    return &jobs_[found->second];
  // The message is given once; the reader stops at the nullptr.
  if (jobs_.size() >= kMostJobs) {
    if (!told_) diagnostics_.report({line, 1, 1}, fmt::format("more than {} jobs", kMostJobs));
    told_ = true;
    return nullptr;
  }
  places_[name] = jobs_.size();
  jobs_.emplace_back();
  jobs_.back().id = name;
  return &jobs_.back();
}

void JobSheet::rename(FinishedJob& job, std::string_view id) {
  job.id = shortened(trimmed(id), 100);
  places_.emplace(job.id, static_cast<std::size_t>(&job - jobs_.data()));
}

// JSON and payloads reuse one span for many figures, so the key is what tells them apart.
FigurePlace JobSheet::place_of(const JobCell& cell) const {
  return {source_.name, cell.span.line, std::string(cell.said.substr(0, 60))};
}

void JobSheet::mistake(const JobCell& cell, std::string_view what, std::string_view example) {
  const std::string said = fmt::format("{}: \"{}\" is no {}", printable(cell.said.substr(0, 60)),
                                       printable(shortened(cell.text, 60)), what);
  diagnostics_.report(cell.span, said, fmt::format("as in {}", example));
}

void JobSheet::seconds(Known<double>& field, const JobCell& cell) {
  if (says_nothing(cell.text)) return;
  const auto value = elapsed_seconds(cell.text);
  value ? put(field, *value, cell) : mistake(cell, "duration", "1-02:30:00");
}

void JobSheet::limit(Known<double>& field, const JobCell& cell) {
  if (says_nothing(cell.text) || lower_case(trimmed(cell.text.substr(0, 40))) == "partition_limit") return;
  const auto value = limit_seconds(cell.text);
  // "Partition_Limit" was excluded above: the limit is then that of the partition.
  value ? put(field, *value, cell) : mistake(cell, "time limit", "1-02:30:00 or UNLIMITED");
}

void JobSheet::bytes(Known<double>& field, const JobCell& cell, double bare) {
  if (says_nothing(cell.text)) return;
  const auto value = memory_bytes(cell.text, bare);
  if (!value) return mistake(cell, "amount of memory", "180000M");
  // Slurm writes 0 when nobody measured, or when the job asked for the whole node.
  if (*value > 0) put(field, *value, cell);
}

void JobSheet::share(Known<double>& field, const JobCell& cell, double most) {
  if (says_nothing(cell.text)) return;
  const auto value = percent_share(cell.text, most);
  value ? put(field, *value, cell) : mistake(cell, "percentage", "92.18%");
}

void JobSheet::count(Known<int>& field, const JobCell& cell) {
  if (says_nothing(cell.text)) return;
  const auto value = whole_count(cell.text);
  value ? put(field, *value, cell) : mistake(cell, "number", "4");
}

void JobSheet::text(Known<std::string>& field, const JobCell& cell) {
  if (!says_nothing(cell.text)) put(field, shortened(trimmed(cell.text), kLongestName), cell);
}

void JobSheet::state(FinishedJob& job, const JobCell& cell) {
  if (says_nothing(cell.text)) return;
  put(job.state_text, shortened(trimmed(cell.text), 100), cell);
  put(job.state, job_state(cell.text), cell);
}

void JobSheet::exit_code(FinishedJob& job, const JobCell& cell) {
  if (says_nothing(cell.text)) return;
  const std::vector<std::string_view> parts = split_at(trimmed(cell.text), ':');
  const auto code = whole_count(parts[0]);
  const auto signal = parts.size() == 2 ? whole_count(parts[1]) : std::optional(0);
  if (!code || !signal || parts.size() > 2) return mistake(cell, "exit code", "0:9");
  put(job.exit_code, *code, cell), put(job.signal, *signal, cell);
}

// The whole list has one place, so all its parts share the span of the cell.
void JobSheet::resources(FinishedJob& job, const JobCell& cell) {
  if (says_nothing(cell.text)) return;
  const auto list = resource_list(cell.text);
  const auto part = [&](std::string_view name) {
    const auto found = list.find(name);
    return JobCell{found == list.end() ? std::string_view() : std::string_view(found->second), cell.span,
                   cell.said};
  };
  count(job.cpus, part("cpu")), count(job.nodes, part("node"));
  bytes(job.memory_asked, part("mem"), 1 << 20);
  const ListedGpus gpus = listed_gpus(list);
  // A list without GPUs is that of a job that had none, or of a site that does not count them.
  if (gpus.count) put(job.gpus, *gpus.count, cell);
  if (!gpus.type.empty()) put(job.gpu_type, gpus.type, cell);
}

void JobSheet::admin_comment(FinishedJob& job, const JobCell& cell) {
  std::string_view text = trimmed(cell.text);
  if (!text.starts_with("JS1:")) return;
  text.remove_prefix(4);
  // The job was too short for a sample, or jobstats kept nothing.
  if (text == "Short" || text == "None") return;
  // The layers are checked one by one, so that the message can say which of them is broken.
  const auto packed = text.size() <= kLargestSummary ? decoded_base64(text) : std::optional<std::string>();
  const auto json = packed ? unpacked_gzip(*packed, kLargestSummary) : std::nullopt;
  const LogJson summary = json ? shallow_json(*json, kDeepestSummary) : LogJson();
  if (!summary.is_object())
    return diagnostics_.report(
        cell.span,
        fmt::format("the payload of jobstats is {}", !packed ? "cut off, or no base64"
                                                     : !json ? "cut off, no gzip, or too large"
                                                             : "no JSON object"),
        "sacct cuts columns: -P, or --format=AdminComment%10000");
  read_summary(*this, job, summary, cell);
}

bool says_nothing(std::string_view text) {
  text = trimmed(text);
  constexpr std::string_view words[] = {"",       "Unknown", "None",          "N/A",
                                        "(null)", "INVALID", "None assigned", "-"};
  return std::ranges::find(words, text) != std::end(words);
}

// The callback discards what lies below the limit while parsing, so a deep text costs no deep recursion
// later.
LogJson shallow_json(std::string_view text, int deepest) {
  bool is_deep = false;
  const auto watch = [&](int depth, LogJson::parse_event_t, LogJson&) {
    is_deep = is_deep || depth > deepest;
    return !is_deep;
  };
  LogJson root = LogJson::parse(text.begin(), text.end(), watch, false);
  return is_deep || root.is_discarded() ? LogJson() : root;
}

std::optional<double> amount_of(const LogJson& value) {
  if (value.is_object()) {
    const bool is_set = !at(value, "set").is_boolean() || at(value, "set").get<bool>();
    // An absent "set" counts as set: older versions write the number without it.
    return is_set && at(value, "number").is_number() ? amount_of(at(value, "number")) : std::nullopt;
  }
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  return std::isfinite(number) && number >= 0 && number <= 1e18 ? std::optional(number) : std::nullopt;
}

std::string string_of(const LogJson& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace foretrain
