// The results of a sweep in one SQLite file: what it is a sweep of, and a row for each finished case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/scenario/sweep/sql.hpp"
#include "sim/scenario/sweep/sweep.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// The facts that a database stores about its sweep.
struct SweepHead {
  /// Name of the sweep's file.
  std::string name;
  /// The sweep itself, as sweep_text().
  std::string text;
  /// The scenario; without text, the axes state model and cluster.
  SourceText scenario;
  /// Strategy of the scenario.
  std::string strategy;
  /// Version of the program.
  std::string version;
  Shard shard{};
  std::int64_t seed = 1;
  /// Cases per second of its last run, all workers together; 0: no run has finished.
  double rate = 0;
  /// Workers of that run.
  int threads = 1;

  /// Returns a hash of everything that the cases depend on. All databases of one sweep have the same.
  std::uint64_t identity() const;
};

/// A case as it is stored: its figures in the order of case_figures(), or a message that says why it has
/// none.
struct CaseRow {
  std::string message;
  std::vector<Value> figures;
};
/// Returns the row of a predicted case.
CaseRow row_of(const CaseResult& result);

/// Start of the message of a case that ended the process which predicted it.
inline constexpr std::string_view kEndedCase = "this case ended its worker process ";
/// Returns an SQL condition that holds for rows of such cases in the table `cases`. It is false without a
/// message.
std::string is_ended_case(std::string_view cases);

/// The database of a run. One process writes, and others may read at the same time.
class SweepDatabase {
 public:
  /// Creates the file, or continues one of the same sweep, version and shard. Throws InputError for any other
  /// file.
  SweepDatabase(const std::string& path, const SweepHead& head, const SweepCases& cases);

  /// Returns the numbers of the stored cases, ascending. Throws InputError when one of them does not belong
  /// to the sweep.
  std::vector<std::int64_t> done(const SweepCases& cases);
  /// Deletes the rows of cases that ended their workers, so that they are predicted again.
  void forget_ended_cases();
  /// Adds a row to the open transaction.
  void add(std::int64_t number, std::uint64_t hash, const std::vector<Value>& values, const CaseRow& row);
  /// Commits the rows, and begins the next transaction.
  void commit();
  /// Commits the last rows and removes the log, so that the file can be copied. `rate` is stored as in
  /// SweepHead.
  void finish(double rate, int threads);

 private:
  void begin();

  SqlFile file_;
  SweepHead head_;
  // The prepared insert, once the table exists.
  std::vector<SqlStatement> insert_;
};

/// Returns the sweep that a database stores. Throws InputError when its text is no sweep.
Sweep kept_sweep(const SweepHead& head);
/// Creates the tables of a new database, and stores its head.
void create_sweep_tables(SqlFile& file, const SweepHead& head, const SweepCases& cases);
/// Returns the names of the columns of `cases`, quoted for SQL.
std::vector<std::string> case_columns(const SweepCases& cases);

/// Reads the head of a file that `sweep run` or `sweep merge` wrote. Throws InputError in one sentence for
/// any other file.
SweepHead read_sweep_head(SqlFile& file);

/// Numbers of rows of a merge: all rows in the end, and those that occurred more than once.
struct MergeCounts {
  std::int64_t rows = 0, repeated = 0;
  /// Files of other merges in OUTPUT.parts, which did not end or are still running.
  std::int64_t others = 0;
};
/// Joins databases of one sweep. The result is written to a new file in the folder OUTPUT.parts and then
/// renamed. An older result at `output` is replaced when all of its rows are in the new one; nothing else is
/// overwritten or deleted. Throws InputError when a source, another sweep, or rows that no source has would
/// be overwritten, and when a source is no sweep or differs from the first in sweep or version. Throws
/// Interrupted when `stops`, which is called now and then, returns true; then everything is as it was.
MergeCounts merge_sweeps(const std::vector<std::string>& sources, const std::string& output, bool (*stops)());

/// Columns of `cases` that are neither input nor figure.
inline constexpr std::string_view kNumberColumn = "number", kMessageColumn = "message";

}  // namespace foretrain
