// Lists, ranges and steps of --gpus.
#include "sim/app/options/gpu_numbers.hpp"

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace gpu_numbers_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<int>;

TEST_CASE("numbers, ranges and steps stand for what they name, in order and once") {
  CHECK(gpu_numbers({}).empty());
  CHECK(gpu_numbers({"1", "2", "4"}) == Numbers{1, 2, 4});
  CHECK(gpu_numbers({"1-4"}) == Numbers{1, 2, 3, 4});
  CHECK(gpu_numbers({"3-3"}) == Numbers{3});
  CHECK(gpu_numbers({"1", "2", "4-16:4"}) == Numbers{1, 2, 4, 8, 12, 16});
  CHECK(gpu_numbers({"4-15:4"}) == Numbers{4, 8, 12});
  CHECK(gpu_numbers({"2147483646-2147483647"}) == Numbers{2147483646, 2147483647});
  CHECK(gpu_numbers({"1-2147483647:1073741823"}) == Numbers{1, 1073741824, 2147483647});
  CHECK(gpu_numbers({"1-4", "2-6:2"}) == Numbers{1, 2, 3, 4, 6});
}

TEST_CASE("what is no number, runs backwards or goes on for ever is refused in a sentence") {
  for (const char* text :
       {"", "0", "-1", "-4", "x", "1-", "-", "1-x", "1-4:", "1-4:0", "1:2", "1-4-8", "1.5", "99999999999"}) {
    INFO(text);
    CHECK_THROWS_WITH(gpu_numbers({text}), ContainsSubstring("is no number of GPUs"));
  }
  CHECK_THROWS_WITH(gpu_numbers({"8-4"}), ContainsSubstring("\"8-4\" runs backwards"));
  CHECK(gpu_numbers({"1-1000"}).size() == 1000);
  CHECK_THROWS_WITH(gpu_numbers({"1-1001"}), ContainsSubstring("more than 1000 numbers"));
  CHECK_THROWS_WITH(gpu_numbers({"1-1000000000"}), ContainsSubstring("more than 1000 numbers"));
  CHECK_THROWS_WITH(gpu_numbers({"1-1000", "2000-3000"}), ContainsSubstring("more than 1000 numbers"));
}

}  // namespace gpu_numbers_test
