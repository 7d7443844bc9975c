// Reports of a fitted calibration against approved texts in tests/golden/approved; a wanted change is
// approved by copying what the failing test prints.

#include "sim/report/calibration/calibration_reports.hpp"

#include "tests/support/approved.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_calibration.hpp"

namespace calibration_reports {

using namespace foretrain;
using test::approved;

TEST_CASE("the table of a calibration is as approved") {
  CHECK(write_calibration_table(test::example_calibration_fit(), {test::example_constants(), 3}) ==
        approved("calibration.txt"));
}
TEST_CASE("the drawing of a calibration is as approved") {
  CHECK(draw_calibration(test::example_calibration_fit()) == approved("calibration.svg"));
}

}  // namespace calibration_reports
