// Memory of one GPU in training, as a list of accounts: parameters, gradients, optimizer state, buckets,
// activations, workspace and framework.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/device/host_memory.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// Bytes that a training holds on one GPU when it holds most, by account.
struct MemoryUse {
  Bytes parameters{}, gradients{}, optimizer{}, buckets{};
  Bytes activations{};  ///< activations and their gradients, at the fullest moment beside all of the above
  Bytes workspace{};    ///< scratch of the fastest convolutions; slower ones need hardly any
  Bytes framework{};    ///< CUDA context, libraries, NCCL, what the allocator rounds up
  /// Bytes that the training cannot do without: all but the workspace of convolutions.
  Bytes least() const { return total() - workspace; }
  Bytes total() const {
    return parameters + gradients + optimizer + buckets + activations + workspace + framework;
  }
};

/// Rounding of blocks and holes between them, over the bytes of tensors; assumed (docs/models/memory.md).
inline constexpr double kAllocatorShare = 0.05;

/// Changes that a strategy makes to the memory of one GPU.
struct StrategyMemory {
  double parameters = 1, gradients = 1, optimizer = 1;  ///< share of the whole
  Bytes buffers{};                                      ///< buckets, fusion buffers, gathered shards
  Bytes per_sample{};  ///< bytes for each sample of a GPU's batch (outputs gathered from other GPUs)
  /// fp32 weights and states are held beside weights of 16 bits, whatever the script says.
  bool keeps_masters = false;
  HostMemoryUse host{};  ///< memory that one rank uses on its host
  friend bool operator==(const StrategyMemory&, const StrategyMemory&) = default;
};

/// The place of a training, as far as its memory depends on it.
struct MemorySite {
  StrategyMemory strategy{};
  int gpus = 1;  ///< GPUs of the job: more than one load NCCL
  Architecture architecture = Architecture::volta;
};

/// Returns the accounts of one GPU. Formula: docs/models/memory.md. Linear in operators and lifetimes.
MemoryUse memory_use(const Workload& workload, const MemorySite& site);

/// Bytes of one class of tensors when the GPU is fullest in each phase of a step: forward, backward,
/// optimizer.
struct MemoryRow {
  std::string_view tensors;
  std::array<Bytes, 3> held{};
};

/// The memory of memory_use(), class by class and phase by phase. The phase that holds most decides.
struct MemoryLedger {
  std::vector<MemoryRow> rows;       ///< without those that are empty in every phase
  std::array<Bytes, 3> allocated{};  ///< the sum of the rows: torch.cuda.max_memory_allocated()
  Bytes reserved{};                  ///< bytes of the fullest phase, with the allocator's rounding
  Bytes shown{};                     ///< bytes with context, libraries and NCCL, as nvidia-smi shows them
};
/// Returns the ledger. Its fullest phase sums to memory_use() without the framework's account, which holds
/// the allocator's share too.
MemoryLedger memory_ledger(const Workload& workload, const MemorySite& site);

/// Returns the largest batch per GPU that needs at most `capacity` bytes, workspace included. Returns 0 when
/// not even one sample fits, and never more than 1,000,000.
std::int64_t largest_batch(const Workload& workload, const MemorySite& site, Bytes capacity);

/// Returns the bytes of each activation that waits for backward on the host, at the workload's batch.
std::vector<double> offloaded_bytes(const Workload& workload);

/// Returns the width in which this workload stores its activations.
ActivationWidth activation_width(const Workload& workload);

}  // namespace foretrain
