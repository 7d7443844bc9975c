// Lists, ranges and steps of --gpus.
#include "sim/app/options/gpu_numbers.hpp"

#include <algorithm>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drawn.hpp"

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

TEST_CASE("any numbers and ranges are those that writing them out gives") {
  test::Random random(31);
  for (int draw = 0; draw < 500; ++draw) {
    std::vector<std::string> texts;
    Numbers all;
    const auto add = [&](int number) {
      if (std::ranges::count(all, number) == 0) all.push_back(number);
    };
    for (std::size_t item = random() % 6; item > 0; --item) {
      const int first = static_cast<int>(1 + random() % 40), last = first + static_cast<int>(random() % 30);
      const int step = static_cast<int>(1 + random() % 9);
      texts.push_back(std::to_string(first));
      if (random() % 3 == 0) {
        add(first);
        continue;
      }
      texts.back() += "-" + std::to_string(last);
      const bool steps = random() % 2 == 0;
      if (steps) texts.back() += ":" + std::to_string(step);
      for (int number = first; number <= last; ++number) {
        if (!steps || (number - first) % step == 0) add(number);
      }
    }
    CHECK(gpu_numbers(texts) == all);
  }
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
