// The jobs of one accounting file while it is read. Readers find jobs by id and fill them cell by cell; a
// cell that its column does not allow is reported with its place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/accounting/accounting_values.hpp"
#include "sim/import/accounting/finished_job.hpp"
#include "sim/import/logs/json_value.hpp"

namespace foretrain {

/// A piece of the source's text with its place. Line 0 stands for JSON. The texts must outlive the cell.
struct JobCell {
  std::string_view text;
  SourceSpan span{};
  /// Name of the column or key, as the file writes it.
  std::string_view said;
};

/// Collects the jobs of an accounting file and reports values that cannot be read.
/// Each method below reads one cell into one field. A cell that says nothing (see says_nothing) leaves the
/// field as it is, a bad cell is reported, and a field that has a value already keeps it.
class JobSheet {
 public:
  /// Holds references to all three; new jobs are appended to `jobs`.
  JobSheet(const SourceText& source, Diagnostics& diagnostics, std::vector<FinishedJob>& jobs);

  /// Returns the job with that id and adds it when it is new. An empty id always adds a job.
  /// Returns nullptr beyond 20,000 jobs, which is reported once. The pointer is invalid after the next job is
  /// added.
  FinishedJob* job(std::string_view id, int line);

  /// Gives a job another id, by which job() finds it as well. `job` must be one of this sheet.
  void rename(FinishedJob& job, std::string_view id);

  /// Reads a duration.
  void seconds(Known<double>& field, const JobCell& cell);
  /// Reads a duration, or UNLIMITED as 0. Partition_Limit leaves the field empty.
  void limit(Known<double>& field, const JobCell& cell);
  /// Reads an amount of memory; a number without a unit counts `bare` bytes each. An amount of 0 leaves the
  /// field empty.
  void bytes(Known<double>& field, const JobCell& cell, double bare = 1);
  /// Reads a percentage of at most `most` as a share of 0..1 (see percent_share).
  void share(Known<double>& field, const JobCell& cell, double most = kMostPercent);
  /// Reads a whole number up to 10^8.
  void count(Known<int>& field, const JobCell& cell);
  /// Keeps a text, at most 1000 bytes of it.
  void text(Known<std::string>& field, const JobCell& cell);
  /// Keeps the state as text and as JobState.
  void state(FinishedJob& job, const JobCell& cell);
  /// Reads "0:9", the exit code and the signal; the signal is 0 when only one number stands there.
  void exit_code(FinishedJob& job, const JobCell& cell);
  /// Reads a list such as "cpu=8,mem=64G,node=2,gres/gpu=4" into CPUs, nodes, requested memory and GPUs.
  /// Memory without a unit is in MiB.
  void resources(FinishedJob& job, const JobCell& cell);
  /// Reads the payload of jobstats, "JS1:" and base64 of packed JSON, from Slurm's AdminComment. Other
  /// comments are ignored.
  /// A payload that is cut or broken is reported.
  void admin_comment(FinishedJob& job, const JobCell& cell);

  /// Sets a field that has no value; a later value never replaces an earlier one.
  template <class T>
  void put(Known<T>& field, T value, const JobCell& cell) {
    if (!field) field = Figure<T>{std::move(value), place_of(cell)};
  }
  /// Returns the place of a cell for a figure; the name of the column is cut to 60 bytes.
  FigurePlace place_of(const JobCell& cell) const;
  /// Reports that a cell is no `what`, with an example of one.
  void mistake(const JobCell& cell, std::string_view what, std::string_view example);

 private:
  const SourceText& source_;
  Diagnostics& diagnostics_;
  /// Jobs that the readers append to; the sheet does not own them.
  std::vector<FinishedJob>& jobs_;
  /// Index in jobs_ by id.
  std::map<std::string, std::size_t, std::less<>> places_;
  /// Set once the limit of jobs was reported.
  bool told_ = false;
};

/// Says whether a cell holds no value: it is empty, or Unknown, None, N/A, (null), INVALID, "None assigned"
/// or "-".
bool says_nothing(std::string_view text);

/// Parses JSON of at most `deepest` levels. Returns null for text that is no JSON or is nested deeper; it
/// does not throw.
LogJson shallow_json(std::string_view text, int deepest);
/// Reads a number from 0 to 10^18, written plainly or as {"set": true, "number": 60}, as newer versions of
/// Slurm do.
/// Returns no value when "set" is false.
std::optional<double> amount_of(const LogJson& value);
/// Returns the string, or an empty one when the value is no string.
std::string string_of(const LogJson& value);

/// Reads the summary that jobstats keeps of a job: CPUs, memory and GPUs of each node. `summary` is the
/// parsed object, and `cell` gives its place.
void read_summary(JobSheet& sheet, FinishedJob& job, const LogJson& summary, const JobCell& cell);

/// Decodes base64, with or without padding. Returns no value when the text is cut or holds another character.
std::optional<std::string> decoded_base64(std::string_view text);
}  // namespace foretrain
