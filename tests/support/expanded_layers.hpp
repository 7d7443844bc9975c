// Networks of a few layers, expanded, and a GPU for their kernels.
#pragma once

#include "sim/workload/device/kernel_time.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace foretrain::test {

inline ExpandedModel expanded(const Model& model) {
  const ExpansionResult result = expand(model);
  REQUIRE(result.faults.empty());
  return result.model;
}

/// The layers and a loss over samples of that shape.
inline ExpandedModel expanded(std::vector<std::int64_t> input, std::vector<Layer> layers) {
  layers.push_back(plain("loss"));
  return expanded({"small", "", std::move(input), false, std::move(layers)});
}

/// Round figures: 10 TFLOP/s and 1000 GB/s.
inline Gpu some_gpu() {
  Gpu gpu;
  gpu.fp32 = {10e12}, gpu.memory_bandwidth = {1000e9}, gpu.sm_count = 80;
  return gpu;
}

}  // namespace foretrain::test
