// A sweep's results in one SQLite file: what it is a sweep of, and a row for each case that is done.
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

/// What a database says of its sweep.
struct SweepHead {
  std::string name;      ///< of the sweep's file
  std::string text;      ///< sweep_text()
  SourceText scenario;   ///< no text: the axes say model and cluster
  std::string strategy;  ///< of the scenario
  std::string version;   ///< of the program
  Shard shard{};
  std::int64_t seed = 1;
  double rate = 0;  ///< cases a second of its last run, all threads together; 0: none has finished
  int threads = 1;  ///< of that run

  /// Of everything that the cases depend on: databases of one sweep have the same.
  std::uint64_t identity() const;
};

/// A case as it is kept: its figures in the order of case_figures(), or a message that says why it has none.
struct CaseRow {
  std::string message;
  std::vector<Value> figures;
};
CaseRow row_of(const CaseResult& result);

/// Messages of cases that ended the program that predicted them begin with it.
inline constexpr std::string_view kEndedCase = "this case ended its worker process ";
/// A condition of SQL: whether a row of the table `cases` is of such a case. A row without a message is not.
std::string is_ended_case(std::string_view cases);

/// The database of a run: one process writes to it, others may read.
class SweepDatabase {
 public:
  /// Makes the file, or goes on with one of the same sweep, version and shard. Throws InputError for any
  /// other.
  SweepDatabase(const std::string& path, const SweepHead& head, const SweepCases& cases);

  /// Numbers of the cases that are there, ascending. Throws InputError when one of them is not the sweep's.
  std::vector<std::int64_t> done(const SweepCases& cases);
  /// Removes the rows of cases that ended their workers, so that they are predicted again.
  void forget_ended_cases();
  /// Of the open transaction; commit() begins the next.
  void add(std::int64_t number, std::uint64_t hash, const std::vector<Value>& values, const CaseRow& row);
  void commit();
  /// The last commit; without a log beside it, so that the file can be copied. `rate`: as in SweepHead.
  void finish(double rate, int threads);

 private:
  void begin();

  SqlFile file_;
  SweepHead head_;
  std::vector<SqlStatement> insert_;  ///< one, once there is the table
};

/// The sweep that a database keeps. Throws InputError when its text is none.
Sweep kept_sweep(const SweepHead& head);
/// The tables of a new database, and what it is a sweep of.
void create_sweep_tables(SqlFile& file, const SweepHead& head, const SweepCases& cases);
/// Names of the columns of `cases`, as SQL takes them.
std::vector<std::string> case_columns(const SweepCases& cases);

/// Opens what `sweep run` or `sweep merge` wrote. Throws InputError in one sentence for anything else.
SweepHead read_sweep_head(SqlFile& file);

/// How many rows a merge of sweep databases took, and how many it had already.
struct MergeCounts {
  std::int64_t rows = 0, repeated = 0;
  std::int64_t others = 0;  ///< files in OUTPUT.parts of other merges, which did not end or are at work
};
/// One database of all rows: written to a new file in the folder OUTPUT.parts, then renamed. An older result
/// at `output` is replaced when all of its rows are in the new one; nothing else is overwritten or deleted.
/// Throws InputError for what would be: a source, another sweep, rows that no source has. Throws it also for
/// a source that is no sweep, or is of another sweep or version than the first.
/// Throws Interrupted when `stops`, asked now and then, returns true; then everything is as it was.
MergeCounts merge_sweeps(const std::vector<std::string>& sources, const std::string& output, bool (*stops)());

/// Columns of `cases` that are no input and no figure.
inline constexpr std::string_view kNumberColumn = "number", kMessageColumn = "message";

}  // namespace foretrain
