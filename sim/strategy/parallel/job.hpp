// The job of a large model: sizes, degrees of parallelism, schedule, optimizer and framework.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/collective/settings.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/transformer/layer_work.hpp"
#include "sim/workload/transformer/shape.hpp"

namespace foretrain {

/// [parallel]; `data` is what the GPUs leave: gpus / (tensor * pipeline * context).
struct Degrees {
  int tensor = 1, pipeline = 1, virtual_stages = 1, context = 1, expert = 1, expert_tensor = 1, data = 1;
  bool sequence_parallel = true;
  friend bool operator==(const Degrees&, const Degrees&) = default;
};

enum class PipelineSchedule : std::uint8_t { afab, one_f_one_b, interleaved, zb_h1, zbv, dualpipe };
/// What is spread over the data-parallel ranks: nothing, the optimizer's state (zero1, Megatron's distributed
/// optimizer), gradients too (zero2), parameters too (zero3, fsdp), within `shard_group` ranks (0: all;
/// HSDP).
enum class Sharding : std::uint8_t { none, optimizer, gradients, parameters };
enum class ContextExchange : std::uint8_t { ring, all_gather, ulysses };
enum class TokenDispatch : std::uint8_t { all_gather, all_to_all, deep_ep };
/// Tensor-parallel communication beside compute: none, the framework's asynchronous linears, user buffers
/// of Transformer Engine (or async TP).
enum class TensorOverlap : std::uint8_t { none, async_linears, user_buffers };
enum class Offload : std::uint8_t { none, optimizer, activations };

struct LargeModelJob {
  TransformerShape shape;
  std::int64_t sequence = 0;                       ///< tokens; 0: the shape's
  std::int64_t micro_batch = 1, global_batch = 1;  ///< sequences
  Degrees degrees;
  LlmFramework framework = LlmFramework::megatron_te;
  LlmPrecision precision = LlmPrecision::bf16;
  Recompute recompute = Recompute::none;
  int recomputed_layers = 0;  ///< of a stage, with full; 0: all
  Sharding sharding = Sharding::optimizer;
  int shard_group = 0;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  ContextExchange context_exchange = ContextExchange::ring;
  TokenDispatch dispatch = TokenDispatch::all_to_all;
  std::optional<TensorOverlap> tensor_overlap{};  ///< none: the framework's own
  bool cuda_graphs = false;
  bool gradient_overlap = true;
  Offload offload = Offload::none;
  CollectiveSettings collective{};

  int gpus() const { return degrees.tensor * degrees.pipeline * degrees.context * degrees.data; }
  std::int64_t tokens() const { return sequence > 0 ? sequence : shape.sequence; }
  std::int64_t micro_batches() const { return global_batch / (micro_batch * degrees.data); }
};

}  // namespace foretrain
