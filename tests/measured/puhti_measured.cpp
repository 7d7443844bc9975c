// ResNet-50 with DDP on Puhti, measured by CSC (ml-benchmarks): the anchored prediction against 1 to 8 and
// more GPUs.
#include <filesystem>
#include <set>

#include "sim/analysis/validation/validation.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace puhti_measured {

using namespace foretrain;

namespace {

Validation puhti_validated(bool anchor) {
  return validate(test::measured_rows("csc_puhti.csv"), {.anchor = anchor, .settings = {}});
}

}  // namespace

TEST_CASE("anchored at one GPU, Puhti's measured throughput is met within four percent in the median") {
  const Validation v = puhti_validated(true);
  INFO("median " << v.error.median << ", p90 " << v.error.p90 << ", bias " << v.error.bias << ", scored "
                 << v.scored << ", linear " << v.linear.median);
  CHECK(v.scored >= 20);
  CHECK(v.error.median <= 0.04);
}

TEST_CASE(
    "nine of ten of Puhti's measurements lie in the 90 percent interval, and it is narrower than a factor of "
    "two") {
  const Validation v = puhti_validated(true);
  CHECK(v.coverage >= 0.9);
  for (const ValidatedSeries& series : v.series) {
    for (const ValidatedPoint& p : series.points) CHECK(p.high / p.low < 2);
  }
}

TEST_CASE("the prediction is closer to Puhti's measurements than perfect scaling") {
  const Validation v = puhti_validated(true);
  CHECK(v.error.median < v.linear.median);
  CHECK(v.error.mean < v.linear.mean);
}

TEST_CASE("every row of the Puhti file is scored, anchors a series or is skipped for a reason") {
  const Validation v = puhti_validated(false);
  CHECK(v.scored + static_cast<int>(v.skipped.size()) == v.rows);
  for (const SkippedRow& row : v.skipped) CHECK_FALSE(row.why.empty());
}

}  // namespace puhti_measured
