// Fuzz target: logs of every format, several in one text, and samples CSV, from any bytes.
#include "sim/import/sample_log.hpp"
#include "tests/fuzz/sample_log_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source = test::fuzz_text(data, size);
  try {
    test::check_file(read_sample_log(source, test::fuzz_hints()));
  } catch (const InputError& error) {
    test::require(!error.diagnostics().empty());
  }
  return 0;
}
