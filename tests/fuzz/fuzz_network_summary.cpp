// Fuzz target: printed summaries of networks, from any bytes.
#include "tests/fuzz/network_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return foretrain::test::fuzz_network(data, size);
}
