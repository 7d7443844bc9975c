// Measured kernels against predictions on rows made in memory.
#include "sim/analysis/validation/kernel_validation.hpp"

#include "sim/base/named_rows.hpp"
#include "tests/support/catch.hpp"

namespace kernel_validation_test {

using namespace foretrain;

namespace {

KernelMeasurement row(const std::string& op, const std::string& gpu, double time_us) {
  KernelMeasurement m;
  m.op = find_row(kernel_operators(), op);
  m.shape.rows = 65536, m.shape.columns = 4096, m.shape.depth = 4096;
  m.precision = "fp32", m.gpu = gpu, m.time_us = time_us, m.line = 2;
  return m;
}

double predicted(const KernelMeasurement& m) { return validate_kernels({m}).kernels.at(0).predicted; }

}  // namespace

TEST_CASE("a pointwise kernel moves its tensors at the achieved bandwidth, 14 us after the call began") {
  // Two tensors of 65,536 x 4,096 numbers of 4 bytes at 0.88 x 1,935 GB/s, the first 20 MB of it 2.5 times as
  // fast from the cache; 3 us for launch and shortest kernel.
  const double bytes = 2 * 65536.0 * 4096 * 4, cached = 20e6;
  const double us = (bytes - cached * (1 - 1 / 2.5)) / (0.88 * 1935e9) * 1e6;
  CHECK(predicted(row("relu", "a100-pcie-80gb", 1)) == Approx(14 + 3 + us));
}

TEST_CASE("no time is shorter than the host takes for the call, whatever the kernel") {
  KernelMeasurement tiny = row("add", "t4", 30);
  tiny.shape = {};
  CHECK(predicted(tiny) == 32);
}

TEST_CASE("softmax of up to 1,024 numbers reads a row once, a longer one three times") {
  // V100: rows of 4,096 numbers, 16 KiB, by 4 blocks of 512 threads fit the L1 of 128 KiB, those of 12,288 do
  // not: 1 + 2 / 2 / 3 passes and 2. Bytes are alike.
  KernelMeasurement once = row("softmax", "v100-pcie-32gb", 1), cached = once, uncached = once;
  once.shape.rows = 65536 * 12, once.shape.columns = 1024;
  cached.shape.rows = 65536 * 3, cached.shape.columns = 4096;
  uncached.shape.rows = 65536, uncached.shape.columns = 12288;
  const double one = predicted(once) - 18 - 3;
  CHECK(predicted(cached) - 18 - 3 == Approx(4.0 / 3 * one).epsilon(0.01));
  CHECK(predicted(uncached) - 18 - 3 == Approx(2 * one).epsilon(0.01));
}

TEST_CASE("linear multiplies rows x depth by depth x columns, and bmm so many of them") {
  KernelMeasurement linear = row("linear", "h100-sxm5-80gb", 1), deeper = linear;
  deeper.shape.depth *= 2;
  CHECK(predicted(deeper) > 1.9 * predicted(linear));
  KernelMeasurement many = row("bmm", "h100-sxm5-80gb", 1);
  many.shape = {64, 1024, 1024, 1024};
  KernelMeasurement twice = many;
  twice.shape.batch = 128;
  CHECK(predicted(twice) > 1.9 * predicted(many));
}

TEST_CASE("fp32 kernels run on CUDA cores even where trainings convolve in TF32") {
  KernelMeasurement conv = row("conv", "a100-pcie-80gb", 1);
  conv.shape = {32, 1, 1, 256, 256, 56, 1, 1, 0};
  KernelMeasurement tf32 = conv;
  tf32.precision = "tf32";
  CHECK(predicted(conv) > 1.2 * predicted(tf32));
}

TEST_CASE("kernels of large models have their own GPUs that are known, and no time of a call") {
  KernelMeasurement gemm = row("gemm", "b200-sxm-180gb", 50), known = gemm, eight = gemm;
  gemm.precision = known.precision = "bf16", eight.precision = "fp8";
  known.gpu = "h100-sxm5-80gb";
  const KernelValidation v = validate_kernels({gemm, known, eight});
  REQUIRE(v.kernels.size() == 3);
  CHECK(!v.kernels[0].is_seen);
  CHECK(v.kernels[1].is_seen);
  CHECK(v.scored == 3);
  CHECK(v.kernels[2].predicted < v.kernels[0].predicted);
  gemm.shape.rows = gemm.shape.columns = gemm.shape.depth = 16;
  CHECK(predicted(gemm) < 10);
  KernelMeasurement none = row("gemm", "a100-sxm4-80gb", 50);
  none.precision = "fp8";
  CHECK(validate_kernels({none}).skipped.at(0).why == "a100-sxm4-80gb has no fp8");
}

TEST_CASE("attention of large models: rotation and cache, then four products over half of the scores") {
  KernelMeasurement a = row("attention_fwd_causal", "h100-sxm5-80gb", 50);
  a.precision = "bf16";
  a.shape = {}, a.shape.batch = 1, a.shape.rows = 8192, a.shape.columns = 128;
  a.shape.heads = 32, a.shape.kv_heads = 8;
  const double flops = 2.0 * 32 * 8192 * 8192 * 128;
  CHECK(predicted(a) > flops / 989e12 * 1e6);
  CHECK(predicted(a) < flops / 989e12 * 1e6 / 0.4);
}

TEST_CASE("rows in a precision that the GPU has not are skipped, and those too short are not scored") {
  KernelMeasurement bf16 = row("relu", "p100-pcie-16gb", 100);
  bf16.precision = "bf16", bf16.line = 7;
  const KernelValidation v =
      validate_kernels({bf16, row("relu", "p100-pcie-16gb", 49), row("linear", "p100-pcie-16gb", 199),
                        row("linear", "p100-pcie-16gb", 200), row("relu", "t4", 51)});
  REQUIRE(v.skipped.size() == 1);
  CHECK(v.skipped[0].row == 7);
  CHECK(v.skipped[0].why == "p100-pcie-16gb has no bf16");
  CHECK(v.rows == 5);
  CHECK(v.scored == 2);
  CHECK(v.unseen_rows == 1);
  CHECK(v.seen_rows == 1);
}

TEST_CASE("groups are of one half, and by size of all its rows") {
  const KernelValidation v = validate_kernels(
      {row("relu", "p100-pcie-16gb", 20), row("relu", "p100-pcie-16gb", 900), row("relu", "t4", 900)});
  CHECK(group_kernel_errors(v, {"op"}, false).at(0).rows == 1);
  CHECK(group_kernel_errors(v, {"op"}, true).at(0).rows == 1);
  const std::vector<ErrorGroup> sizes = group_kernel_errors(v, {"size"}, false);
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[0].values == GroupKeys{"1: below 30 us"});
  CHECK(sizes[1].values == GroupKeys{"4: 200 us to 1 ms"});
}

}  // namespace kernel_validation_test
