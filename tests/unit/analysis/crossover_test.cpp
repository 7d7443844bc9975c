// The search on throughput curves whose answers are known.
#include "sim/analysis/search/crossover.hpp"

#include <cmath>
#include <set>

#include "tests/support/catch.hpp"

namespace crossover_test {

using namespace foretrain;

namespace {

/// With one sample per GPU and step, over every number of GPUs.
Crossover find(const ThroughputFunction& throughput, int most, int per_node, int budget) {
  return find_crossover(throughput, {most, per_node, budget, [](int n) { return 1.0 * n; }, false, true});
}

using Ranges = std::vector<GpuRange>;

/// A curve of samples per second with a step that matches a batch of 1 per GPU.
ThroughputFunction curve(std::function<double(int)> samples_per_s) {
  return [samples_per_s](int n) {
    Throughput t;
    t.samples_per_s = samples_per_s(n);
    t.step_s = n / t.samples_per_s;
    t.breakdown[static_cast<std::size_t>(Account::compute)] = 0.5;
    t.breakdown[static_cast<std::size_t>(Account::exposed_communication)] = t.step_s - 0.5;
    return t;
  };
}

/// Efficiency 1 / (1 + a (n - 1)).
ThroughputFunction hyperbola(double a) {
  return curve([a](int n) { return n / (1 + a * (n - 1)); });
}

}  // namespace

TEST_CASE("perfect scaling has no crossover") {
  const Crossover c = find(curve([](int n) { return 1.0 * n; }), 64, 4, 40);
  CHECK(c.fastest_gpus == 64);
  CHECK_FALSE(c.no_gain_from);
  CHECK(c.slower_than_one_gpu.empty());
  CHECK_FALSE(c.efficiency_below_90);
  CHECK_FALSE(c.efficiency_below_50);
}

TEST_CASE("efficiency thresholds are exact between sampled numbers") {
  // 1/(1 + a(n-1)) < e from n - 1 > (1/e - 1)/a; a = 0.001: 111.1, 250 (equal is not below), 1000.
  for (const int budget : {8, 40, 160}) {
    const Crossover c = find(hyperbola(0.001), 4096, 4, budget);
    CHECK(c.efficiency_below_90 == 113);
    CHECK((c.efficiency_below_80 == 252 ||
           c.efficiency_below_80 == 251));  // exactly 0.8 at 251, up to rounding
    CHECK((c.efficiency_below_50 == 1002 || c.efficiency_below_50 == 1001));
    // The largest throughput is 4096 / 5.095 = 803.93; 0.1 % less, r = 803.12, is reached at r (1 - a) / (1 -
    // r a) = 4075.2.
    CHECK(c.fastest_gpus >= 4076);
  }
}

TEST_CASE("a peak is the fastest number, and from the next one nothing is gained") {
  const Crossover c = find(curve([](int n) { return 100.0 - (n - 8) * (n - 8); }), 16, 4, 40);
  CHECK(c.fastest_gpus == 8);
  CHECK(c.no_gain_from == 9);
  // 100 - (n-8)^2 < 100 - 49 from |n - 8| > 7, n = 16: 36 < 51.
  CHECK(c.slower_than_one_gpu == Ranges{{16, 16}});
  CHECK(c.slower_than_fewer == Ranges{{10, 16}});  // 96 < 0.972 * 100 from n = 10 on
}

TEST_CASE("two GPUs slower than one are found at once") {
  const Crossover c = find(curve([](int n) { return n == 1 ? 10.0 : 4.0; }), 32, 4, 40);
  CHECK(c.fastest_gpus == 1);
  CHECK(c.no_gain_from == 2);
  CHECK(c.slower_than_one_gpu == Ranges{{2, 32}});
  CHECK(c.efficiency_below_90 == 2);
  CHECK(c.efficiency_below_50 == 2);
}

TEST_CASE("a dip at the node boundary is found although more nodes recover") {
  const Crossover c = find(curve([](int n) { return n == 5 ? 0.9 : 1.0 * n; }), 64, 4, 40);
  CHECK(c.slower_than_one_gpu == Ranges{{5, 5}});
  CHECK(c.efficiency_below_50 == 5);
  CHECK(c.fastest_gpus == 64);
}

TEST_CASE("gains within the spread of a measurement do not make a number fastest") {
  const Crossover c = find(curve([](int n) { return 10 + 0.0001 * n; }), 16, 4, 40);
  CHECK(c.fastest_gpus == 1);
}

TEST_CASE("many small gains add up") {
  // Each step of 4 gains 0.04 %, the whole way 4 %: more than the tenth of a percent that counts.
  const Crossover c = find(curve([](int n) { return 10 + 0.001 * n; }), 400, 4, 400);
  CHECK(c.fastest_gpus > 350);
}

TEST_CASE("one GPU is a cluster too") {
  const Crossover c = find(curve([](int) { return 1.0; }), 1, 1, 8);
  CHECK(c.fastest_gpus == 1);
  CHECK_FALSE(c.no_gain_from);
}

TEST_CASE("fewer GPUs are searched than a node has") {
  const Crossover c = find(hyperbola(0.2), 3, 8, 8);
  CHECK(c.fastest_gpus == 3);
  CHECK(c.efficiency_below_90 == 2);
}

TEST_CASE("the search asks for few numbers, each once, all within the cluster") {
  for (const int most : {1, 2, 7, 100, 4096, 1'000'000}) {
    for (const int per_node : {1, 4, 8, 64}) {
      std::multiset<int> asked;
      const ThroughputFunction rate = hyperbola(0.01);
      find([&](int n) { return asked.insert(n), rate(n); }, most, per_node, 40);
      INFO(most << " GPUs, " << per_node << " per node");
      CHECK(*asked.begin() >= 1);
      CHECK(*asked.rbegin() <= most);
      CHECK(std::set<int>(asked.begin(), asked.end()).size() == asked.size());
      CHECK(asked.size() <=
            40 + 2 * 40 + 9 * 13);  // the budget, one and the last, nine bisections of at most 13 halvings
    }
  }
}

TEST_CASE("the fastest number is the fewest GPUs within a tenth of a percent of the largest throughput") {
  // 1000, 1000.9, 1001.5: the last is largest, the second within 0.1 % of it, the first not.
  const Crossover c = find(curve([](int n) { return n == 1 ? 1000.0 : n == 2 ? 1000.9 : 1001.5; }), 3, 4, 40);
  CHECK(c.fastest_gpus == 2);
}

TEST_CASE(
    "slower than fewer GPUs are all numbers further below a smaller one than two runs differ, wherever they "
    "are") {
  const Crossover c = find(curve([](int n) { return n >= 37 ? n - 4.0 : 1.0 * n; }), 64, 4, 100);
  CHECK(c.slower_than_fewer == Ranges{{37, 38}});  // 36 * 0.972 = 34.98: 35 on 39 is not
  CHECK(c.slower_than_one_gpu.empty());
  const Crossover slight = find(curve([](int n) { return n == 2 ? 0.985 : 1.0 * n; }), 4, 4, 100);
  CHECK(slight.slower_than_fewer.empty());
  CHECK(slight.slower_than_one_gpu.empty());
}

TEST_CASE(
    "by default numbers count that a person would request: within a node, whole nodes, and the listed ones") {
  CHECK(requested_numbers({.most_gpus = 18, .gpus_per_node = 4}) == std::vector<int>{1, 2, 3, 4, 8, 12, 16});
  CHECK(requested_numbers({.most_gpus = 18, .gpus_per_node = 4, .listed = {6, 18, 40}}) ==
        std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16, 18});
  CHECK(requested_numbers({.most_gpus = 3, .gpus_per_node = 4}) == std::vector<int>{1, 2, 3});
  CHECK(requested_numbers({.most_gpus = 6, .gpus_per_node = 4, .every_gpu = true}) ==
        std::vector<int>{1, 2, 3, 4, 5, 6});
  CHECK(requested_numbers({.most_gpus = 1'000'000, .gpus_per_node = 8}).size() < 4000);
}

TEST_CASE("what does not fit into memory is no answer, but one GPU stays the baseline") {
  const auto fits = [](int gpus) { return gpus >= 3 && gpus <= 8; };
  CHECK(requested_numbers({.most_gpus = 16, .gpus_per_node = 4, .listed = {2, 6}, .fits = fits}) ==
        std::vector<int>{1, 3, 4, 6, 8});
  const Crossover c = find_crossover(
      curve([](int n) { return 1.0 * n; }),
      {.most_gpus = 16, .gpus_per_node = 4, .samples_per_step = [](int n) { return 1.0 * n; }, .fits = fits});
  CHECK(c.fastest_gpus == 8);
}

TEST_CASE("a single GPU on a further node is no crossing unless every number counts") {
  const auto lone = curve([](int n) { return n % 4 == 1 && n > 1 ? 0.5 * n : 1.0 * n; });
  const Crossover c = find_crossover(
      lone, {.most_gpus = 96, .gpus_per_node = 4, .budget = 400, .samples_per_step = [](int n) {
               return 1.0 * n;
             }});
  CHECK(c.slower_than_fewer.empty());
  CHECK(c.numbers == 27);
  CHECK(c.fastest_gpus == 96);
  CHECK(find(lone, 96, 4, 400).slower_than_fewer.size() == 23);
}

TEST_CASE("what is worth requesting: every number up to one, and the largest of all") {
  // 5 GPUs are on two nodes and fall to 70 %; from 6 on it is 85 %.
  const Crossover c =
      find(curve([](int n) { return n < 5    ? 1.0 * n
                                    : n == 5 ? 3.5
                                             : 0.85 * n; }), 16, 4, 100);
  REQUIRE(c.worth_requesting.size() == 4);
  CHECK(c.worth_requesting[0] == WorthRequesting{0.9, 4, 4});
  CHECK(c.worth_requesting[1] == WorthRequesting{0.8, 4, 16});
  CHECK(c.worth_requesting[3] == WorthRequesting{0.5, 16, 16});
  CHECK(c.efficiency_below_80 == 5);
  CHECK_FALSE(c.efficiency_below_50);
}

TEST_CASE("a search that may not look everywhere says so") {
  const ThroughputFunction rough = curve([](int n) { return n * (0.8 + 0.15 * std::sin(n)); });
  CHECK_FALSE(find(rough, 2000, 4, 12).is_certain);
  CHECK(find(rough, 2000, 4, 8000).is_certain);
}

TEST_CASE("the budget pays for nodes: of a job on many, fewer numbers are simulated") {
  const ThroughputFunction rough = curve([](int n) { return n * (0.8 + 0.15 * std::sin(n)); });
  const auto simulated = [&](int per_node) { return find(rough, 4096, per_node, 200).simulated; };
  CHECK(simulated(1) < simulated(8));
  CHECK(simulated(8) < simulated(64));
}

TEST_CASE("a curve that is known to jump is looked at everywhere, as far as the budget goes") {
  const ThroughputFunction lone = curve([](int n) { return n == 37 ? 30.0 : 1.0 * n; });
  const auto search = [&](int budget) {
    return find_crossover(lone, {100, 4, budget, [](int n) { return 1.0 * n; }, true, true});
  };
  CHECK(search(120).slower_than_fewer == Ranges{{37, 37}});
  CHECK(search(120).simulated == 100);
  CHECK(search(120).is_certain);
  CHECK_FALSE(search(90).is_certain);
}

TEST_CASE("a smooth curve needs few of many numbers") {
  // The fifth GPU, alone on its node, is a loss; from there on 2 % more of a step with each doubling.
  const Crossover c =
      find(curve([](int n) { return n < 5 ? 1.0 * n : 0.75 * n / (1 + 0.02 * std::log2(n / 4.0)); }), 4096, 4,
           2000);
  REQUIRE_FALSE(c.slower_than_fewer.empty());
  CHECK(c.slower_than_fewer.front() == GpuRange{5, 5});
  CHECK(c.is_certain);
  CHECK(c.simulated < 200);
  CHECK(c.searched == 4096);
}

}  // namespace crossover_test
