// Fuzz target: what scontrol show job prints, from any bytes.
#include "tests/fuzz/accounting_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  return test::fuzz_accounting(is_scontrol_job, read_scontrol_job, data, size);
}
