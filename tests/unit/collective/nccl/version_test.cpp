// Versions of NCCL as people write them.
#include "sim/collective/nccl/version.hpp"

#include "tests/support/catch.hpp"

namespace version_test {

using namespace foretrain::nccl;

TEST_CASE("an NCCL version has two or three numbers, and what follows a dash does not matter") {
  CHECK(parse_version("2.18.3") == Version{2, 18, 3});
  CHECK(parse_version("2.18.3-1") == Version{2, 18, 3});
  CHECK(parse_version("2.5.6") == kOldestKnown);
  CHECK(parse_version("0.0.0") == Version{0, 0, 0});
  CHECK(parse_version("9999.9999.9999") == Version{9999, 9999, 9999});
  CHECK(Version{} == Version{2, 20, 5});
}

TEST_CASE("an NCCL series without a patch is its newest release") {
  CHECK(parse_version("2.26.x") == parse_version("2.26"));
  CHECK(*parse_version("2.26") > Version{2, 26, 6});
  CHECK(*parse_version("2.26") < Version{2, 27, 0});
  CHECK(to_text(*parse_version("2.26.x")) == "2.26");
  CHECK(to_text(*parse_version("2.26.6")) == "2.26.6");
}

TEST_CASE("what is no NCCL version is refused") {
  for (const char* text : {"", "2", "2.", ".18", "2.18.", "2.18.3.1", "v2.18", "2.x", "2.-1", "2.18 ",
                           "10000.1", "2.10000", "2.18.3x"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_version(text));
  }
}

}  // namespace version_test
