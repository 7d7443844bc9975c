// What one transformer layer, the embedding and the head make a GPU do: kernels part by part, forward and
// backward, as a framework issues them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/transformer/shape.hpp"

namespace foretrain {

/// Whose kernels and host calls they are; one row each in the table of frameworks (llm_frameworks).
enum class LlmFramework : std::uint8_t {
  nanotron,
  megatron,
  megatron_te,
  torchtitan,
  deepspeed,
  llm_foundry,
  fsdp,
  maxtext,
  internevo
};
std::string_view name_of(LlmFramework framework);

enum class LlmPrecision : std::uint8_t { bf16, fp16, fp8, mxfp8, nvfp4 };

/// What of a layer is computed anew in backward.
enum class Recompute : std::uint8_t { none, selective, full };

/// The share of the work that one rank has.
struct LayerSlice {
  std::int64_t micro_batch = 1;  ///< sequences
  std::int64_t sequence = 0;     ///< tokens of a sequence, before context parallelism
  int tensor = 1, context = 1, expert = 1, expert_tensor = 1;
  bool sequence_parallel = true;  ///< norms and residuals on 1/tensor of the tokens
  bool causal = true;
  LlmPrecision precision = LlmPrecision::bf16;
};

/// Where a kernel stands between the collectives of tensor parallelism: those of `attention_in` wait for the
/// gathered input, those behind `attention_out` for the scattered output, and so on.
enum class LayerPart : std::uint8_t {
  attention_norm,
  attention_in,
  attention_core,
  attention_out,
  feed_norm,
  feed_in,
  activation,
  feed_out,
  router,
  dispatch,
  experts,
  combine
};

/// Kernels of one part, as one figure each.
struct PartWork {
  LayerPart part{};
  double seconds = 0;         ///< of the GPU, alone
  double weight_seconds = 0;  ///< of backward's seconds: gradients of weights, which nothing waits for
  double flops = 0;           ///< 2 per multiply-add, causal halves counted as computed
  int launches = 0;           ///< kernels
  double host_seconds = 0;    ///< on the host of the GPU's node, for all of them
};

struct LayerWork {
  std::vector<PartWork> forward, backward;
  double saved_bytes = 0;         ///< kept for backward, of one micro-batch
  double recomputed_seconds = 0;  ///< the part of backward that is forward once more
};

}  // namespace foretrain
