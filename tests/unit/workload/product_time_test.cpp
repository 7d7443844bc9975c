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

namespace {

/// A multiprocessor of 64 CUDA cores (128 FLOPs a clock) with the tiles of an architecture.
ProductDevice cores(Architecture architecture, int multiprocessors, const ProductCosts& costs) {
  Gpu gpu;
  gpu.architecture = architecture;
  ProductDevice d = device(multiprocessors, costs);
  d.flops_per_clock = 128, d.is_simt = true, d.tiles = core_tiles(gpu), d.overlap_power = 2.7;
  return d;
}

/// No prologue, and operands at once.
ProductCosts free_cores() {
  ProductCosts costs{0, 0};
  costs.core_prologue_depth = 0, costs.operand_bytes_per_clock = 1e30;
  return costs;
}

}  // namespace

TEST_CASE("threads of CUDA cores read 16 numbers from shared memory for 64 results") {
  // 64 FMAs a clock read 64 x 4 / 4 = 64 of the 128 bytes a clock that there are: a ratio of 1/2.
  const ProductCosts free = free_cores();
  ProductDevice d = cores(Architecture::ampere, 1, free);
  const double alone = 2.0 * 128 * 128 * 32;
  CHECK(product_seconds(product(128, 128, 32), 1, d) ==
        Approx(alone * std::pow(1 + std::pow(0.5, 2.7), 1 / 2.7)));
  d.flops_per_clock = 256;  // 128 cores: as long as the arithmetic itself
  CHECK(product_seconds(product(128, 128, 32), 1, d) == Approx(alone * std::pow(2, 1 / 2.7)));
  d.issues_two = true;
  CHECK(product_seconds(product(128, 128, 32), 1, d) == Approx(alone));
}

TEST_CASE("operands of a tile of CUDA cores arrive at so many bytes a clock beside the arithmetic") {
  // 128 x 128 at depth 1: 256 numbers of 4 bytes at 16 bytes a clock are 64 clocks, its arithmetic 256.
  ProductCosts costs = free_cores();
  costs.operand_bytes_per_clock = 16;
  ProductDevice d = cores(Architecture::ampere, 1, costs);
  d.issues_two = true, d.overlap_power = 1;
  CHECK(product_seconds(product(128, 128, 32), 1, d) == Approx(2.0 * 128 * 128 * 32 * (1 + 0.25)));
}

TEST_CASE("many products in one launch have fewer kernels, and none of them splits its depth") {
  const ProductCosts free = free_cores();
  ProductDevice d = cores(Architecture::ampere, 8, free);
  d.issues_two = true;
  Product one = product(32, 32, 4096), eight = one;
  eight.count = 8;
  CHECK(product_seconds(one, 1, d) == Approx(2.0 * 32 * 32 * 4096 / 8).epsilon(1e-6));
  CHECK(product_seconds(eight, 1, d) == Approx(2.0 * 128 * 128 * 4096));
}

TEST_CASE("cuBLAS names a kernel by columns, then rows") {
  // volta_sgemm_128x32: 128 columns of 32 rows.
  const ProductCosts free = free_cores();
  ProductDevice d = cores(Architecture::pascal, 1, free);
  d.issues_two = true;
  Product wide = product(64, 128, 512);
  wide.count = 2;  // maxwell_sgemm_128x64 is all there is
  CHECK(product_seconds(wide, 1, d) == Approx(2 * 2.0 * 64 * 128 * 512));
  std::swap(wide.m, wide.n);
  CHECK(product_seconds(wide, 1, d) == Approx(2 * 2 * 2.0 * 64 * 128 * 512));
}

namespace {

/// What docs/models/kernels.md says, over every tile and split.
double exhaustive_on_cores(const Product& p, const ProductDevice& d) {
  double best = 1e300;
  for (const Tile& tile : p.count > 1 ? d.tiles.batched : d.tiles.single) {
    const double fma = d.flops_per_clock / 2, e = d.element_bytes, power = d.overlap_power;
    const double filling = (tile.m + tile.n) * e / d.costs->operand_bytes_per_clock / (tile.m * tile.n / fma),
                 reading = fma * e * 16 / 64 / 128;
    const double loss = std::pow(1 + std::pow(filling, power) + std::pow(reading, power), 1 / power);
    for (double split = 1; split <= (p.count > 1 ? 1 : 64) && (split == 1 || p.k / split >= 64); split *= 2) {
      const double tiles = std::ceil(p.m / tile.m) * std::ceil(p.n / tile.n) * p.count * split;
      const double tile_seconds =
          2 * tile.m * tile.n * (p.k / split + d.costs->core_prologue_depth) * loss / d.flops_per_s;
      best = std::min(best, std::ceil(tiles / d.multiprocessors) * tile_seconds +
                                (split > 1 ? 8 * p.m * p.n * split / d.bytes_per_s : 0));
    }
  }
  return best;
}

constexpr Architecture kMeasuredArchitectures[] = {Architecture::pascal, Architecture::volta,
                                                   Architecture::turing, Architecture::ampere,
                                                   Architecture::hopper};

}  // namespace

TEST_CASE("passing over tiles of CUDA cores finds what trying all of them finds") {
  const ProductCosts costs{};
  const CounterRandom random(5);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto size = [&](std::uint64_t stream) {
      return std::floor(std::exp(9 * random.uniform(stream, i)));
    };
    ProductDevice d =
        cores(kMeasuredArchitectures[i % 5], static_cast<int>(1 + 150 * random.uniform(0, i)), costs);
    d.bytes_per_s = std::exp(20 * random.uniform(1, i)) / 1e4;
    Product p = product(size(2), size(3), size(4));
    p.count = i % 3 == 0 ? 1 : std::ceil(size(5) / 100);
    CHECK(product_seconds(p, 1, d) == Approx(exhaustive_on_cores(p, d)).epsilon(1e-12));
  }
}

TEST_CASE("on CUDA cores more work is never faster, and more multiprocessors are never slower") {
  const ProductCosts costs{};
  const CounterRandom random(9);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto size = [&](std::uint64_t stream) { return 1 + std::floor(2000 * random.uniform(stream, i)); };
    const ProductDevice d = cores(kMeasuredArchitectures[i % 5], static_cast<int>(1 + size(0) / 14), costs);
    ProductDevice more = d;
    more.multiprocessors += static_cast<int>(size(7) / 100);
    Product p = product(size(1), size(2), size(3));
    p.count = i % 2 == 0 ? 1 : 1 + std::floor(size(8) / 50);
    Product larger = p;
    larger.m += size(4), larger.n += size(5), larger.k += size(6);
    const double time = product_seconds(p, 1, d);
    CHECK(time <= product_seconds(larger, 1, d));
    CHECK(time >= product_seconds(p, 1, more));
    CHECK(time >= p.flops_per_sample() / (d.flops_per_s * d.multiprocessors) * (1 - 1e-12));
  }
}

}  // namespace product_time_test
