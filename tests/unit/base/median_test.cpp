// The median of a list.
#include "sim/base/median.hpp"

#include "tests/support/catch.hpp"

namespace median_test {

using namespace foretrain;

TEST_CASE("the median is the middle value, of an even number the mean of the middle two") {
  CHECK(median({7}) == 7);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
}

}  // namespace median_test
