// A table of nccl-tests, read from text or JSON, with what the rest of the log says about the run; and its
// conversion into samples.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/import/logs/log_hints.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

/// A measurement of a row, out of place or in place.
struct NcclTime {
  /// Time of one call in us.
  double time_us = 0;
  /// Algorithm and bus bandwidth in GB/s; 0 when they are below what is printed.
  double algbw = 0, busbw = 0;
  /// Number of elements with a wrong result.
  double wrong = 0;
  /// True when the column "#wrong" holds a number, not N/A.
  bool is_checked = false;
  /// Standard deviation divided by the time, where single iterations were timed; 0 otherwise.
  double spread = 0;
  /// True for the measurement in place, where input and output share a buffer.
  bool in_place = false;
  /// Reason why the time cannot be used; empty when it can.
  std::string fault;
};

/// A row of a table of nccl-tests: one message size with its times.
struct NcclRow {
  /// Line in the file; 0 in JSON.
  int line = 0;
  /// Bytes of the message and number of elements, as the table counts them.
  std::int64_t size = 0, count = 0;
  /// Type of the elements and reduction. The reduction is empty for "none" or when there is no such column.
  std::string type, redop;
  /// Root rank; -1 when there is none.
  int root = -1;
  /// Iterations; 0 stands for those of the table.
  int iterations = 0;
  /// The measurements of the row, of which there are one or two.
  std::vector<NcclTime> times;
};

/// The devices that a table was measured on.
struct NcclDevices {
  /// Number of ranks; 0 when the log does not list them.
  int ranks = 0;
  /// Names of the nodes.
  std::set<std::string> hosts;
  /// Processes, as pairs of host and process id.
  std::set<std::pair<std::string, std::string>> processes;
  /// Product of the GPU of rank 0.
  std::string gpu;
  /// True when a rank is listed twice, so that every process ran by itself.
  bool is_doubled = false;
};

/// A table of nccl-tests with the facts of the run that stand above it.
struct NcclTable {
  /// Collective by the name of its program, "all_gather_perf"; empty when no line names one.
  std::string named;
  /// Collective by a word in the text above, such as "allgather".
  std::string mentioned;
  NcclDevices devices;
  /// Ranks and nodes by comments above the log; 0 when there are none.
  int ranks_said = 0, stated_nodes = 0;
  /// Iterations that one printed time is the mean of.
  int iterations = 1;
  /// Threads of each process.
  int threads = 1;
  /// Version of NCCL, and algorithm and protocol where the environment forces them.
  std::string version, algorithm, protocol;
  std::vector<NcclRow> rows;
};

/// Returns the collective whose program a line names; empty for none and for several.
std::string op_of_program(std::string_view line);
/// Returns the collective that a line of prose mentions; empty for none and for several.
std::string op_mentioned(std::string_view line);
/// Returns the collective of a table, or an empty text when it cannot be told.
/// Columns and the ratio of bus to algorithm bandwidth exclude some. Of the others, the program's name
/// decides, then a word above, then counts and checks, and at last the hint.
std::string op_of_table(const NcclTable& table, int ranks, const std::string& hint);

/// Returns the version for NCCL's number: "2.29.2" for 22902, "2.8.4" for 2804; empty for numbers that are
/// none.
std::string nccl_version_of_code(std::int64_t code);

/// Turns the rows of a table into samples. Rows that cannot be used are skipped with the reason, all of them
/// when the collective, the ranks or the nodes are unknown.
void add_table(const NcclTable& table, const LogHints& hints, const std::string& source, SampleSheet& sheet);

// The functions below read the header and the rows of a table, in every version of nccl-tests.

/// The columns of a table behind size, count and type.
struct NcclLayout {
  /// True when a header was read; otherwise the columns are guessed from each row.
  bool is_known = false;
  /// True when there is a column for the root rank.
  bool has_root = false;
  /// Columns from the first time to the second: time, algbw, busbw, error.
  std::size_t width = 4;
  /// Microseconds of one unit of time: versions of 2017 and 2018 with columns "bytes" and "N" print
  /// milliseconds.
  double unit_us = 1;
};

/// Says whether a line is the header of a table.
bool is_nccl_header(std::string_view line);
/// Returns the columns that a header announces.
NcclLayout nccl_layout_of(const std::vector<std::string_view>& header);

/// Says whether a line is a row: two integers and a type of elements. Inside a table, an unknown type is
/// accepted if the row has at least seven columns.
bool is_nccl_row(const std::vector<std::string_view>& words, bool in_table);
/// Reads a row. Requires is_nccl_row(). A time that cannot be read is kept with its fault.
NcclRow read_nccl_row(const std::vector<std::string_view>& words, const NcclLayout& layout, int line);

}  // namespace foretrain
