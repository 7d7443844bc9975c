// What a calibration narrows: collectives of the very job, kernels and host where their constants were
// fitted, nothing else.
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"
#include "tests/support/catch.hpp"

namespace calibrated_spreads_test {

using namespace foretrain;

namespace {

double of(const Spreads& spreads, Uncertain which) { return spreads[index_of(which)]; }

Calibration of_job(const std::string& op, int gpus, int nodes) {
  Calibration calibration;
  calibration.collectives.push_back({op, gpus, nodes, 0, "", "", {{8, 1 << 20, 1e-5, 1e-10, 0.02, 9}}});
  return calibration;
}

Calibration with(const std::vector<std::string>& names) {
  Calibration calibration;
  for (const std::string& name : names) calibration.constants.push_back({name, 1, 0.05, 0, 0, 3, 0.01});
  return calibration;
}

const Spreads& kTable = unit_moves();

}  // namespace

TEST_CASE("links are known better for the job whose all-reduces were measured, and for no other") {
  const Spreads job = with_calibration(kTable, of_job("all_reduce", 8, 2), 8, 2);
  CHECK(of(job, Uncertain::node_links) < of(kTable, Uncertain::node_links));
  CHECK(of(job, Uncertain::network) < of(kTable, Uncertain::network));
  CHECK(of(job, Uncertain::kernels) == of(kTable, Uncertain::kernels));
  CHECK(with_calibration(kTable, of_job("all_reduce", 8, 2), 16, 4) == kTable);
  CHECK(with_calibration(kTable, of_job("all_reduce", 8, 2), 8, 1) == kTable);
  CHECK(with_calibration(kTable, of_job("broadcast", 8, 2), 8, 2) == kTable);
  CHECK(with_calibration(kTable, {}, 8, 2) == kTable);
}

TEST_CASE("constants of collectives alone narrow nothing") {
  CHECK(with_calibration(kTable, with({"nccl.kernel", "link.ib_hdr100.collective_efficiency"}), 8, 2) ==
        kTable);
}

TEST_CASE(
    "kernels are known better when products and convolutions were measured, and better still from a "
    "training") {
  CHECK(with_calibration(kTable, with({"gemm.half"}), 1, 1) == kTable);
  const Spreads both = with_calibration(kTable, with({"gemm.half", "conv.half"}), 1, 1);
  const Spreads training = with_calibration(kTable, with({"kernel.time_scale"}), 1, 1);
  CHECK(of(both, Uncertain::kernels) < of(kTable, Uncertain::kernels));
  CHECK(of(training, Uncertain::kernels) < of(both, Uncertain::kernels));
  CHECK(of(both, Uncertain::host) == of(kTable, Uncertain::host));
}

TEST_CASE("the host is known better when it was measured") {
  for (const char* name : {"host.slowdown", "host.launch"})
    CHECK(of(with_calibration(kTable, with({name}), 1, 1), Uncertain::host) < of(kTable, Uncertain::host));
}

}  // namespace calibrated_spreads_test
