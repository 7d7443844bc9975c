// From the made-up machine through foretrain-bench and `foretrain calibrate fit` back to its constants
// (tests/standin/constants.hpp).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/scenario/calibration/calibration_points.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/bench/bench_run.hpp"
#include "tests/standin/constants.hpp"
#include "tests/support/catch.hpp"

namespace recovery_test {

using namespace foretrain;
using test::BenchFolder;
using test::BenchOutcome;

namespace {

constexpr double kTolerance = 0.01;
/// Of one run of everything in the time that a user gives it.
constexpr double kToleranceOfOneRun = 0.03;

/// A family and the memory of a GPU that it is given.
struct Family {
  std::string name, memory;
};

/// The calibration that families give.
class Recovered {
 public:
  explicit Recovered(const std::vector<Family>& families, const std::string& budget = "100s") {
    std::string files;
    for (const auto& [family, memory] : families) {
      const BenchOutcome run = folder_.run("--only " + family + " -o " + family + ".csv --budget " + budget,
                                           "FORETRAIN_STANDIN_MEMORY=" + memory);
      INFO(run.err);
      REQUIRE(run.exit_code == 0);
      files += family + ".csv ";
    }
    fitted_ =
        folder_.foretrain("calibrate fit " + files +
                          "--cluster '" FORETRAIN_SOURCE_DIR "/tests/standin/machine.toml' -o out.toml");
    INFO(fitted_.err);
    REQUIRE(fitted_.exit_code == 0);
    const SourceText source = read_text_file((folder_ / "out.toml").string());
    Diagnostics diagnostics(source);
    calibration_ = read_calibration(source, diagnostics);
    points_ = read_calibration_points(source, diagnostics);
    diagnostics.throw_if_any();
  }

  const std::string& table() const { return fitted_.out; }
  double constant(const std::string& name) const {
    const CalibratedConstant* found = calibration_.find(name);
    return found == nullptr ? std::nan("") : found->value;
  }
  void check(const std::string& name, double truth, double tolerance = kTolerance) const {
    INFO(name << " is " << truth << ", fitted " << constant(name));
    CHECK(constant(name) == Approx(truth).epsilon(tolerance));
  }
  const Calibration& calibration() const { return calibration_; }
  /// |fitted / measured - 1|, sorted, of the samples whose name begins so.
  std::vector<double> errors(const std::string& what) const {
    std::vector<double> found;
    for (const CalibrationPoints& points : points_) {
      for (const CalibrationPoints::Row& row : points.rows) {
        if (points.what.starts_with(what)) found.push_back(std::abs(row.fitted / row.measured - 1));
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  BenchFolder folder_;
  BenchOutcome fitted_;
  Calibration calibration_;
  std::vector<CalibrationPoints> points_;
};

/// Each one piece of latency and rate.
void check_collectives(const Recovered& found, double tolerance) {
  int all_reduces = 0;
  for (const CalibratedCollective& measured : found.calibration().collectives) {
    INFO(measured.op << " " << measured.algorithm << " " << measured.protocol);
    REQUIRE(measured.segments.size() == 1);
    const double factor = measured.protocol == "ll" ? 0.5 : measured.protocol == "ll128" ? 0.75 : 1;
    const bool is_halved =
        measured.op == "all_gather" || measured.op == "reduce_scatter" || measured.op == "alltoall";
    CHECK(measured.segments[0].latency_s == Approx(factor * standin::kCollectiveLatency).epsilon(tolerance));
    CHECK(1 / measured.segments[0].seconds_per_byte ==
          Approx(factor * standin::kCollectiveRate * (is_halved ? 2 : 1)).epsilon(tolerance));
    all_reduces += measured.op == "all_reduce" ? 1 : 0;
  }
  CHECK(found.calibration().collectives.size() == 13);
  CHECK(all_reduces == 7);
}

/// Of constants that follow from each other in everything that can be measured, the sums.
void check_all(const Recovered& found, double tolerance) {
  using namespace standin;
  found.check("host.launch", kLaunchCall, tolerance);
  found.check("host.launch_latency", kLaunchLatency, tolerance);
  found.check("host.sync_wake", kWake, tolerance);
  found.check("host.event", kEventCall, tolerance);
  found.check("host.copy_call", kCopyCall, tolerance);
  found.check("host.graph_launch", kGraphCall, tolerance);
  found.check("host.graph_launch_node", kGraphCallNode, tolerance);
  found.check("link.pcie4_x16.bandwidth", kHostRate, tolerance);
  found.check("link.pcie4_x16.latency", kHostLatency, tolerance);
  found.check("link.nvlink3.bandwidth", kPeerRate / 4, tolerance);
  found.check("link.nvlink3.latency", kPeerLatency, tolerance);
  found.check("gpu.memory_efficiency", kMemoryEfficiency, tolerance);
  found.check("kernel.cache_speed", kCacheSpeed, tolerance);
  CHECK(found.constant("kernel.minimum") + found.constant("kernel.launch_gap") ==
        Approx(kMinimum + kGap).epsilon(tolerance));
}

}  // namespace

TEST_CASE("one run of eight minutes brings every constant back within three hundredths") {
  const Recovered found({Family{"host,gemm,copy,memory,collective,conv,mix,tax", "1e9"}}, "8m");
  check_all(found, kToleranceOfOneRun);
  check_collectives(found, kToleranceOfOneRun);
}

TEST_CASE("calls of CUDA come back from the samples within a hundredth") {
  const Recovered found({Family{"host", "1e9"}});
  found.check("host.launch", standin::kLaunchCall);
  found.check("host.launch_latency", standin::kLaunchLatency);
  found.check("host.sync_wake", standin::kWake);
  found.check("host.event", standin::kEventCall);
  found.check("host.copy_call", standin::kCopyCall);
  found.check("host.graph_launch", standin::kGraphCall);
  found.check("host.graph_launch_node", standin::kGraphCallNode);
}

TEST_CASE("links come back within a hundredth, those of NVLink and of PCIe") {
  const Recovered found({Family{"copy", "20e6"}});
  found.check("link.pcie4_x16.bandwidth", standin::kHostRate);
  found.check("link.pcie4_x16.latency", standin::kHostLatency);
  found.check("link.nvlink3.bandwidth", standin::kPeerRate / 4);
  found.check("link.nvlink3.latency", standin::kPeerLatency);
}

// A gap and the shortest kernel follow each other in everything that can be measured: their sum comes back.
TEST_CASE("the GPU's memory, its cache and its shortest kernel come back within a hundredth") {
  const Recovered found({Family{"memory", "1e9"}, {"host", "1e9"}});
  found.check("gpu.memory_efficiency", standin::kMemoryEfficiency);
  found.check("kernel.cache_speed", standin::kCacheSpeed);
  CHECK(found.constant("kernel.minimum") + found.constant("kernel.launch_gap") ==
        Approx(standin::kMinimum + standin::kGap).epsilon(kTolerance));
}

TEST_CASE(
    "every collective comes back as one piece of latency and rate, and NCCL's share of the link from them") {
  const Recovered found({Family{"copy", "20e6"}, {"collective", "300e6"}});
  check_collectives(found, kTolerance);
  // The model's small steps of NCCL and the last copy out of its buffers, which this machine does not have,
  // take up to a sixth of the time: the links come back as much faster.
  found.check("link.nvlink3.collective_efficiency", standin::kCollectiveRate / standin::kPeerRate, 0.25);
}

// The machine computes at a flat rate, the model in tiles and waves: what comes back are times, not shares of
// the peak.
TEST_CASE("products come back by their times: half of them within 14 percent, nine of ten within 45") {
  const Recovered found({Family{"memory", "1e9"}, {"gemm", "900e6"}});
  const std::vector<double> errors = found.errors("gemm");
  REQUIRE(errors.size() == 110);
  INFO("median " << errors[55] << ", p90 " << errors[99]);
  CHECK(errors[55] < 0.14);
  CHECK(errors[99] < 0.45);
}

TEST_CASE("the tax of collectives on compute is fitted, and is less with fewer channels") {
  const Recovered found({Family{"tax", "720e6"}});
  CHECK(found.constant("loss.collective_share") > 0.2);
  CHECK(found.constant("loss.collective_share") < 1);
  CHECK_THAT(found.table(), !ContainsSubstring("Left out"));
}

}  // namespace recovery_test
