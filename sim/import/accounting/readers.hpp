// The readers of accounting output. A format is recognised by the content of a file, never by its name.
// The functions is_… say whether a text has a format, by its marks alone; they do not prove that the text can
// be read. The functions read_… append the jobs of the file to `jobs` and report mistakes to `diagnostics`.
// The format is described at the top of its .cpp file.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/accounting/finished_job.hpp"

namespace foretrain {

/// Limit of an accounting file in bytes. Thousands of jobs with a payload of a kilobyte each are below it.
inline constexpr std::size_t kLargestAccounting = std::size_t{64} << 20;

/// sacct --json: jobs and steps of Slurm's data base.
bool is_sacct_json(std::string_view text);
void read_sacct_json(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

/// sacct -P or -p: columns between bars.
bool is_sacct_table(std::string_view text);
void read_sacct_table(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

/// seff: efficiency of a job, also with GPUs.
bool is_seff(std::string_view text);
void read_seff(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

/// The report of Princeton's jobstats.
bool is_jobstats(std::string_view text);
void read_jobstats(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

/// jobstats -j, or its payload in Slurm's AdminComment.
bool is_jobstats_summary(std::string_view text);
void read_jobstats_summary(const SourceText& source, Diagnostics& diagnostics,
                           std::vector<FinishedJob>& jobs);

/// scontrol show job: request, state and times.
bool is_scontrol_job(std::string_view text);
void read_scontrol_job(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

/// Tables with a row for each GPU and columns of utilisation or memory.
bool is_gpu_use_table(std::string_view text);
void read_gpu_use_table(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

/// A format of accounting output: how it is recognised, and the function that reads it.
struct AccountingFormat {
  std::string_view name;
  /// Description in one line, for lists of formats.
  std::string_view what;
  bool (*recognises)(std::string_view text) = nullptr;
  void (*read)(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) = nullptr;
};

/// Returns all formats in the order in which they are tried.
const std::vector<AccountingFormat>& accounting_formats();

/// Says whether any format recognises the text.
bool is_accounting(std::string_view text);

/// Reads the jobs of a file; steps and repeated rows of a job are joined.
/// Throws InputError with every mistake of the file, or with the names of the known formats when none
/// recognises it.
std::vector<FinishedJob> read_accounting(const SourceText& source);

}  // namespace foretrain
