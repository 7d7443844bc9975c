// The optimizer step as the framework runs it: which kernels over which tensors, with their bytes and host cost.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/operators.hpp"

namespace foretrain {

enum class OptimizerKind : std::uint8_t { sgd, momentum, adam, adamw, adadelta };
/// for_loop: some kernels per tensor (PyTorch < 2.0). foreach: multi-tensor launches (default since 2.0). fused: one pass.
enum class OptimizerForm : std::uint8_t { for_loop, foreach, fused };

struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  OptimizerForm form = OptimizerForm::foreach;
  bool weight_decay = false;
};

/// One launch over one tensor or a packed list of tensors.
struct OptimizerLaunch {
  Bytes bytes{};  ///< read + written
  Flops flops{};
  Time host{};  ///< framework cost on the reference CPU, without the launch itself
};

/// Bytes of optimizer state per parameter element: SGD 0, momentum 4, Adam and AdamW 8, Adadelta 8.
std::int64_t state_bytes_per_element(const Optimizer& optimizer);

/// The launches of one step over tensors of the given sizes, in order. Kernels and bytes per element: docs/models/optimizer.md;
/// foreach packs tensors until {110, 64, 48, 36, 30}[lists - 1] tensors or 320 chunks of 65,536 elements.
std::vector<OptimizerLaunch> optimizer_launches(const Optimizer& optimizer, const std::vector<std::int64_t>& tensor_elements);

}  // namespace foretrain
