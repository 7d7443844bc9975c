// Fuzz target: logs of NCCL_DEBUG=INFO, from any bytes.
#include "tests/fuzz/machine_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return foretrain::test::fuzz_machine_reader(foretrain::read_nccl_log, data, size);
}
