// The table of accounting formats and the functions that choose from it.
// Formats are tried in the order of the table. Those with marks that no other format has stand first, and
// general tables stand last.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/accounting/readers.hpp"

namespace foretrain {

namespace {

/// Returns the names of all formats in one line, for the hint of an error.
std::string known_accounting() {
  std::string out = "known:";
  for (const AccountingFormat& format : accounting_formats())
    out += fmt::format("{} {}", &format == &accounting_formats().front() ? "" : ",", format.name);
  return out;
}

}  // namespace

const std::vector<AccountingFormat>& accounting_formats() {
  static const std::vector<AccountingFormat> rows{
      {"sacct --json", "jobs and steps of Slurm's data base", is_sacct_json, read_sacct_json},
      {"jobstats -j", "also its payload JS1: as AdminComment holds it", is_jobstats_summary,
       read_jobstats_summary},
      {"jobstats", "the report with utilisation by GPU", is_jobstats, read_jobstats},
      {"seff", "also with the GPU lines of CSC's and OSC's", is_seff, read_seff},
      {"scontrol show job", "several jobs, -o too", is_scontrol_job, read_scontrol_job},
      {"sacct -P", "also -p: any columns, with their header", is_sacct_table, read_sacct_table},
      {"GPU utilisation table", "a row for each GPU, columns with units in their heads", is_gpu_use_table,
       read_gpu_use_table}};
  return rows;
}

bool is_accounting(std::string_view text) {
  return std::ranges::any_of(accounting_formats(),
                             [&](const AccountingFormat& format) { return format.recognises(text); });
}

std::vector<FinishedJob> read_accounting(const SourceText& source) {
  // A NUL byte means that the file is binary; no format is tried then.
  const bool is_text = source.text.find('\0') == std::string::npos;
  for (const AccountingFormat& format : accounting_formats()) {
    if (!is_text || !format.recognises(source.text)) continue;
    return read_or_throw(source, [&](const SourceText& text, Diagnostics& diagnostics) {
      std::vector<FinishedJob> jobs;
      format.read(text, diagnostics, jobs);
      // A recognised file without a job is a mistake of its own, unless a more precise one was reported.
      if (jobs.empty() && diagnostics.empty()) diagnostics.report({}, "holds no job");
      return jobs;
    });
  }
  throw InputError(
      {{source.name, {}, "", "this is no accounting of a job that is known", known_accounting()}});
}

}  // namespace foretrain
