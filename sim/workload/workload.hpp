// What is trained and how: the expanded network, batch, precision, optimizer, data and training loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/workload/data_set.hpp"
#include "sim/workload/framework.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/training_loop.hpp"

namespace foretrain {

/// fp32: as the framework runs it by default, which since Ampere means TF32 inside cuDNN convolutions, and in
/// matrix products under TensorFlow and some versions of PyTorch (products_default_to_tf32). tf32: TF32 in
/// both. amp_fp16, amp_bf16: autocast with fp32 weights, fp16 with a GradScaler. fp8: bf16 with the products
/// of linear and attention layers in fp8 (Transformer Engine).
enum class Precision : std::uint8_t { fp32, tf32, amp_fp16, bf16, fp8 };
std::string_view name_of(Precision precision);
inline bool is_half(Precision p) { return p >= Precision::amp_fp16; }

struct Workload {
  std::shared_ptr<const ExpandedModel> model;
  Precision precision = Precision::fp32;
  std::int64_t batch_per_gpu = 32;
  bool half_weights = false;  ///< in 16 bit: weights and gradients too, with fp32 master weights (Apex O2,
                              ///< DeepSpeed), not autocast
  bool recompute = false;     ///< activation checkpointing of blocks (tape/recompute); `model` is after it
  Framework framework;
  Optimizer optimizer;
  DataSet data;
  TrainingLoop loop;
};

}  // namespace foretrain
