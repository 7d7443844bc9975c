// The options of FullyShardedDataParallel and fully_shard.
#pragma once

#include <cstdint>
#include <optional>

namespace foretrain {

/// What FSDP shards: everything, gradients and optimizer state, everything inside a node, nothing.
enum class Sharding : std::uint8_t { full_shard, shard_grad_op, hybrid_shard, no_shard };
/// When FSDP gathers the next unit in backward.
enum class BackwardPrefetch : std::uint8_t { none, pre, post };

/// In which type ranks sum gradients (MixedPrecisionPolicy.reduce_dtype): that of the gathered parameters, or
/// fp32.
enum class ReduceType : std::uint8_t { param, fp32 };

/// Which modules fully_shard is called for. blocks: every block, and the root, which holds the rest (plain
/// loops). ends: the embedding, every block, final norm and head together; the root holds nothing, and the
/// last unit stays whole behind forward (accelerate, transformers, torchtitan with loss "ce"). chunked_loss:
/// the same, but the head runs inside a loss over chunks of the sequence (torchtitan's default).
enum class UnitChoice : std::uint8_t { blocks, ends, chunked_loss };

/// PyTorch's defaults; empty: those of its version.
struct FsdpOptions {
  Sharding sharding = Sharding::full_shard;
  std::optional<BackwardPrefetch> backward_prefetch{};  ///< pre since PyTorch 2.0
  bool forward_prefetch = false;
  std::optional<bool> limit_all_gathers{};  ///< true since PyTorch 2.0
  ReduceType reduce_dtype = ReduceType::param;
  UnitChoice units = UnitChoice::blocks;
  std::int64_t unit_parameters =
      0;  ///< least elements of a unit (size_based_auto_wrap_policy); 0: one per repeated block
  bool offload_params = false;  ///< CPUOffload(offload_params=True), CPUOffloadPolicy
};

}  // namespace foretrain
