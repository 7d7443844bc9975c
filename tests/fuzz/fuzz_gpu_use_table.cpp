// Fuzz target: tables of GPU utilisation, from any bytes.
#include "tests/fuzz/accounting_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  return test::fuzz_accounting(is_gpu_use_table, read_gpu_use_table, data, size);
}
