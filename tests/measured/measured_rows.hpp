// Rows of docs/measured as measurements, and what their sources tell.
#pragma once

#include <cstdlib>
#include <string>

#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/provenance.hpp"
#include "sim/scenario/toml/reader.hpp"
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

/// The rules about scaling.csv, with which the pages of accuracy are printed.
inline Provenance measured_provenance() {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const SourceText source = read_text_file((kMeasured / "provenance.toml").string(), kLargestProvenance);
  Diagnostics diagnostics(source);
  Provenance provenance = read_provenance(source, diagnostics);
  diagnostics.throw_if_any();
  return provenance;
}

}  // namespace foretrain::test
