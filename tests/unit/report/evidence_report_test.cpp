// The sentence about measured runs, word by word.
#include "sim/report/evidence/evidence_report.hpp"

#include "tests/support/catch.hpp"

namespace evidence_report_test {

using namespace foretrain;

namespace {

AppliedEvidence measured(std::vector<MeasuredRuns> runs) {
  AppliedEvidence out;
  out.calibrated_on = runs.front().gpus, out.measured = std::move(runs);
  return out;
}

}  // namespace

TEST_CASE("one measured number of GPUs is one sentence with its runs and their source") {
  CHECK(evidence_line_of(measured({{"puhti", "mvsjober/ml-benchmarks", 16, 1, 0.096, 0.101}})) ==
        "Measured on puhti: 96 to 101 ms on 1 GPU (16 runs, mvsjober/ml-benchmarks); the prediction is "
        "calibrated to it.\n");
  CHECK(evidence_line_of(measured({{"puhti", "your own", 1, 4, 0.098, 0.098}})) ==
        "Measured on puhti: 98 ms on 4 GPUs (1 run, your own); the prediction is calibrated to it.\n");
}

TEST_CASE("several numbers of one source name it once, those of several each") {
  CHECK(evidence_line_of(
            measured({{"puhti", "lab", 16, 1, 0.096, 0.101}, {"puhti", "lab", 3, 4, 0.0995, 1.2}})) ==
        "Measured on puhti: 96 to 101 ms on 1 GPU (16 runs, lab), 99.5 ms to 1.2 s on 4 GPUs (3 runs); the "
        "prediction is calibrated to them.\n");
  CHECK(evidence_line_of(measured({{"puhti", "a", 2, 1, 0.1, 0.1}, {"puhti", "b", 2, 4, 0.2, 0.2}})) ==
        "Measured on puhti: 100 ms on 1 GPU (2 runs, a), 200 ms on 4 GPUs (2 runs, b); the prediction is "
        "calibrated to them.\n");
}

TEST_CASE("of more than three measured numbers three are named") {
  std::vector<MeasuredRuns> runs;
  for (const int gpus : {1, 2, 4, 8, 16}) runs.push_back({"puhti", "lab", 1, gpus, 0.1, 0.1});
  CHECK(evidence_line_of(measured(runs)) ==
        "Measured on puhti: 100 ms on 1 GPU (1 run, lab), 100 ms on 2 GPUs (1 run), 100 ms on 4 GPUs (1 run) "
        "and 2 more numbers of GPUs; the prediction is calibrated to them.\n");
}

TEST_CASE("without measured runs nothing is said") { CHECK(evidence_line_of(AppliedEvidence{}).empty()); }

}  // namespace evidence_report_test
