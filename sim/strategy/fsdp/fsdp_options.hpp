// The options of FullyShardedDataParallel and fully_shard.
#pragma once

#include <cstdint>
#include <optional>

namespace foretrain {

/// The tensors that FSDP shards: everything; gradients and optimizer state; everything inside a node;
/// nothing.
enum class Sharding : std::uint8_t { full_shard, shard_grad_op, hybrid_shard, no_shard };
/// The time at which FSDP gathers the next unit in backward: never ahead, before a unit's backward, or after.
enum class BackwardPrefetch : std::uint8_t { none, pre, post };

/// The type in which parameters are gathered and computed with (param_dtype of MixedPrecision and
/// MixedPrecisionPolicy): that of the weights, or one that shards are cast to.
enum class ParamType : std::uint8_t { weights, fp32, bf16, fp16 };

/// The type in which ranks sum gradients (reduce_dtype): that of the gathered parameters, or another one.
enum class ReduceType : std::uint8_t { param, fp32, bf16, fp16 };

/// The modules that fully_shard is called for.
/// - blocks: every block, and the root, which holds the rest (plain loops).
/// - ends: the embedding, every block, final norm and head together. The root holds nothing, and the last
///   unit stays whole behind forward (accelerate, transformers, torchtitan with loss "ce").
/// - chunked_loss: the same, but the head runs inside a loss over chunks of the sequence (torchtitan's
///   default).
enum class UnitChoice : std::uint8_t { blocks, ends, chunked_loss };

/// PyTorch's defaults. Empty members take those of its version.
struct FsdpOptions {
  Sharding sharding = Sharding::full_shard;
  std::optional<BackwardPrefetch> backward_prefetch{};  ///< pre since PyTorch 2.0
  bool forward_prefetch = false;
  std::optional<bool> limit_all_gathers{};  ///< true since PyTorch 2.0
  ParamType param_dtype = ParamType::weights;
  ReduceType reduce_dtype = ReduceType::param;
  UnitChoice units = UnitChoice::blocks;
  /// Smallest number of elements of a unit (size_based_auto_wrap_policy); 0: one unit per repeated block.
  std::int64_t unit_parameters = 0;
  bool offload_params = false;  ///< CPUOffload(offload_params=True), CPUOffloadPolicy
};

}  // namespace foretrain
