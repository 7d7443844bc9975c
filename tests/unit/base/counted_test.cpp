// Nouns in singular and plural.
#include "sim/base/counted.hpp"

#include "tests/support/catch.hpp"

namespace counted_test {

using namespace foretrain;

TEST_CASE("only one of a thing has no s") {
  CHECK(counted(1, "GPU") == "1 GPU");
  CHECK(counted(0, "row") == "0 rows");
  CHECK(counted(2, "node") == "2 nodes");
  CHECK(counted(5'000'000'000, "sample") == "5000000000 samples");
}

TEST_CASE("the noun alone is for numbers that stand elsewhere") {
  CHECK(plural(1, "line") == "line");
  CHECK(plural(3, "line") == "lines");
}

TEST_CASE("nouns that end with a hiss take es") {
  CHECK(counted(1, "process") == "1 process");
  CHECK(counted(2, "process") == "2 processes");
  CHECK(counted(0, "switch") == "0 switches");
  CHECK(counted(3, "box") == "3 boxes");
  CHECK(counted(3, "epoch") == "3 epochs");
  CHECK(counted(2, "bus line") == "2 bus lines");
}

}  // namespace counted_test
