// What the names of kernels tell of their work.
#include "sim/analysis/traces/trace_summary.hpp"
#include "tests/support/catch.hpp"

namespace kernel_kind_test {

using namespace foretrain;

TEST_CASE("cuDNN's conversions of types and layouts are copies, its convolutions are none") {
  CHECK(kernel_kind(
            "void cudnn::ops::convertTensor_kernel<float, float, __half, (cudnnKernelDataType_t)0>(float)") ==
        "copy");
  CHECK(kernel_kind("void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true>(params)") ==
        "copy");
  CHECK(kernel_kind("void implicit_convolve_sgemm<float, float, 128, 6, 7>(int, int, int)") == "conv");
  CHECK(kernel_kind("sm80_xmma_fprop_implicit_gemm_f16f16") == "conv");
  CHECK(kernel_kind("void conv2d_c1_k1_nhwc_kernel<float>(params)") == "conv");
}

}  // namespace kernel_kind_test
