// Rows of docs/measured as measurements.
#pragma once

#include <string>

#include "sim/scenario/measurements.hpp"
#include "sim/scenario/reader.hpp"
#include "tests/support/measured.hpp"

namespace foretrain::test {

/// All rows of a CSV of docs/measured. Throws InputError with its mistakes.
inline MeasurementFile measured_rows(const std::string& file) {
  const SourceText source = read_text_file((kMeasured / file).string(), kLargestMeasurements);
  Diagnostics diagnostics(source);
  MeasurementFile rows = read_measurements(source, diagnostics);
  diagnostics.throw_if_any();
  return rows;
}

}  // namespace foretrain::test
