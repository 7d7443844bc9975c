// Fuzz target: what sacct --json prints, from any bytes.
#include "tests/fuzz/accounting_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  return test::fuzz_accounting(is_sacct_json, read_sacct_json, data, size);
}
