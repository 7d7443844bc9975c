// What was decided, in order, once.
#include "sim/base/decisions.hpp"

#include "tests/support/catch.hpp"

namespace decisions_test {

using namespace foretrain;

TEST_CASE("decisions keep the order in which they were taken") {
  Decisions decisions;
  decisions.add("b", "x", "why");
  decisions.add("a", "y", "because");
  REQUIRE(decisions.list().size() == 2);
  CHECK(decisions.list()[0] == Decision{"b", "x", "why"});
  CHECK(decisions.list()[1] == Decision{"a", "y", "because"});
}

TEST_CASE("the same decision is kept once, another reason is another decision") {
  Decisions decisions;
  decisions.add("all_reduce", "ring", "one");
  decisions.add("all_reduce", "ring", "one");
  decisions.add("all_reduce", "ring", "two");
  CHECK(decisions.list().size() == 2);
}

TEST_CASE("decisions of others are taken over without doubles, also one's own") {
  Decisions mine, others;
  mine.add("a", "1", "");
  others.add("a", "1", "");
  others.add("b", "2", "");
  mine.add(others);
  CHECK(mine == others);
  mine.add(mine);
  CHECK(mine == others);
}

TEST_CASE("a hundred thousand decisions are kept as fast as they come") {
  Decisions decisions;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100'000; ++i)
      decisions.add("gather " + std::to_string(i), "ring", "each is a message");
  }
  CHECK(decisions.list().size() == 100'000);
  CHECK(decisions.list().back().subject == "gather 99999");
}

}  // namespace decisions_test
