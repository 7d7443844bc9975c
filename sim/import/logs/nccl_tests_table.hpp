// A table of nccl-tests as it was printed, whether as text or JSON, and what the rest of the log says about
// the run.
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

/// One of the two times of a row. `fault` says why it is no time.
struct NcclTime {
  double time_us = 0;
  double algbw = 0, busbw = 0;  ///< GB/s; 0: below what is printed
  double wrong = 0;             ///< elements with a wrong result
  bool is_checked = false;      ///< whether "#wrong" is a number and no N/A
  double spread = 0;            ///< standard deviation / time, where single iterations were timed
  bool in_place = false;
  std::string fault;
};

/// A row of a table of nccl-tests: one message size with its times.
struct NcclRow {
  int line = 0;
  std::int64_t size = 0, count = 0;
  std::string type, redop;  ///< redop empty: "none", or there is no such column
  int root = -1;
  int iterations = 0;  ///< 0: as the table's
  std::vector<NcclTime> times;
};

/// The devices a table was measured on.
struct NcclDevices {
  int ranks = 0;  ///< 0: the log does not list them
  std::set<std::string> hosts;
  std::set<std::pair<std::string, std::string>> processes;  ///< host, process id
  std::string gpu;
  bool is_doubled = false;  ///< a rank is listed twice: every process ran by itself
};

/// A table of nccl-tests with the facts of the run that its heading states.
struct NcclTable {
  std::string named;      ///< the collective by its program: "all_gather_perf"; empty: no such name
  std::string mentioned;  ///< by a word in the text above: "allgather"
  NcclDevices devices;
  int ranks_said = 0, stated_nodes = 0;  ///< by comments above the log
  int iterations = 1;
  int threads = 1;  ///< of each process
  std::string version, algorithm, protocol;
  std::vector<NcclRow> rows;
};

/// The one collective whose program a line names; empty for none and for several.
std::string op_of_program(std::string_view line);
/// The one collective a line of prose speaks of.
std::string op_mentioned(std::string_view line);
/// By the program's name, what the columns allow, the ratio of busbw to algbw, counts, and at last the hint;
/// empty: it cannot be told.
std::string op_of_table(const NcclTable& table, int ranks, const std::string& hint);

/// "22902" of the header files → "2.29.2"; a text without digits → "".
std::string nccl_version_of_code(std::int64_t code);

/// Makes samples of all rows.
void add_table(const NcclTable& table, const LogHints& hints, const std::string& source, SampleSheet& sheet);

// A header and a row of nccl-tests: which words are which columns, in every version.

/// How the columns of a table lie behind size, count and type.
struct NcclLayout {
  bool is_known = false;  ///< from a header
  bool has_root = false;
  std::size_t width = 4;  ///< from one time to the next: time algbw busbw error
  double unit_us = 1;     ///< the columns "bytes" and "N" of 2017 and 2018 come with milliseconds
};

bool is_nccl_header(std::string_view line);
NcclLayout nccl_layout_of(const std::vector<std::string_view>& header);

/// Whether a line is a row: two integers and a type. In a table, new types of elements are rows too where all
/// else is there.
bool is_nccl_row(const std::vector<std::string_view>& words, bool in_table);
/// Requires is_nccl_row(). A time that cannot be read keeps why.
NcclRow read_nccl_row(const std::vector<std::string_view>& words, const NcclLayout& layout, int line);

}  // namespace foretrain
