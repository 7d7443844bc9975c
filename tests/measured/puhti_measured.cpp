// ResNet-50 with DDP on Puhti, measured by CSC (ml-benchmarks): the anchored prediction against 1 to 8 and more GPUs.
#include <filesystem>
#include <set>

#include "sim/analysis/validation.hpp"
#include "sim/scenario/reader.hpp"
#include "tests/support/catch.hpp"

namespace puhti_measured {

using namespace foretrain;

namespace {

const std::filesystem::path kMeasured = FORETRAIN_SOURCE_DIR "/../shared/measured/csc_puhti_open.csv";

Validation validated(bool anchor) {
  const SourceText source = read_text_file(kMeasured.string(), kLargestMeasurements);
  Diagnostics diagnostics(source);
  const MeasurementFile file = read_measurements(source, diagnostics);
  diagnostics.throw_if_any();
  return validate(file, {.anchor = anchor, .settings = {}});
}

}  // namespace

TEST_CASE("anchored at one GPU, Puhti's measured throughput is met within four percent in the median") {
  if (!std::filesystem::exists(kMeasured)) FORETRAIN_SKIP("no ../shared/measured");
  const Validation v = validated(true);
  INFO("median " << v.error.median << ", p90 " << v.error.p90 << ", bias " << v.error.bias << ", scored " << v.scored << ", linear "
                 << v.linear.median);
  CHECK(v.scored >= 20);
  CHECK(v.error.median <= 0.04);
}

TEST_CASE("nine of ten of Puhti's measurements lie in the 90 percent interval, and it is narrower than a factor of two") {
  if (!std::filesystem::exists(kMeasured)) FORETRAIN_SKIP("no ../shared/measured");
  const Validation v = validated(true);
  CHECK(v.coverage >= 0.9);
  for (const ValidatedSeries& series : v.series) {
    for (const ValidatedPoint& p : series.points) CHECK(p.high / p.low < 2);
  }
}

TEST_CASE("the prediction is closer to Puhti's measurements than perfect scaling") {
  if (!std::filesystem::exists(kMeasured)) FORETRAIN_SKIP("no ../shared/measured");
  const Validation v = validated(true);
  CHECK(v.error.median < v.linear.median);
  CHECK(v.error.mean < v.linear.mean);
}

TEST_CASE("every row of the Puhti file is scored, anchors a series or is skipped for a reason") {
  if (!std::filesystem::exists(kMeasured)) FORETRAIN_SKIP("no ../shared/measured");
  const Validation v = validated(false);
  CHECK(v.scored + static_cast<int>(v.skipped.size()) == v.rows);
  for (const SkippedRow& row : v.skipped) CHECK_FALSE(row.why.empty());
}

}  // namespace puhti_measured
