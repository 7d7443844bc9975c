// Fuzz target: manifests of Kubernetes, through yaml-cpp, from any bytes.
#include "tests/fuzz/job_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return foretrain::test::fuzz_job_system(foretrain::BatchSystem::kubernetes, data, size);
}
