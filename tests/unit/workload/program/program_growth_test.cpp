// Numbers of a program as functions of the ranks, against what frameworks do with them.
#include "sim/workload/program/program_growth.hpp"

#include "tests/support/catch.hpp"

namespace foretrain {

TEST_CASE("a number that stays is a constant") { CHECK(grown(7, 4, 7, 16, 8) == 7); }

TEST_CASE("a number in proportion to the ranks grows with them") {
  CHECK(grown(8, 4, 32, 16, 64) == 128);
  CHECK(grown(2, 16, 8, 64, 32) == 4);
  CHECK_FALSE(grown(2, 16, 8, 64, 24 + 1));  // no whole number
}

TEST_CASE("a shard is the whole over the ranks, rounded up") {
  // 1,024 rows over 16 and 64 ranks, exactly
  CHECK(grown(64, 16, 16, 64, 128) == 8);
  // 1,000 rows: 63 and 16
  CHECK(grown(63, 16, 16, 64, 32) == 32);
  // More ranks than rows: one row is left
  CHECK(grown(63, 16, 16, 64, 4096) == 1);
}

TEST_CASE("what is padded to the ranks is the share times the ranks") {
  // 1,000 rows padded to 1,008 and 1,024
  CHECK(grown(16 * 63, 16, 64 * 16, 64, 24) == 24 * 42);
}

TEST_CASE("rows of several numbers are shared as wholes") {
  // 1,000 rows of 512 over 4 and 16 ranks: 250 and 63 rows
  CHECK(grown(250 * 512, 4, 63 * 512, 16, 8) == 125 * 512);
  CHECK(grown(250 * 512, 4, 63 * 512, 16, 7) == 143 * 512);
}

TEST_CASE("a sum of padded tensors lies between its recordings") {
  // 1,000 rows of 512 and 100 rows of 7 over 4 and 16 ranks
  const auto found = grown(250 * 512 + 25 * 7, 4, 63 * 512 + 7 * 7, 16, 8);
  REQUIRE(found);
  CHECK(std::abs(static_cast<double>(*found) - (125 * 512 + 13 * 7)) < 0.01 * 125 * 512);
}

TEST_CASE("a table with an entry for each rank and a head is on a line") {
  CHECK(grown(20, 4, 44, 10, 100) == 404);
}

TEST_CASE("what follows no rule is refused") {
  CHECK_FALSE(grown(100, 16, 37, 64, 32));
  CHECK_FALSE(grown(7, 3, 10, 5, 9));
}

}  // namespace foretrain
