// Fuzz target: launch lines by themselves, from any bytes.
#include "tests/fuzz/job_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return foretrain::test::fuzz_job_system(foretrain::BatchSystem::none, data, size);
}
