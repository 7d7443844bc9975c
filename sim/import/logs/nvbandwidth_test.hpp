// Turns a cell of a matrix of nvbandwidth into a sample, by the name of its test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

/// A matrix of nvbandwidth: the test that printed it and its heading.
struct NvbandwidthMatrix {
  /// Name of the test, such as "device_to_device_memcpy_read_ce".
  std::string test;
  /// Heading, such as "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)".
  std::string description;
  /// Number of columns, which are the devices of one side.
  int columns = 0;
};

/// Adds one figure as a sample. Cells with "N/A" are ignored, as no such copy is possible; tests that are no
/// modelled copy are skipped with the reason.
void add_cell(const NvbandwidthMatrix& matrix, int row, int column, std::string_view word, int line,
              const std::string& source, SampleSheet& sheet);

}  // namespace foretrain
