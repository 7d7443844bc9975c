// A test of nvbandwidth by its name: which copy it times and under which conditions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

/// The heading of a matrix that nvbandwidth prints.
struct NvbandwidthMatrix {
  std::string test;         ///< "device_to_device_memcpy_read_ce"
  std::string description;  ///< "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)"
  int columns = 0;
};

/// One figure of a matrix becomes a sample; `word` is "N/A" where no such copy is possible.
void add_cell(const NvbandwidthMatrix& matrix, int row, int column, std::string_view word, int line,
              const std::string& source, SampleSheet& sheet);

}  // namespace foretrain
