// The readers of what accounting tools print; each format is told by what a file holds, never by its name.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/accounting/finished_job.hpp"

namespace foretrain {

/// Thousands of jobs with a payload of a kilobyte each are below it.
inline constexpr std::size_t kLargestAccounting = std::size_t{64} << 20;

bool is_sacct_json(std::string_view text);
void read_sacct_json(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

bool is_sacct_table(std::string_view text);
void read_sacct_table(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

bool is_seff(std::string_view text);
void read_seff(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

bool is_jobstats(std::string_view text);
void read_jobstats(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

bool is_jobstats_summary(std::string_view text);
void read_jobstats_summary(const SourceText& source, Diagnostics& diagnostics,
                           std::vector<FinishedJob>& jobs);

bool is_scontrol_job(std::string_view text);
void read_scontrol_job(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

bool is_gpu_use_table(std::string_view text);
void read_gpu_use_table(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

/// A format of accounting output: how it is recognised and who reads it.
struct AccountingFormat {
  std::string_view name;
  std::string_view what;  ///< one line for people
  bool (*recognises)(std::string_view text) = nullptr;
  void (*read)(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs) = nullptr;
};

/// In the order of trying.
const std::vector<AccountingFormat>& accounting_formats();

/// Whether any of them recognises it.
bool is_accounting(std::string_view text);

/// The jobs of a file, each once. Throws InputError with every mistake, or with the formats that are known.
std::vector<FinishedJob> read_accounting(const SourceText& source);

}  // namespace foretrain
