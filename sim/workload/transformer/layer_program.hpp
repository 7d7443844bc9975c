// The program of a transformer layer, the embedding and the head: kernels and collectives of one GPU in the
// order in which a framework issues them, with sizes and without times.
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

/// The parts that backward computes again: none; the attention core; everything of a layer but its input.
/// save_qkv is the last without queries, keys and values, which are kept, and without what backward does not
/// read (MaxText's remat_policy=save_qkv_proj: XLA repeats what is needed, not a whole function).
enum class Recompute : std::uint8_t { none, selective, full, save_qkv };

/// Modules of a layer that Megatron-LM computes again by name (--recompute-modules).
enum class LayerModule : std::uint8_t {
  core_attn,
  layernorm,
  mla_up_proj,
  moe_act,
  mlp,
  moe,
  shared_experts
};
/// A set of modules, one bit for each. The empty set means the attention core alone.
using LayerModules = std::uint8_t;
constexpr bool has_module(LayerModules set, LayerModule module) {
  return (set >> static_cast<unsigned>(module) & 1U) != 0;
}
/// Returns the set of these names, separated by commas; nothing where one is not known.
std::optional<LayerModules> find_layer_modules(std::string_view names);
std::string names_of_layer_modules(LayerModules set);

/// The group of ranks of a layer's collective. `none` marks a kernel.
enum class ParallelAxis : std::uint8_t { none, tensor, context, expert, expert_tensor };

/// The collectives and exchanges inside a layer of a large model.
enum class Exchange : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, ring_pass };

/// The exchange by which the keys and values of a sequence that several ranks share come together.
enum class ContextExchange : std::uint8_t { ring, all_gather, ulysses };

/// The exchange by which tokens of a mixture of experts reach the ranks of their experts and come back.
enum class TokenDispatch : std::uint8_t { all_gather, all_to_all, deep_ep };
/// The part of tensor parallelism's communication that runs beside products: none; backward's, behind the
/// gathered input and the gradient of weights; or pieces of each product (user buffers of Transformer Engine,
/// async TP).
enum class TensorOverlap : std::uint8_t { none, backward, pieces };

/// The share of a layer's work that one rank has, and the exchanges between ranks. Degrees are at least 1.
struct LayerSlice {
  std::int64_t micro_batch = 1;  ///< sequences
  std::int64_t sequence = 0;     ///< tokens of a sequence, of all context ranks together
  int tensor = 1, context = 1, expert = 1, expert_tensor = 1;
  bool sequence_parallel = true;  ///< norms and residuals on 1/tensor of the tokens
  /// Type of linear layers' products.
  KernelPrecision precision = KernelPrecision::bf16;
  Recompute recompute = Recompute::none;
  /// Modules of Recompute::selective, where the job names them.
  LayerModules recompute_modules = 0;
  ContextExchange context_exchange = ContextExchange::ring;
  TokenDispatch dispatch = TokenDispatch::all_to_all;
  TensorOverlap overlap = TensorOverlap::none;
  std::optional<AttentionKernel> attention{};  ///< none: the framework's own
  /// Capacity of experts; 0: no token is dropped.
  double capacity_factor = 0;
  double imbalance = 1;     ///< tokens of the busiest expert rank over the mean
  int loss_chunks = 1;      ///< parts of the sequence that head and loss take in turn
  bool accumulates = true;  ///< gradients are added to those of earlier micro-batches

  std::int64_t tokens() const { return micro_batch * sequence / context; }  ///< of one rank's attention
  /// Returns the tokens of one rank's norms and residuals: fewer where sequence parallelism cuts them.
  std::int64_t norm_tokens() const { return sequence_parallel ? (tokens() + tensor - 1) / tensor : tokens(); }
};

/// A launch, or a collective. A kernel is a product, an attention or moved bytes.
struct LayerStep {
  enum class Kind : std::uint8_t { product, attention, bytes, exchange };
  Kind kind = Kind::bytes;
  /// Sizes of a product.
  std::int64_t m = 0, n = 0, k = 0, count = 1;
  bool is_half = false;  ///< in 16 bit whatever LayerSlice::precision
  FlashAttention attention{};
  double bytes = 0;  ///< read and written, or of the exchange's whole message
  int launches = 1;  ///< kernels that one step stands for
  int python = 0;    ///< Python functions of autograd that the step begins
  ParallelAxis along = ParallelAxis::none;
  Exchange exchange = Exchange::all_reduce;
  /// The exchange runs beside later steps until one of them names it in `waits_for`.
  bool behind = false;
  /// Place of such an exchange in the list; -1: none.
  int waits_for = -1;
  /// The host goes on only when the step has ended (sizes of a dropless dispatch).
  bool host_waits = false;
  double exposed = 1;  ///< share of the exchange that no piece of its product hides
  /// No step of the same layer waits for it (zero-bubble schedules).
  bool is_weight_gradient = false;

  /// Creates a product of m x k with k x n, a kernel that moves bytes, or an exchange.
  static LayerStep product_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count = 1);
  static LayerStep moved(double bytes, int launches = 1);
  static LayerStep exchange_of(ParallelAxis along, Exchange exchange, double bytes);
};

/// Forward and backward of one micro-batch. Steps that recomputation repeats are in `again` alone.
struct LayerProgram {
  std::vector<LayerStep> forward, backward;
  /// Forward steps that run again in front of backward.
  std::vector<LayerStep> again;
  /// Bytes kept for backward.
  double saved_bytes = 0;
  /// Largest number of other bytes while the layer runs.
  double transient_bytes = 0;
};

/// Returns the program of a layer with the dense feed-forward part, or with experts.
LayerProgram layer_program(const TransformerShape& shape, const LayerSlice& slice, bool with_experts,
                           const LayerKernels& kernels);
/// Returns the program of the lookup of words, cut by vocabulary over tensor ranks.
LayerProgram embedding_program(const TransformerShape& shape, const LayerSlice& slice,
                               const LayerKernels& kernels);
/// Returns the program of final norm, head and cross entropy, cut by vocabulary.
LayerProgram head_program(const TransformerShape& shape, const LayerSlice& slice,
                          const LayerKernels& kernels);
/// Returns the program before the layer of a further predicted token (DeepSeek-V3). It has norms of the
/// layers' result and of the next word, and a product that joins both. The product is column-parallel,
/// and its result is gathered.
LayerProgram join_program(const TransformerShape& shape, const LayerSlice& slice,
                          const LayerKernels& kernels);

/// Returns the model FLOPs of the products and attentions of some steps, 2 per multiply-add.
double flops_of(const std::vector<LayerStep>& steps);

}  // namespace foretrain
