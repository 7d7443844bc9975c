// How long a convolution runs on CUDA cores: the fastest of the algorithms that cuDNN has for it.
#pragma once

#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

/// Seconds by each algorithm, with its traffic; infinite where it does not exist for this convolution.
struct ConvolutionTimes {
  double implicit_gemm = 0;      ///< the product itself, its operand gathered from the image
  double fused_winograd = 0;     ///< F(2x2, 3x3) in one kernel
  double separate_winograd = 0;  ///< F(4x4, 3x3): transforms, 36 batched products, transform
  double fastest() const;
};

/// Formulas: docs/models/convolution.md. Winograd's are for 3 x 3 windows of stride 1; the fused one has no
/// form for the gradient of the weights.
ConvolutionTimes convolution_times(const Product& product, double batch, const ProductDevice& device,
                                   const Gpu& gpu, const KernelCalibration& calibration);

}  // namespace foretrain
