// Products and fused attention of large models: limits that physics sets, and what grows with what.
#include "sim/workload/device/transformer_kernels.hpp"

#include <cmath>

#include "sim/base/random.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/tensor_cores.hpp"
#include "sim/workload/device/tensor_product_time.hpp"
#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"

namespace transformer_kernels_test {

using namespace foretrain;

namespace {

/// H100 SXM5, A100 SXM4, B200 and V100 in round figures of their data sheets.
Gpu hopper() {
  Gpu gpu;
  gpu.architecture = Architecture::hopper, gpu.compute_capability = 9.0, gpu.sm_count = 132;
  gpu.fp32 = {66.9e12}, gpu.fp16 = gpu.bf16 = {989e12}, gpu.fp8 = {1979e12};
  gpu.memory_bandwidth = {3.35e12}, gpu.l2_cache = {50'000'000};
  return gpu;
}

Gpu ampere() {
  Gpu gpu;
  gpu.architecture = Architecture::ampere, gpu.compute_capability = 8.0, gpu.sm_count = 108;
  gpu.fp32 = {19.5e12}, gpu.fp16 = gpu.bf16 = {312e12};
  gpu.memory_bandwidth = {2.039e12}, gpu.l2_cache = {40'000'000};
  return gpu;
}

Gpu blackwell() {
  Gpu gpu;
  gpu.architecture = Architecture::blackwell, gpu.compute_capability = 10.0, gpu.sm_count = 148;
  gpu.fp32 = {80e12}, gpu.fp16 = gpu.bf16 = {2250e12}, gpu.fp8 = {4500e12};
  gpu.memory_bandwidth = {8e12}, gpu.l2_cache = {126'000'000};
  return gpu;
}

Gpu volta() {
  Gpu gpu;
  gpu.compute_capability = 7.0, gpu.sm_count = 80;
  gpu.fp32 = {15.7e12}, gpu.fp16 = {125e12}, gpu.memory_bandwidth = {0.9e12};
  return gpu;
}

double product(std::int64_t m, std::int64_t n, std::int64_t k, const Gpu& gpu,
               KernelPrecision precision = KernelPrecision::bf16, std::int64_t count = 1) {
  return gemm_seconds(m, n, k, count, precision, gpu, default_kernel_calibration(gpu));
}

double attention(const FlashAttention& a, const Gpu& gpu) {
  return flash_attention_seconds(a, KernelPrecision::bf16, gpu, default_kernel_calibration(gpu));
}

FlashAttention layer(std::int64_t batch, std::int64_t length, std::int64_t heads) {
  FlashAttention a;
  a.batch = batch, a.query_length = a.key_length = length, a.heads = a.kv_heads = heads, a.head_dim = 128;
  return a;
}

/// 128 clocks of the arithmetic, so to say, at intensity 1.
double loss(const Tile& tile, const TensorCores& cores, double bytes_per_clock) {
  return operand_loss(tile, cores, bytes_per_clock, KernelCalibration{});
}

}  // namespace

TEST_CASE("a large product reaches the share of the peak that the best one was measured at") {
  // 32 x 64 tiles of 256 x 128 are 2,048 on 132 multiprocessors: 16 waves, 15.5 of them full.
  const double best = 2.0 * 8192 * 8192 * 16384 / 989e12 / 0.803;
  CHECK(product(8192, 8192, 16384, hopper()) == Approx(best * 16 / (2048 / 132.0)).epsilon(0.02));
  const double best_fp8 = 2.0 * 8192 * 8192 * 16384 / 1979e12 / 0.709;
  CHECK(product(8192, 8192, 16384, hopper(), KernelPrecision::fp8) ==
        Approx(best_fp8 * 16 / (2048 / 132.0)).epsilon(0.02));
}

TEST_CASE("a product of few rows takes as long as its weights take to be read") {
  const double bytes = 2.0 * 16384 * 16384;
  for (const Gpu& gpu : {ampere(), hopper(), blackwell()}) {
    const double read = bytes / gpu.memory_bandwidth.per_second / 0.82;
    CHECK(product(1, 16384, 16384, gpu) > read);
    CHECK(product(1, 16384, 16384, gpu) < 1.15 * read);
    CHECK(product(16, 16384, 16384, gpu) < 1.2 * read);
  }
}

TEST_CASE("nothing is faster than the data sheet, whatever the size") {
  const CounterRandom random(7);
  const auto size = [&random](std::uint64_t stream, std::uint64_t i) {
    return std::int64_t{1} + static_cast<std::int64_t>(random.uniform(stream, i) * 9000);
  };
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::int64_t m = size(0, i), n = size(1, i), k = size(2, i);
    for (const Gpu& gpu : {ampere(), hopper(), blackwell()}) {
      const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
      CHECK(product(m, n, k, gpu) > flops / gpu.bf16.per_second);
      CHECK(product(m, n, k, gpu, KernelPrecision::bf16, 3) >= product(m, n, k, gpu));
    }
  }
}

TEST_CASE("a tile more than the multiprocessors take in a wave costs a wave") {
  const std::int64_t deep = 16384;
  const double one = product(128 * 12, 256 * 11, deep, hopper()),  // 132 tiles
      two = product(128 * 24, 256 * 11, deep, hopper());
  CHECK(two > 1.9 * one);
  CHECK(two < 2.05 * one);
}

TEST_CASE("operands pass registers on Ampere, and come from shared memory since Hopper") {
  TensorCores registers, shared;
  shared.instruction_rows = 64;
  KernelCalibration usual;
  // 128 bytes a clock at intensity 1, and 64 x 64 results per 128 operands: intensity 32.
  CHECK(loss({64, 64}, registers, 128 * 32) ==
        Approx(1 + usual.product.operand_loading));  // added to the arithmetic
  CHECK(loss({64, 64}, shared, 128 * 32) == Approx(std::pow(2, 1 / usual.roofline_power)));  // beside it
  CHECK(loss({256, 64}, shared, 128 * 32) < loss({64, 64}, shared, 128 * 32));
}

TEST_CASE("only tensor cores whose kernels were measured have a formula of their own") {
  CHECK(tensor_cores_of(hopper()) != nullptr);
  CHECK(tensor_cores_of(volta()) == nullptr);
  Gpu card = blackwell();
  card.compute_capability = 12.0;
  CHECK(tensor_cores_of(card) == nullptr);
  CHECK(product(4096, 4096, 4096, volta()) > 2 * std::pow(4096, 3) / 125e12);
  CHECK(attention(layer(1, 4096, 32), volta()) > flash_attention_flops(layer(1, 4096, 32)) / 125e12);
}

TEST_CASE("what a calibration says of products and of attention holds here, too") {
  KernelCalibration slower = default_kernel_calibration(hopper());
  slower.gemm.half /= 2;
  const double usual = product(8192, 8192, 8192, hopper());
  CHECK(gemm_seconds(8192, 8192, 8192, 1, KernelPrecision::bf16, hopper(), slower) ==
        Approx(2 * usual).epsilon(0.02));
  CHECK(flash_attention_seconds(layer(1, 8192, 32), KernelPrecision::bf16, hopper(), slower) ==
        Approx(attention(layer(1, 8192, 32), hopper())));
  slower.time_scale = 1.5;
  CHECK(gemm_seconds(8192, 8192, 8192, 1, KernelPrecision::bf16, hopper(), slower) ==
        Approx(3 * usual).epsilon(0.02));
}

TEST_CASE("a causal mask leaves half of the scores, and queries after a prefix see all of it") {
  FlashAttention a = layer(2, 4096, 8);
  const double all = 4.0 * 2 * 8 * 4096 * 4096 * 128;
  CHECK(flash_attention_flops(a) == Approx(all * 4097 / 8192));
  a.causal = false;
  CHECK(flash_attention_flops(a) == Approx(all));
  a.causal = true, a.query_length = 1;
  CHECK(flash_attention_flops(a) == Approx(4.0 * 2 * 8 * 4096 * 128));
  a.query_length = 8192;  // the first half sees nothing
  CHECK(flash_attention_flops(a) == Approx(all * 4097 / 8192));
  a.backward = true;
  CHECK(flash_attention_flops(a) == Approx(2.5 * all * 4097 / 8192));
}

TEST_CASE("long attention is arithmetic: twice the heads, four times the length, half without the mask") {
  for (const Gpu& gpu : {ampere(), hopper(), blackwell()}) {
    const double once = attention(layer(1, 16384, 32), gpu);
    CHECK(attention(layer(1, 16384, 64), gpu) == Approx(2 * once).epsilon(0.03));
    CHECK(attention(layer(1, 32768, 32), gpu) == Approx(4 * once).epsilon(0.05));
    FlashAttention full = layer(1, 16384, 32);
    full.causal = false;
    CHECK(attention(full, gpu) == Approx(2 * once).epsilon(0.05));
    CHECK(once > flash_attention_flops(layer(1, 16384, 32)) / gpu.bf16.per_second);
  }
}

TEST_CASE("a narrow head costs more for its arithmetic: exponentials do not shrink with it") {
  FlashAttention narrow = layer(1, 16384, 64), wide = layer(1, 16384, 32);
  narrow.head_dim = 64;
  CHECK(flash_attention_flops(narrow) == flash_attention_flops(wide));
  CHECK(attention(narrow, hopper()) > 1.2 * attention(wide, hopper()));
  CHECK(attention(narrow, blackwell()) > 1.35 * attention(wide, blackwell()));
}

TEST_CASE("a head wider than 128 leaves Hopper no room to overlap, and Blackwell's results lie elsewhere") {
  FlashAttention usual = layer(1, 16384, 32), wide = layer(1, 16384, 16);
  wide.head_dim = 256;
  const auto per_flop = [](const FlashAttention& a, const Gpu& gpu) {
    return attention(a, gpu) / flash_attention_flops(a);
  };
  // Without the operations a head twice as wide halves the exponentials' part and leaves the products'.
  CHECK(per_flop(wide, hopper()) > 0.95 * per_flop(usual, hopper()));
  CHECK(per_flop(wide, blackwell()) < 0.85 * per_flop(usual, blackwell()));
}

TEST_CASE("few heads leave multiprocessors idle, shared keys save memory alone") {
  CHECK(attention(layer(1, 1024, 1), hopper()) ==
        Approx(attention(layer(1, 1024, 8), hopper())).epsilon(0.03));
  FlashAttention shared = layer(8, 4096, 32);
  shared.kv_heads = 8;
  CHECK(attention(shared, hopper()) <= attention(layer(8, 4096, 32), hopper()));
  CHECK(attention(shared, hopper()) > 0.95 * attention(layer(8, 4096, 32), hopper()));
}

TEST_CASE("backward takes longer than its FLOPs alone say") {
  for (const Gpu& gpu : {ampere(), hopper(), blackwell()}) {
    FlashAttention back = layer(4, 8192, 32);
    back.backward = true;
    const double ratio = attention(back, gpu) / attention(layer(4, 8192, 32), gpu);
    CHECK(ratio > 2.5);
    CHECK(ratio < 3.2);
  }
}

TEST_CASE("FlashAttention-2 reaches a third of Hopper's peak, and more of an A100 than a block at a time") {
  FlashAttention second = layer(1, 16384, 32);
  second.kernel = AttentionKernel::version_2;
  const auto share = [&second](const Gpu& gpu) {
    return flash_attention_flops(second) / attention(second, gpu) / gpu.bf16.per_second;
  };
  CHECK(share(hopper()) > 0.30);  // FlashAttention-3's authors: 35 % of an H100
  CHECK(share(hopper()) < 0.40);
  CHECK(share(ampere()) > 0.55);  // its own author: up to 73 % of an A100, without a mask
  CHECK(share(ampere()) < 0.73);
}

TEST_CASE("sizes that are none take no time") {
  CHECK(product(0, 5, 5, hopper()) == 0);
  CHECK(product(5, -1, 5, hopper()) == 0);
  CHECK(attention(layer(0, 1, 1), hopper()) == 0);
  CHECK(flash_attention_flops(layer(1, 0, 1)) == 0);
  CHECK(fp8_scaling_seconds(0, hopper(), default_kernel_calibration(hopper())) == 0);
}

TEST_CASE("activations are scaled to fp8 by three kernels and two passes") {
  const KernelCalibration usual = default_kernel_calibration(hopper());
  CHECK(fp8_scaling_seconds(1, hopper(), usual) == Approx(9e-6).epsilon(0.01));
  const double large = 1e9, memory = 5 * large / (3.35e12 * 0.82), clock = 66.9e12 / (132 * 128 * 2);
  CHECK(fp8_scaling_seconds(1'000'000'000, hopper(), usual) ==
        Approx(memory + large / (5.3 * 132 * clock)).epsilon(0.02));
}

namespace {

KernelContext in_bf16(const Gpu& gpu, const KernelCalibration& calibration) {
  KernelContext context{gpu, calibration, Precision::bf16};
  context.half_weights = true;
  return context;
}

}  // namespace

TEST_CASE("a linear layer of a network takes as long as the same product of a layout") {
  for (const Gpu& gpu : {ampere(), hopper(), blackwell()}) {
    const KernelCalibration calibration = default_kernel_calibration(gpu);
    Product product;
    product.m = 4096, product.n = 8192, product.k = 2048;  // grows by rows
    Operator op = make_operator(OperatorClass::gemm, HostCall::linear, {0, product.flops_per_sample()}, {});
    op.with(product);
    CHECK(kernel_seconds(op, in_bf16(gpu, calibration), 2) ==
          Approx(gemm_seconds(8192, 8192, 2048, 1, KernelPrecision::bf16, gpu, calibration)));
  }
}

TEST_CASE("fused attention of a network takes as long as FlashAttention-2 of a layout") {
  for (const Gpu& gpu : {ampere(), hopper(), blackwell()}) {
    const KernelCalibration calibration = default_kernel_calibration(gpu);
    Product scores, rows;
    scores.m = scores.n = rows.m = rows.k = 2048, scores.k = rows.n = 128;
    scores.count = rows.count = 16 * 0.5, scores.unmasked_share = rows.unmasked_share = 0.5;
    scores.grows = rows.grows = Product::Grows::count;
    Operator op = make_operator(OperatorClass::attention, HostCall::fused_attention, {}, {});
    op.with(scores).with(rows);
    FlashAttention same = layer(4, 2048, 16);
    same.kernel = AttentionKernel::version_2;
    CHECK(kernel_seconds(op, in_bf16(gpu, calibration), 4) == Approx(attention(same, gpu)));
    Operator narrow = op;  // a window of 512 keys, the last query sees 512
    for (Product& product : narrow.products) product.count = 16 * 0.21875, product.unmasked_share = 0.21875;
    CHECK(kernel_seconds(narrow, in_bf16(gpu, calibration), 4) <
          kernel_seconds(op, in_bf16(gpu, calibration), 4));
  }
}

TEST_CASE("products whose rows begin at odd addresses take what they took on an H100") {
  struct Measured {
    double m, n, k, aligned_bytes, microseconds;
  };
  const Measured products[] = {{8192, 50257, 768, 2, 6692}, {50257, 768, 8192, 2, 4320},
                               {8192, 768, 50257, 2, 4534}, {1024, 51865, 768, 2, 872},
                               {4096, 30522, 768, 4, 809},  {6144, 30522, 1024, 4, 1522},
                               {30522, 1024, 6144, 4, 1504}};
  const Gpu gpu = hopper();
  const KernelCalibration calibration = default_kernel_calibration(gpu);
  const TensorCores* cores = tensor_cores_of(gpu);
  REQUIRE(cores != nullptr);
  for (const Measured& p : products) {
    INFO(p.m << " x " << p.n << " x " << p.k);
    const TensorProduct product{.m = p.m, .n = p.n, .k = p.k, .aligned_bytes = p.aligned_bytes};
    TensorProduct aligned = product;
    aligned.aligned_bytes = 16;
    const double slow = tensor_product_seconds(product, gpu, *cores, calibration);
    CHECK(slow * 1e6 == Approx(p.microseconds).epsilon(0.35));
    CHECK(slow > 2 * tensor_product_seconds(aligned, gpu, *cores, calibration));
  }
}

}  // namespace transformer_kernels_test
