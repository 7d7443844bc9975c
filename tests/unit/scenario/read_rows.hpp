// A file of measured rows, read from its text.
#pragma once

#include <string>
#include <utility>

#include "sim/scenario/csv/measurements.hpp"

namespace foretrain::test {

struct ReadRows {
  MeasurementFile file;
  std::string errors;  ///< as printed; empty: none
};

inline ReadRows read_rows(const std::string& text) {
  const SourceText source{"m.csv", text};
  Diagnostics diagnostics(source);
  MeasurementFile file = read_measurements(source, diagnostics);
  return {std::move(file), format(diagnostics.found())};
}

}  // namespace foretrain::test
