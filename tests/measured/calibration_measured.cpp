// Calibrations of the clusters that others measured: how well they predict what they have not seen.
#include <algorithm>

#include "sim/analysis/fit/calibration_check.hpp"
#include "sim/import/sample_log.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured.hpp"

namespace calibration_measured {

using namespace foretrain;

namespace {

/// All but those clusters.
CalibrationCheck check(HoldOut hold_out, const std::vector<std::string>& without) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  const std::vector<Sample> samples =
      read_sample_log(read_text_file((test::kMeasured / "nccl.csv").string(), kLargestSamples)).samples;
  std::vector<Platform> platforms = platforms_of(samples, "");
  std::erase_if(platforms,
                [&](const Platform& platform) { return std::ranges::count(without, platform.cluster) > 0; });
  return check_calibration(platforms, hold_out, open_uncalibrated_cluster);
}

}  // namespace

TEST_CASE(
    "every second size of the open nccl-tests rows is predicted from the others within 5 % on four platforms "
    "of five") {
  const CalibrationCheck sizes =
      check(HoldOut::sizes, {"gcp-a3-mega", "alps-gh200"});  // those take seconds each
  INFO("sizes: median " << sizes.before.median << " before, " << sizes.after.median << " after; "
                        << sizes.within_five_percent << " of " << sizes.platforms << " platforms within 5 %");
  REQUIRE(sizes.platforms > 20);
  CHECK(sizes.within_five_percent >= 0.8 * sizes.platforms);
  CHECK(sizes.after.median < 0.03);
}

TEST_CASE(
    "jobs on more nodes are predicted better from the open nccl-tests rows of the fewest nodes than with the "
    "defaults") {
  const CalibrationCheck nodes = check(HoldOut::nodes, {});
  INFO("nodes: median " << nodes.before.median << " before, " << nodes.after.median << " after; "
                        << nodes.platforms << " platforms");
  REQUIRE(nodes.platforms >= 3);
  CHECK(nodes.after.median < nodes.before.median);
  test::check_figures("calibration_measured/more nodes",
                      {test::Figure::at_most("median error", 0.12, nodes.after.median)});
}

}  // namespace calibration_measured
