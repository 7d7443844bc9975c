// Tables with a row for each GPU: as in the reports of seff at CSC, of gpu-seff, of nvidia-smi --query-gpu.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/import/accounting/job_sheet.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

/// Fed line by line. A GPU that stands in several rows is the mean of its utilisation and the most of its
/// memory.
class GpuUseTable {
 public:
  /// Whether the line is the head of such a table, or a row below one.
  bool take(const LogLine& line, JobSheet& sheet);
  /// What was seen goes to a job; the table is empty then.
  void give(FinishedJob& job, JobSheet& sheet);
  bool has_head() const { return !columns_.empty(); }

 private:
  enum class Column { other, node, index, utilization, memory_used, memory_total };
  struct Head {
    Column column = Column::other;
    double unit = 1;  ///< bytes
  };
  struct Seen {
    double sum = 0;
    int rows = 0;
    double used = 0, total = 0;
  };
  bool take_head(const std::vector<std::string_view>& cells, const std::string& before);
  void take_row(const std::vector<std::string_view>& cells, const LogLine& line, JobSheet& sheet);
  static Head head_of(std::string_view cell, const std::string& title);
  std::vector<std::string_view> cells_of(std::string_view line) const;

  std::vector<Head> columns_;
  char separator_ = ' ';
  std::string title_;  ///< the line before the head: "GPU load"
  std::map<std::pair<std::string, int>, Seen> seen_;
  int first_line_ = 0;
};

}  // namespace foretrain
