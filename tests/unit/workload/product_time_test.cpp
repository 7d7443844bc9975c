// One matrix product on a small machine: tiles, waves, splits, padding.
#include <cmath>

#include "sim/base/random.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "tests/support/catch.hpp"

namespace product_time_test {

using namespace foretrain;

namespace {

/// One FLOP per second and multiprocessor; `loading` sets how much small tiles lose.
ProductDevice device(int multiprocessors, const ProductCosts& costs) {
  ProductDevice d;
  d.flops_per_s = 1, d.flops_per_clock = 256, d.multiprocessors = multiprocessors, d.bytes_per_s = 1e30,
  d.costs = &costs;
  return d;
}

Product product(double m, double n, double k) { return {m, n, k, 1, 1, Product::Grows::rows, 1, 1, {}}; }

}  // namespace

TEST_CASE("one whole tile takes its FLOPs over the rate of one multiprocessor") {
  const ProductCosts free{0, 0};
  CHECK(product_seconds(product(256, 128, 32), 1, device(1, free)) == Approx(2.0 * 256 * 128 * 32));
}

TEST_CASE("the pipeline of a tile is filled once: as much time as the prologue's depth") {
  const ProductCosts costs{0, 16};
  CHECK(product_seconds(product(256, 128, 32), 1, device(1, costs)) == Approx(2.0 * 256 * 128 * (32 + 16)));
}

TEST_CASE("loading operands weighs more on small tiles") {
  // Intensity m n / (m + n) = 85.33 for 256 x 128, where loading = 1 adds 256 x 4 / 256 = 4 to it.
  const ProductCosts costs{1, 0};
  CHECK(product_seconds(product(256, 128, 32), 1, device(1, costs)) ==
        Approx(2.0 * 256 * 128 * 32 * (1 + 4 * 384.0 / (256 * 128))));
}

TEST_CASE("a matrix smaller than the smallest tile pays for the tile") {
  const ProductCosts free{0, 0};
  CHECK(product_seconds(product(1, 1, 32), 1, device(1, free)) == Approx(2.0 * 32 * 32 * 32));
}

TEST_CASE("tiles beyond a whole wave cost another wave") {
  // Heavy loading makes only the largest tile worth while; 3 of them on 2 multiprocessors take as long as 4.
  const ProductCosts heavy{1e6, 0};
  const double three = product_seconds(product(256 * 3, 128, 32), 1, device(2, heavy));
  CHECK(three == Approx(product_seconds(product(256 * 4, 128, 32), 1, device(2, heavy))));
  CHECK(three == Approx(2 * product_seconds(product(256 * 2, 128, 32), 1, device(2, heavy))));
}

TEST_CASE(
    "a deep product with few tiles is split over idle multiprocessors, for the traffic of partial sums") {
  const ProductCosts free{0, 0};
  ProductDevice d = device(8, free);
  const double whole = 2.0 * 32 * 32 * 4096;
  CHECK(product_seconds(product(32, 32, 4096), 1, d) == Approx(whole / 8).epsilon(1e-6));
  d.bytes_per_s = 1e-9;  // partial sums are unaffordable
  CHECK(product_seconds(product(32, 32, 4096), 1, d) == Approx(whole));
}

TEST_CASE("tensor cores take channels in groups of 16 bytes") {
  const ProductCosts free{0, 0};
  ProductDevice d = device(1, free);
  d.arithmetic = Arithmetic::half, d.element_bytes = 2;
  Product first = product(256, 128, 3 * 49);
  first.window = 49;
  CHECK(product_seconds(first, 1, d) == Approx(2.0 * 256 * 128 * 8 * 49));
  d.arithmetic = Arithmetic::cuda_cores;
  CHECK(product_seconds(first, 1, d) == Approx(2.0 * 256 * 128 * 3 * 49));
}

TEST_CASE("the batch multiplies the dimension that grows") {
  const ProductCosts free{0, 0};
  const ProductDevice d = device(1, free);
  Product p = product(256, 128, 32);
  for (const Product::Grows grows : {Product::Grows::rows, Product::Grows::depth, Product::Grows::count}) {
    p.grows = grows;
    CHECK(product_seconds(p, 4, d) == Approx(4 * product_seconds(p, 1, d)));
  }
}

namespace {

/// The formula of the header over every tile and split.
double exhaustive(const Product& p, const ProductDevice& d) {
  const double tiles[9][2] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128},
                              {128, 32},  {32, 128},  {64, 64},   {32, 32}};
  double best = 1e300;
  for (const auto& [m, n] : tiles) {
    const double intensity = m * n / (m + n),
                 loading = d.costs->operand_loading * d.flops_per_clock * d.element_bytes / 256;
    for (double split = 1; split <= 64 && (split == 1 || p.k / split >= 64); split *= 2) {
      const double waves =
          std::ceil(std::ceil(p.m / m) * std::ceil(p.n / n) * p.count * split / d.multiprocessors);
      const double tile = 2 * m * n * (p.k / split + d.costs->prologue_depth) /
                          (d.flops_per_s * intensity / (intensity + loading));
      best = std::min(best, waves * tile + (split > 1 ? 8 * p.m * p.n * p.count * split / d.bytes_per_s : 0));
    }
  }
  return best;
}

}  // namespace

TEST_CASE("passing over tiles finds what trying all of them finds") {
  const ProductCosts costs{1.3, 77};
  const CounterRandom random(11);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto size = [&](std::uint64_t stream) {
      return std::floor(std::exp(9 * random.uniform(stream, i)));
    };
    ProductDevice d = device(static_cast<int>(1 + 150 * random.uniform(0, i)), costs);
    d.bytes_per_s = std::exp(20 * random.uniform(1, i)) / 1e4;
    const Product p = product(size(2), size(3), size(4));
    CHECK(product_seconds(p, 1, d) == Approx(exhaustive(p, d)).epsilon(1e-12));
  }
}

TEST_CASE("a larger product is never faster and never beats the peak") {
  const ProductCosts costs{4, 24};
  const CounterRandom random(7);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto size = [&](std::uint64_t stream) { return 1 + std::floor(2000 * random.uniform(stream, i)); };
    const ProductDevice d = device(static_cast<int>(size(0)), costs);
    const Product p = product(size(1), size(2), size(3));
    Product larger = p;
    larger.m += size(4), larger.n += size(5), larger.k += size(6);
    const double time = product_seconds(p, 1, d);
    CHECK(time <= product_seconds(larger, 1, d));
    CHECK(time >= p.flops_per_sample() / (d.flops_per_s * d.multiprocessors) * (1 - 1e-12));
  }
}

}  // namespace product_time_test
