// Fuzz target: Tables of the OSU micro-benchmarks from any bytes; every sample is possible, every reason is
// said, and all of it can be written.
#include "tests/fuzz/sample_log_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  foretrain::test::check_reader(data, size, foretrain::read_osu);
  return 0;
}
