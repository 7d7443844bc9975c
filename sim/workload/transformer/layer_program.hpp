// What one transformer layer, the embedding and the head make a GPU do, as a framework issues it: kernels and
// collectives in their order, with sizes and no times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/device/transformer_kernels.hpp"
#include "sim/workload/transformer/layer_kernels.hpp"
#include "sim/workload/transformer/shape.hpp"

namespace foretrain {

/// What is computed anew in backward: nothing; the attention core; everything of a layer but its input; that
/// without queries, keys and values, which are kept, and without what backward does not look at (MaxText's
/// remat_policy=save_qkv_proj: XLA repeats what is needed, not a whole function).
enum class Recompute : std::uint8_t { none, selective, full, save_qkv };

/// Modules of a layer that Megatron-LM computes anew by name (--recompute-modules).
enum class LayerModule : std::uint8_t {
  core_attn,
  layernorm,
  mla_up_proj,
  moe_act,
  mlp,
  moe,
  shared_experts
};
/// Several of them, a bit each; none: the attention core alone.
using LayerModules = std::uint8_t;
constexpr bool has_module(LayerModules set, LayerModule module) {
  return (set >> static_cast<unsigned>(module) & 1U) != 0;
}
/// By their names, with commas between; none where one is not known.
std::optional<LayerModules> find_layer_modules(std::string_view names);
std::string names_of_layer_modules(LayerModules set);

/// Ranks that a collective of a layer is among. `none`: a kernel.
enum class ParallelAxis : std::uint8_t { none, tensor, context, expert, expert_tensor };

/// The collectives and exchanges inside a layer of a large model.
enum class Exchange : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, ring_pass };

/// How the keys and values of a sequence that several ranks share come together.
enum class ContextExchange : std::uint8_t { ring, all_gather, ulysses };

/// How tokens of a mixture of experts reach the ranks of their experts and come back.
enum class TokenDispatch : std::uint8_t { all_gather, all_to_all, deep_ep };
/// What of tensor parallelism's communication runs beside products: nothing; backward's, behind the gathered
/// input and the gradient of weights; pieces of each product (user buffers of Transformer Engine, async TP).
enum class TensorOverlap : std::uint8_t { none, backward, pieces };

/// The share of the work that one rank has, and how it is exchanged.
struct LayerSlice {
  std::int64_t micro_batch = 1;  ///< sequences
  std::int64_t sequence = 0;     ///< tokens of a sequence, of all context ranks together
  int tensor = 1, context = 1, expert = 1, expert_tensor = 1;
  bool sequence_parallel = true;                      ///< norms and residuals on 1/tensor of the tokens
  KernelPrecision precision = KernelPrecision::bf16;  ///< of linear layers' products
  Recompute recompute = Recompute::none;
  LayerModules recompute_modules = 0;  ///< of Recompute::selective, where somebody names them
  ContextExchange context_exchange = ContextExchange::ring;
  TokenDispatch dispatch = TokenDispatch::all_to_all;
  TensorOverlap overlap = TensorOverlap::none;
  std::optional<AttentionKernel> attention{};  ///< none: the framework's own
  double capacity_factor = 0;                  ///< of experts; 0: no token is dropped
  double imbalance = 1;                        ///< tokens of the busiest expert rank over the mean
  int loss_chunks = 1;                         ///< parts of the sequence that head and loss take in turn
  bool accumulates = true;                     ///< gradients are added to those of earlier micro-batches

  std::int64_t tokens() const { return micro_batch * sequence / context; }  ///< of one rank's attention
  /// Where sequence parallelism cuts them, or nothing does.
  std::int64_t norm_tokens() const { return sequence_parallel ? (tokens() + tensor - 1) / tensor : tokens(); }
};

/// One launch, or one collective. A kernel is a product, an attention or moved bytes.
struct LayerStep {
  enum class Kind : std::uint8_t { product, attention, bytes, exchange };
  Kind kind = Kind::bytes;
  std::int64_t m = 0, n = 0, k = 0, count = 1;  ///< of a product
  bool is_half = false;                         ///< in 16 bit whatever LayerSlice::precision
  FlashAttention attention{};
  double bytes = 0;  ///< read and written, or of the exchange's whole message
  int launches = 1;  ///< kernels that one step stands for
  int python = 0;    ///< Python functions of autograd that the step begins
  ParallelAxis along = ParallelAxis::none;
  Exchange exchange = Exchange::all_reduce;
  bool behind = false;      ///< an exchange that nothing waits for until `waits_for` of a later step names it
  int waits_for = -1;       ///< place of such an exchange in the list
  bool host_waits = false;  ///< the host goes on only when it has ended (sizes of a dropless dispatch)
  double exposed = 1;       ///< share of the exchange that no piece of its product hides
  bool is_weight_gradient = false;  ///< nothing of the same layer waits for it (zero-bubble schedules)

  static LayerStep product_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count = 1);
  static LayerStep moved(double bytes, int launches = 1);
  static LayerStep exchange_of(ParallelAxis along, Exchange exchange, double bytes);
};

/// Forward and backward of one micro-batch, without what recomputation repeats; that is Program::again.
struct LayerProgram {
  std::vector<LayerStep> forward, backward;
  std::vector<LayerStep> again;  ///< in front of backward: forward steps once more
  double saved_bytes = 0;        ///< kept for backward
  double transient_bytes = 0;    ///< most that is there besides, while the layer runs
};

/// A layer with the dense feed-forward part, or with experts.
LayerProgram layer_program(const TransformerShape& shape, const LayerSlice& slice, bool with_experts,
                           const LayerKernels& kernels);
/// The lookup of words, cut by vocabulary over tensor ranks.
LayerProgram embedding_program(const TransformerShape& shape, const LayerSlice& slice,
                               const LayerKernels& kernels);
/// Final norm, head and cross entropy, cut by vocabulary.
LayerProgram head_program(const TransformerShape& shape, const LayerSlice& slice,
                          const LayerKernels& kernels);
/// What stands before the layer of a further predicted token (DeepSeek-V3): norms of the layers' result and
/// of the next word, and a product that joins both; column-parallel, gathered behind it.
LayerProgram join_program(const TransformerShape& shape, const LayerSlice& slice,
                          const LayerKernels& kernels);

/// Model FLOPs of the products and attentions of some steps, 2 per multiply-add.
double flops_of(const std::vector<LayerStep>& steps);

}  // namespace foretrain
