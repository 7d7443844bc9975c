// The evidence that comes with the program is what this program predicts of docs/measured.
#include <algorithm>
#include <map>

#include "sim/analysis/evidence/observed.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/evidence_files.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace shipped_evidence_test {

using namespace foretrain;

namespace {

std::vector<Observation> rows_in(const SourceText& text) {
  EvidenceTable table;
  Diagnostics diagnostics(text);
  read_evidence(text, diagnostics, table);
  diagnostics.throw_if_any();
  return table.observations();
}

std::vector<Observation> shipped(Observed what) {
  std::vector<Observation> rows;
  for (const std::string& file : shipped_evidence())
    for (Observation& row : rows_in(read_text_file(file, kLargestEvidence)))
      if (row.what == what) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

TEST_CASE("shipped evidence of a few series is what is predicted of them now (else: tools/evidence)") {
  test::use_source_catalogs();
  const SourceText measured =
      read_text_file(std::string(FORETRAIN_SOURCE_DIR) + "/docs/measured/scaling.csv", kLargestMeasurements);
  MeasurementFile few, all = read_or_throw(measured, read_measurements);
  for (const Measurement& m : all.scaling)
    if (m.series.starts_with("CSC-puhti-") && m.gpus <= 4) few.scaling.push_back(m);
  if (few.scaling.empty()) few.scaling.assign(all.scaling.begin(), all.scaling.begin() + 4);
  ObservationOptions options;
  options.provenance = read_or_throw(
      read_text_file(std::string(FORETRAIN_SOURCE_DIR) + "/docs/measured/provenance.toml"), read_provenance);
  const MeasuredEvidence now = evidence_of(few, options);
  REQUIRE(!now.rows.empty());
  for (const Observed what : {Observed::step, Observed::ratio}) {
    const std::vector<Observation> rows = shipped(what);
    for (const Observation& row : now.rows) {
      if (row.what != what) continue;
      INFO(row.run << " on " << row.gpus);
      const bool is_there = std::ranges::any_of(rows, [&](const Observation& other) {
        return is_same_run(other, row) && other.run == row.run &&
               other.predicted == Approx(row.predicted).epsilon(1e-6) &&
               other.measured == Approx(row.measured).epsilon(1e-6);
      });
      CHECK(is_there);
    }
  }
}

TEST_CASE("every row of docs/measured that can be evidence is shipped") {
  test::use_source_catalogs();
  CHECK(shipped(Observed::step).size() > 500);
  CHECK(shipped(Observed::ratio).size() > 1500);
  CHECK(shipped(Observed::collective).size() > 2500);
}

}  // namespace shipped_evidence_test
