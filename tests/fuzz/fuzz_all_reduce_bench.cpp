// Fuzz target: Output of all_reduce_bench.py from any bytes; every sample is possible, every reason is said,
// and all of it can be written.
#include "tests/fuzz/sample_log_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  foretrain::test::check_reader(data, size, foretrain::read_all_reduce_bench);
  return 0;
}
