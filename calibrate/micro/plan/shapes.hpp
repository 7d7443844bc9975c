// Shapes of products and convolutions, and the operators of ResNet-50 and BERT-base as lists of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "calibrate/micro/plan/point.hpp"

namespace foretrain::micro {

/// As of plan_gemm().
struct GemmShape {
  int m = 0, n = 0, k = 0, count = 1;
  double flops() const { return 2.0 * m * n * k * count; }
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// Square pictures of `size`, padding kernel / 2.
struct ConvShape {
  int batch = 1, channels = 0, filters = 0, size = 0, kernel = 1, stride = 1, groups = 1;
  int padding() const { return kernel / 2; }
  int output_size() const { return (size + 2 * padding() - kernel) / stride + 1; }
  std::int64_t input_elements() const { return std::int64_t{batch} * channels * size * size; }
  std::int64_t output_elements() const {
    return std::int64_t{batch} * filters * output_size() * output_size();
  }
  std::int64_t weight_elements() const {
    return std::int64_t{filters} * (channels / groups) * kernel * kernel;
  }
  double flops() const {
    return 2.0 * static_cast<double>(output_elements()) * (channels / groups) * kernel * kernel;
  }
  friend bool operator==(const ConvShape&, const ConvShape&) = default;
};

GemmShape gemm_shape_of(const Sample& sample);
ConvShape conv_shape_of(const Sample& sample);
/// The setting as a number; `otherwise` when it is not there.
int integer_setting(const Sample& sample, std::string_view key, int otherwise);

/// A convolution of ResNet-50 and how many layers have it.
struct RepeatedConv {
  ConvShape shape;
  int layers = 1;
};
/// 53 layers, stride on the 3 x 3 (v1.5), pictures of 224.
std::vector<RepeatedConv> resnet50_convolutions(int batch);

/// One call of a network's step, `times` in a row.
struct MixOperator {
  enum class Kind { conv_forward, conv_data, conv_weights, gemm, memory };
  Kind kind = Kind::memory;
  ConvShape conv;
  GemmShape gemm;
  std::int64_t bytes = 0;  ///< of a memory-bound kernel, read and written
  int times = 1;
};

/// Forward and backward of "resnet50" or "bert_base" (sequences of 128) as their large operators:
/// normalizations, activations and residual sums are memory-bound kernels of the bytes they move. Requires
/// one of these names.
std::vector<MixOperator> operators_of(std::string_view network, int batch, int bytes_per_element);

}  // namespace foretrain::micro
