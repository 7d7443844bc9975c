// Constants of kernels that a cluster measured, in the place of those of its GPU's family.
#include "sim/workload/device/device_constants.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace device_constants_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("a cluster without a calibration has the kernels of its GPU's family") {
  const ClusterSpec cluster = plain_node(1, a100());
  const KernelCalibration own = kernel_calibration_of(cluster),
                          family = default_kernel_calibration(cluster.node.gpu);
  for (const ConstantOf<KernelCalibration>& row : kernel_constants()) {
    INFO(row.range.name);
    CHECK(row.get(own) == row.get(family));
  }
}

TEST_CASE("a measured constant of kernels replaces the family's, and no other") {
  ClusterSpec cluster = plain_node(1, a100());
  const KernelCalibration family = kernel_calibration_of(cluster);
  cluster.calibration.constants = {{"gemm.half", 0.5, 0, 0, 0, 0, 0},
                                   {"kernel.minimum", 3e-6, 0, 0, 0, 0, 0},
                                   {"kernel.colour", 1, 0, 0, 0, 0, 0}};
  const KernelCalibration own = kernel_calibration_of(cluster);
  CHECK(own.gemm.half == 0.5);
  CHECK(own.minimum == microseconds(3));
  CHECK(own.gemm.tf32 == family.gemm.tf32);
  CHECK(own.conv.half == family.conv.half);
  CHECK(own.attention.half == family.attention.half);
  CHECK(own.launch_gap == family.launch_gap);
}

TEST_CASE("libraries before CUDA 12.3 multiply 16-bit matrices of Hopper slower, and nothing else") {
  Gpu hopper = a100();
  hopper.architecture = Architecture::hopper;
  const KernelCalibration today = default_kernel_calibration(hopper);
  const KernelCalibration early = with_library(today, hopper, {12, 1});
  CHECK(early.gemm.half < 0.9 * today.gemm.half);
  KernelCalibration same = early;
  same.gemm.half = today.gemm.half;
  CHECK(same == today);
  CHECK(with_library(today, hopper, {11, 8}) == early);
  CHECK(with_library(today, hopper, {12, 3}) == today);
  CHECK(with_library(today, hopper, {0, 0}) == today);
  const KernelCalibration ampere = default_kernel_calibration(a100());
  CHECK(with_library(ampere, a100(), {11, 8}) == ampere);
}

TEST_CASE("products that a cluster measured stand, whatever its toolkit") {
  ClusterSpec cluster = plain_node(1, a100());
  cluster.node.gpu.architecture = Architecture::hopper;
  const double early = kernel_calibration_of(cluster, {12, 1}).gemm.half;
  CHECK(early < kernel_calibration_of(cluster).gemm.half);
  cluster.calibration.constants = {{"gemm.half", 0.5, 0, 0, 0, 0, 0}};
  CHECK(kernel_calibration_of(cluster, {12, 1}).gemm.half == 0.5);
}

TEST_CASE("each class of kernels has a share for each kind of arithmetic") {
  KernelCalibration kernels;
  double value = 0.1;
  for (const ConstantOf<KernelCalibration>& row : kernel_constants()) {
    if (row.range.name.starts_with("gemm.") || row.range.name.starts_with("attention."))
      row.set(kernels, value += 0.01);
  }
  CHECK(kernels.gemm.fp32 == Approx(0.11));
  CHECK(kernels.gemm.tf32 == Approx(0.12));
  CHECK(kernels.gemm.half == Approx(0.13));
  CHECK(kernels.gemm.fp8 == Approx(0.14));
  CHECK(kernels.attention.fp32 == Approx(0.15));
  CHECK(kernels.attention.fp8 == Approx(0.18));
}

}  // namespace device_constants_test
