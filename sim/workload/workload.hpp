// What is trained and how: the expanded network, batch, precision, optimizer, data and training loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/base/units.hpp"
#include "sim/workload/operators.hpp"
#include "sim/workload/optimizer.hpp"

namespace foretrain {

/// fp32: as PyTorch runs it by default, which since Ampere means TF32 inside cuDNN convolutions but not in matrix products.
/// tf32: TF32 in both. amp_fp16, amp_bf16: autocast with fp32 weights, fp16 with a GradScaler.
enum class Precision : std::uint8_t { fp32, tf32, amp_fp16, bf16 };
inline bool is_half(Precision p) { return p == Precision::amp_fp16 || p == Precision::bf16; }

/// The data set and how its batches reach the GPU.
struct DataSet {
  std::int64_t samples = 0;  ///< per epoch over all ranks; 0 = unknown, epochs are then one step
  Bytes sample_bytes{};      ///< as copied to the GPU; 0 = the network's input in fp32 plus an 8-byte label
  Time decode{};             ///< reading and augmenting one sample on the reference CPU core
  int workers_per_gpu = 4;   ///< 0: in the main thread
  int prefetch = 2;          ///< batches per worker
  int cores_per_gpu = 0;     ///< CPU cores of the job per GPU; 0 = the node's cores divided by its GPUs
  bool pinned = true;
  bool persistent_workers = false;
  bool drop_last = false;
};

/// The script around the step: what the host does besides the framework's own calls.
struct TrainingLoop {
  bool non_blocking = true;  ///< inputs are copied asynchronously; otherwise the host waits for the stream
  int loss_item_every = 0;   ///< steps between `loss.item()` calls, 0 = never
  bool loss_item_before_backward = false;
  enum class ZeroGrad : std::uint8_t { none, set_to_none, zero } zero_grad = ZeroGrad::set_to_none;
  Time overhead{};  ///< per step on the reference CPU: progress bar, hooks, logging
};

struct Workload {
  std::shared_ptr<const ExpandedModel> model;
  Precision precision = Precision::fp32;
  std::int64_t batch_per_gpu = 32;
  Optimizer optimizer;
  DataSet data;
  TrainingLoop loop;
};

}  // namespace foretrain
