// Fuzz target: jobstats -j and its packed payload, from any bytes.
#include "tests/fuzz/accounting_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  return test::fuzz_accounting(is_jobstats_summary, read_jobstats_summary, data, size);
}
