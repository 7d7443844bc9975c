// Fuzz target: evidence stores from any bytes; what is read is in range, and written it reads the same.
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source{"fuzz.csv", std::string(reinterpret_cast<const char*>(data), size)};
  Diagnostics diagnostics(source);
  std::string again = evidence_heading();
  EvidenceTable read, read_again;
  read_evidence(source, diagnostics, read);
  for (const Observation& row : read.observations()) {
    test::require(row.measured > 0 && std::isfinite(residual_of(row)) && row.gpus >= 1 && row.nodes >= 1);
    again += evidence_line(row);
  }
  for (const EvidenceInput& input : read_inputs(source.text)) {
    const std::vector<EvidenceInput> same = read_inputs(input_line(input));
    test::require(same.size() == 1 && same[0].kind == input.kind && same[0].fields == input.fields);
    again += input_line(input);
  }
  const SourceText written{"again.csv", again};
  Diagnostics none(written);
  read_evidence(written, none, read_again);
  test::require(read_again.size() == read.size() && none.empty());
  return 0;
}
