// How times, ranges and factors are said.
#include "sim/base/spoken.hpp"

#include <limits>

#include "tests/support/catch.hpp"

namespace spoken_test {

using namespace foretrain;

TEST_CASE("durations have two or three digits and the unit people use") {
  const std::pair<double, const char*> said[] = {
      {2.5e-6, "2.5 us"},  {0.00271, "2.7 ms"},      {0.0984, "98 ms"},        {1.44, "1.4 s"},
      {49, "49 s"},        {147, "2 min 27 s"},      {19 * 60, "19 min"},      {4 * 3600 + 600, "4 h 10 min"},
      {29 * 3600, "29 h"}, {109 * 3600, "4 d 13 h"}, {31.2 * 86400, "31 days"}};
  for (const auto& [seconds, text] : said) CHECK(spoken_duration(seconds) == text);
}

TEST_CASE("what is rounded up to a whole unit is said in it") {
  CHECK(spoken_duration(0.9999) == "1 s");
  CHECK(spoken_duration(119.8) == "2 min");
  CHECK(spoken_duration(2 * 3600 - 1) == "2 h");
  CHECK(spoken_duration(3 * 86400 - 10) == "3 d");
}

TEST_CASE("no time is 0 s and an endless one is a dash") {
  CHECK(spoken_duration(0) == "0 s");
  CHECK(spoken_duration(-1) == "0 s");
  CHECK(spoken_duration(std::numeric_limits<double>::infinity()) == "-");
  CHECK(spoken_duration(1e300) != "");
}

TEST_CASE("a range says its unit once where both ends have it") {
  CHECK(spoken_range(27 * 3600, 32 * 3600) == "27 to 32 h");
  CHECK(spoken_range(0.0008, 0.0021) == "800 us to 2.1 ms");
  CHECK(spoken_range(4 * 3600, 11 * 3600) == "4 to 11 h");
  CHECK(spoken_range(50, 130) == "50 s to 2 min 10 s");
}

TEST_CASE("factors have one digit behind the point, more near one and none from ten on") {
  CHECK(spoken_factor(1) == "1");
  CHECK(spoken_factor(0.953) == "0.95");
  CHECK(spoken_factor(1.049) == "1.05");
  CHECK(spoken_factor(3.84) == "3.8");
  CHECK(spoken_factor(12.6) == "13");
}

TEST_CASE("numbers of things are millions and billions from a million on") {
  CHECK(spoken_count(10) == "10");
  CHECK(spoken_count(61'706) == "61,706");
  CHECK(spoken_count(25'557'032) == "25.6 M");
  CHECK(spoken_count(999.9e6) == "1 B");
  CHECK(spoken_count(1.336e9) == "1.34 B");
}

TEST_CASE("certainty is never claimed") {
  CHECK(spoken_chance(0.999) == "more than 99 %");
  CHECK(spoken_chance(0.001) == "less than 1 %");
  CHECK(spoken_chance(0.404) == "40 %");
}

}  // namespace spoken_test
