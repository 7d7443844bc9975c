// Time of a convolution on CUDA cores: that of the fastest algorithm that cuDNN has for it.
#pragma once

#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

/// Seconds by each algorithm, traffic included. The time is infinite where the algorithm does not exist for
/// this convolution.
struct ConvolutionTimes {
  double implicit_gemm = 0;      ///< the product itself, its operand gathered from the image
  double fused_winograd = 0;     ///< F(2x2, 3x3) in one kernel
  double separate_winograd = 0;  ///< F(4x4, 3x3): transforms, 36 batched products, transform
  double fastest() const;
};

/// Returns the times of all algorithms. Formulas: docs/models/kernels.md. Winograd's algorithms are for 3
/// x 3 windows of stride 1; the fused one has no form for the gradient of the weights.
ConvolutionTimes convolution_times(const Product& product, double batch, const ProductDevice& device,
                                   const Gpu& gpu, const KernelCalibration& calibration);

}  // namespace foretrain
