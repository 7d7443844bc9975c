// Rows that are read again, from the cache or from memory.
#include "sim/workload/device/row_passes.hpp"

#include "tests/support/catch.hpp"

namespace row_passes_test {

using namespace foretrain;

namespace {

Gpu of(Architecture architecture, double compute_capability) {
  Gpu gpu;
  gpu.architecture = architecture, gpu.compute_capability = compute_capability;
  return gpu;
}

}  // namespace

TEST_CASE("what is read once takes one pass, whatever the rows") {
  CHECK(row_passes(of(Architecture::pascal, 6.0), 1e9, 0, 128) == 1);
}

TEST_CASE("rows that a multiprocessor's L1 holds are read again at a third of the cost") {
  // A100: 2,048 / 128 = 16 blocks, 192 KiB: rows up to 12 KiB. V100 has 128 KiB: 8 KiB. T4 has 1,024 threads
  // and 64 KiB: 8 KiB. A100's cousins have 1,536 threads, 12 blocks, and 128 KiB.
  CHECK(row_passes(of(Architecture::ampere, 8.0), 12288, 1, 128) == Approx(1 + 1.0 / 6));
  CHECK(row_passes(of(Architecture::ampere, 8.0), 12292, 1, 128) == 1.5);
  CHECK(row_passes(of(Architecture::volta, 7.0), 8192, 1, 128) == Approx(1 + 1.0 / 6));
  CHECK(row_passes(of(Architecture::volta, 7.0), 8196, 1, 128) == 1.5);
  CHECK(row_passes(of(Architecture::turing, 7.5), 8192, 2, 128) == Approx(1 + 1.0 / 3));
  CHECK(row_passes(of(Architecture::ampere, 8.6), 10923, 1, 128) == 1.5);
  CHECK(row_passes(of(Architecture::pascal, 6.0), 4096, 2, 128) == 2);
}

TEST_CASE("a block of softmax has as many threads as PyTorch gives it") {
  // A power of two, at least a warp, from half of a quarter of the numbers on, at most 512.
  CHECK(softmax_threads(100) == 32);
  CHECK(softmax_threads(1280) == 256);
  CHECK(softmax_threads(2048) == 256);
  CHECK(softmax_threads(3072) == 512);
  CHECK(softmax_threads(16384) == 512);
}

}  // namespace row_passes_test
