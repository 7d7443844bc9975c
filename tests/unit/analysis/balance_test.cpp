// Samples shared out among unlike ranks: the sum, the memory, and that nobody could be ready sooner.
#include "sim/analysis/step/balance.hpp"

#include <algorithm>

#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace balance_test {

using namespace foretrain;

namespace {

struct DrawnKind {
  int ranks = 1;
  std::int64_t most = 1'000'000;
  double base = 0, per_sample = 1;
};

std::vector<BalancedKind> kinds_of(const std::vector<DrawnKind>& drawn) {
  std::vector<BalancedKind> kinds;
  for (const DrawnKind& kind : drawn)
    kinds.push_back({kind.ranks, kind.most, [kind](std::int64_t batch) {
                       return kind.base + kind.per_sample * static_cast<double>(batch);
                     }});
  return kinds;
}

std::int64_t sum_of(const std::vector<KindBatches>& batches, const std::vector<DrawnKind>& kinds) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k)
    sum += kinds[k].ranks * batches[k].batch + batches[k].one_more;
  return sum;
}

double slowest_of(const std::vector<KindBatches>& batches, const std::vector<DrawnKind>& kinds) {
  double slowest = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const double batch = static_cast<double>(batches[k].batch + (batches[k].one_more > 0 ? 1 : 0));
    if (kinds[k].ranks > 0) slowest = std::max(slowest, kinds[k].base + kinds[k].per_sample * batch);
  }
  return slowest;
}

/// Sample by sample to the rank that would be ready first with it.
double naive(const std::vector<DrawnKind>& kinds, std::int64_t samples) {
  std::vector<KindBatches> batches;
  for (const DrawnKind& kind : kinds) batches.push_back({1, 0}), samples -= kind.ranks;
  for (; samples > 0; --samples) {
    std::size_t best = kinds.size();
    double ready = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      if (kinds[k].ranks == 0 || batches[k].batch >= kinds[k].most) continue;
      const double then = kinds[k].base + kinds[k].per_sample * static_cast<double>(batches[k].batch + 1);
      if (best == kinds.size() || then < ready) best = k, ready = then;
    }
    if (++batches[best].one_more == kinds[best].ranks) ++batches[best].batch, batches[best].one_more = 0;
  }
  return slowest_of(batches, kinds);
}

}  // namespace

TEST_CASE("samples go in proportion to speed") {
  const std::vector<DrawnKind> kinds{{4, 1000, 0, 2}, {4, 1000, 0, 1}};
  const std::vector<KindBatches> batches = balance(kinds_of(kinds), 4 * 20 + 4 * 40);
  CHECK(batches[0].batch == 20);
  CHECK(batches[1].batch == 40);
  CHECK(batches[0].one_more + batches[1].one_more == 0);
}

TEST_CASE("the slowest rank is ready as early as when samples are dealt out one by one") {
  const CounterRandom random(11);
  for (std::uint64_t i = 0; i < 200; ++i) {
    std::vector<DrawnKind> kinds;
    std::int64_t ranks = 0;
    for (std::uint64_t k = 0; k < 1 + i % 4; ++k) {
      kinds.push_back({1 + static_cast<int>(9 * random.uniform(k, i)), 1'000'000, random.uniform(10 + k, i),
                       0.01 + random.uniform(20 + k, i)});
      ranks += kinds.back().ranks;
    }
    const std::int64_t samples = ranks + static_cast<std::int64_t>(400 * random.uniform(30, i));
    const std::vector<KindBatches> batches = balance(kinds_of(kinds), samples);
    CAPTURE(i, samples, ranks);
    CHECK(sum_of(batches, kinds) == samples);
    CHECK(slowest_of(batches, kinds) == Approx(naive(kinds, samples)).epsilon(1e-9));
  }
}

TEST_CASE("memory is kept to as long as all ranks together have it") {
  const std::vector<DrawnKind> kinds{{2, 10, 0, 0.1}, {2, 1000, 0, 1}};
  const std::vector<KindBatches> batches = balance(kinds_of(kinds), 100);
  CHECK(batches[0].batch == 10);
  CHECK(batches[1].batch == 40);
  CHECK(sum_of(balance(kinds_of({{2, 10, 0, 1}, {2, 10, 0, 1}}), 100), {{2, 10}, {2, 10}}) == 100);
}

TEST_CASE("a kind without ranks in the job gets nothing and is asked nothing") {
  std::vector<BalancedKind> kinds = kinds_of({{3, 1000, 0, 1}});
  kinds.push_back({0, 0, nullptr});
  CHECK(balance(kinds, 10)[0].batch == 3);
  CHECK(balance(kinds, 10)[0].one_more == 1);
}

}  // namespace balance_test
