// Names of constants, among which those of links stand for any link.
#include "sim/scenario/calibration/calibration_constants.hpp"

#include "tests/support/catch.hpp"

namespace calibration_constants_test {

using namespace foretrain;

namespace {

bool is_known(const std::string& name) {
  static const std::vector<ConstantRange> known = calibratable_constants();
  return find_constant(known, name) != nullptr;
}

}  // namespace

TEST_CASE("constants of the layers are known by their names") {
  for (const char* name :
       {"gpu.memory_efficiency", "host.slowdown", "host.launch", "kernel.minimum", "gemm.half",
        "conv.winograd", "nccl.kernel", "nccl.ring_step.ll128", "loss.collective_share"}) {
    INFO(name);
    CHECK(is_known(name));
  }
  for (const char* name : {"", "gpu", "gemm.", "gemm.half ", "GEMM.half", "nccl.ring_step",
                           "nccl.ring_step.ll12", "*", "link.*"}) {
    INFO(name);
    CHECK_FALSE(is_known(name));
  }
}

TEST_CASE("the constants of a link are known for a link of any name, but not of none") {
  for (const char* name : {"link.ib_hdr100.bandwidth", "link.x.bandwidth",
                           "link.nvlink3.collective_efficiency", "link.a.b.latency"}) {
    INFO(name);
    CHECK(is_known(name));
  }
  for (const char* name : {"link..bandwidth", "link.bandwidth", "link.ib_hdr100.colour",
                           "ib_hdr100.bandwidth", "link.ib_hdr100.", "link."}) {
    INFO(name);
    CHECK_FALSE(is_known(name));
  }
}

TEST_CASE("a link's constant is found as that constant, though another's name ends alike") {
  const std::vector<ConstantRange> known = calibratable_constants();
  CHECK(find_constant(known, "link.ib_hdr100.latency")->name == "link.*.latency");
  CHECK(find_constant(known, "link.ib_hdr100.collective_latency")->name == "link.*.collective_latency");
  CHECK(find_constant(known, "link.ib_hdr100.rendezvous_latency")->name == "link.*.rendezvous_latency");
}

}  // namespace calibration_constants_test
