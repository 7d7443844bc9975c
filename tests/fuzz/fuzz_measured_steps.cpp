// Fuzz target: the JSON lines of `python -m foretrain measure`, from any bytes; each line is a row or has a
// reason.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sim/import/logs/measured_steps.hpp"
#include "tests/fuzz/require.hpp"

namespace {

template <class Row>
void check_lines(const foretrain::MeasuredLines<Row>& lines, const std::string& text) {
  using foretrain::test::require;
  const auto ends = std::count(text.begin(), text.end(), '\n');
  require(static_cast<std::ptrdiff_t>(lines.rows.size() + lines.skipped.size()) <= ends);
  for (const Row& row : lines.rows) require(row.line >= 1 && row.line <= ends);
  for (const foretrain::SkippedLine& line : lines.skipped) require(!line.why.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using foretrain::test::require;
  const foretrain::SourceText source{"fuzz.jsonl", std::string(reinterpret_cast<const char*>(data), size)};
  const auto steps = read_measured_steps(source);
  check_lines(steps, source.text);
  for (const foretrain::MeasuredStep& step : steps.rows) {
    require(step.step_s.has_value() == step.error.empty());
    require(!step.step_s || (std::isfinite(*step.step_s) && *step.step_s > 0));
    require(step.batch >= 1);
  }
  check_lines(read_measured_kernels(source), source.text);
  check_lines(read_measured_loaders(source), source.text);
  (void)foretrain::read_flat_object(source.text);
  return 0;
}
