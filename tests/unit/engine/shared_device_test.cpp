// Tests of a GPU shared by kernels and collectives.
#include "sim/engine/shared_device.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/small_graph.hpp"

namespace shared_device_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("a kernel alone on its device takes its length to the picosecond") {
  SharedDevice device;
  CHECK(device.begin(0, Time{1'234'567'890'123'457}, Time{1}) == Time{1'234'567'890'123'458});
}

TEST_CASE("an end that was moved by a collective does not count, the new one does, once") {
  SharedDevice device;
  REQUIRE(device.begin(7, 100 * us, Time::zero()) == 100 * us);
  // Half done at 50 us; the other 50 us at half speed take 100 us.
  device.take(0.5, 50 * us);
  REQUIRE(device.running().size() == 1);
  CHECK(device.running()[0].end == 150 * us);
  CHECK_FALSE(device.ended(7, 100 * us));
  CHECK(device.ended(7, 150 * us));
  CHECK_FALSE(device.ended(7, 150 * us));
  CHECK(device.running().empty());
}

TEST_CASE("shares given back leave the device at full speed, whatever their sum was rounded to") {
  SharedDevice device;
  for (const double share : {0.1, 0.2, 0.3}) device.take(share, Time::zero());
  for (const double share : {0.1, 0.2, 0.3}) device.take(-share, Time::zero());
  CHECK(device.begin(0, 100 * us, Time::zero()) == 100 * us);
}

TEST_CASE("moments do not pass the horizon") {
  CHECK(later(2 * us, 3 * us) == 5 * us);
  CHECK(later(kHorizon, us) == kHorizon);
  CHECK(later(us, Time::max()) == kHorizon);
}

}  // namespace shared_device_test
