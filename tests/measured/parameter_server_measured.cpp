// Parameter servers of tf_cnn_benchmarks and MXNet as measured by others: anchored predictions on several
// GPUs.
#include "sim/analysis/validation/validation.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace parameter_server_measured {

using namespace foretrain;

namespace {

/// The rows whose series begins with `series`, anchored at one GPU.
Validation servers_validated(std::string_view series) {
  MeasurementFile file = test::measured_rows("scaling.csv");
  std::erase_if(file.scaling, [&](const Measurement& m) {
    return m.strategy != "parameter_server" || !m.series.starts_with(series);
  });
  return validate(file, {.anchor = true, .settings = {}, .provenance = test::measured_provenance()});
}

}  // namespace

TEST_CASE("XLA on eight RTX 8000 exposes every copy of the parameter server: throughputs within 10 percent") {
  const Validation v = servers_validated("LTF-");
  INFO("median " << v.error.median << ", p90 " << v.error.p90 << ", linear " << v.linear.median);
  CHECK(v.scored == 18);
  CHECK(v.error.median <= 0.06);
  CHECK(v.error.p90 <= 0.10);
  CHECK(v.error.median < 0.6 * v.linear.median);
}

TEST_CASE("variables in the host memory of a DGX-1 are fetched and updated beside the work of Inception") {
  const Validation v = servers_validated("TFBENCH-DGX1P100");
  INFO("median " << v.error.median << ", p90 " << v.error.p90);
  CHECK(v.scored == 6);
  CHECK(v.error.p90 <= 0.05);
}

TEST_CASE("MXNet's ResNet-152 keeps its pace from one node to sixteen") {
  const Validation v = servers_validated("MXNET-P2-ResNet-152");
  INFO("median " << v.error.median << ", p90 " << v.error.p90);
  CHECK(v.scored == 8);
  CHECK(v.error.p90 <= 0.08);
}

}  // namespace parameter_server_measured
