// A reader of tables with a row for each GPU, as in the reports of seff at CSC and of gpu-seff, and as
// nvidia-smi --query-gpu prints.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

/// Collects the rows of such tables, line by line. A GPU that stands in several rows gets the mean of its
/// utilisation and the highest of its memory figures.
/// A head looks like "index, utilization.gpu [%], memory.used [MiB]" or "| Node | GPU | Util | Max mem (GiB)
/// |".
class GpuUseTable {
 public:
  /// Takes a line. Returns true if it is the head of such a table or a row of the table whose head came last.
  /// Cells that cannot be read are reported through `sheet`.
  bool take(const LogLine& line, JobSheet& sheet);
  /// Moves the collected GPUs to `job`, unless it has measured GPUs already, and empties the table for the
  /// next job.
  void give(FinishedJob& job, JobSheet& sheet);
  /// Says whether a head was seen since the last give().
  bool has_head() const { return !columns_.empty(); }

 private:
  /// The meanings of a column that are of use; all others are skipped.
  enum class Column { other, node, index, utilization, memory_used, memory_total };
  /// The meaning of one column, with the unit that its head names.
  struct Head {
    Column column = Column::other;
    /// Bytes of one unit, for columns of memory.
    double unit = 1;
  };
  /// The rows of one GPU so far: sum and number of shares, and the highest memory figures in bytes.
  struct Seen {
    double sum = 0;
    int rows = 0;
    double used = 0, total = 0;
  };
  bool take_head(const std::vector<std::string_view>& cells, const std::string& before);
  void take_row(const std::vector<std::string_view>& cells, const LogLine& line, JobSheet& sheet);
  static Head head_of(std::string_view cell, const std::string& title);
  std::vector<std::string_view> cells_of(std::string_view line) const;

  /// Meanings of the columns of the last head; empty before the first one.
  std::vector<Head> columns_;
  char separator_ = ' ';
  /// The line before the current one in lower case, such as "gpu load": it may say what the columns are.
  std::string title_;
  /// Rows by name of the node and index of the GPU.
  std::map<std::pair<std::string, int>, Seen> seen_;
  /// Line of the first row, for the place of the figures; 0 before it.
  int first_line_ = 0;
};

}  // namespace foretrain
