// A first list, to be replaced by the tables of the layers that use the constants.
#include "sim/scenario/calibration_constants.hpp"

namespace foretrain {

std::vector<ConstantRange> calibratable_constants() {
  return {{"nccl.kernel", Dimension::time, 1e-7, 1e-3, 0.3, "start and end of one NCCL kernel"},
          {"copy.peak", Dimension::byte_rate, 1e6, 1e13, 0.3, "host memory to GPU, large copies"},
          {"gemm.half", Dimension::flops, 1, 1e15, 0.5, "work of a product that reaches half of its rate"}};
}

}  // namespace foretrain
