// The largest number for which something holds.
#include "sim/base/largest_holding.hpp"

#include "tests/support/catch.hpp"

namespace largest_holding_test {

using namespace foretrain;

TEST_CASE("the last number that holds is found for every limit") {
  for (std::int64_t most = 1; most <= 40; ++most) {
    for (std::int64_t last = 0; last <= 50; ++last) {
      INFO("up to " << most << ", holds to " << last);
      CHECK(largest_holding(most, [last](std::int64_t n) { return n <= last; }) == std::min(most, last));
    }
  }
}

TEST_CASE("nothing beyond the limit is asked about, and little below it") {
  int asked = 0;
  std::int64_t largest = 0;
  const auto holds = [&](std::int64_t n) { return ++asked, largest = std::max(largest, n), n <= 700'000; };
  CHECK(largest_holding(1'000'000, holds) == 700'000);
  CHECK(largest <= 1'000'000);
  CHECK(asked <= 42);
}

TEST_CASE("where larger numbers hold again, the successor of the answer does not hold") {
  const auto holds = [](std::int64_t n) { return n <= 5 || (n >= 9 && n <= 12); };
  const std::int64_t found = largest_holding(100, holds);
  CHECK(holds(found));
  CHECK_FALSE(holds(found + 1));
}

}  // namespace largest_holding_test
