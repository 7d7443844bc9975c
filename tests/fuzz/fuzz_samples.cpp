// Fuzz target: samples CSV from any bytes; what is read without a mistake is possible and can be written.
#include "sim/scenario/csv/samples.hpp"
#include "tests/fuzz/sample_log_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source = test::fuzz_text(data, size);
  Diagnostics diagnostics(source);
  is_samples_csv(source.text);
  const SampleFile file = read_samples_csv(source, diagnostics);
  if (diagnostics.empty()) test::check_file(file);
  test::require(diagnostics.empty() || !format(diagnostics.found()).empty());
  return 0;
}
