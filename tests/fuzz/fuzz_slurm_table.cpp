// Fuzz target: what sinfo prints, from any bytes.
#include "tests/fuzz/machine_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return foretrain::test::fuzz_machine_reader(foretrain::read_slurm_table, data, size);
}
