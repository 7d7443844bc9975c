// Fine-tuning: the parameters that train, the adapters that are added to a network, and the storage of its
// weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/fine_tuning/fused_kernels.hpp"

namespace foretrain {

/// The kinds of adapters.
/// - none: nothing is added.
/// - lora: two thin products beside a frozen one.
/// - dora: lora whose weight is scaled to a trained length in every forward pass.
/// - ia3: a trained factor for every feature that a product makes.
/// - prompt: trained vectors in front of every sequence.
/// - p_tuning: the same, made by a small network.
/// - prefix: trained keys and values in front of those of every attention.
enum class AdapterKind : std::uint8_t { none, lora, dora, ia3, prompt, p_tuning, prefix };

/// True where the adapter is trained vectors in front of a sequence, or of its keys and values.
constexpr bool has_virtual_tokens(AdapterKind kind) { return kind >= AdapterKind::prompt; }

/// The storage of weights. by_precision: fp32, or 16 bits with fp32 masters where the framework does so. 16
/// bits: gradients and the optimizer's moments have them too. Formats of 8 bits and fewer apply to frozen
/// linear layers in blocks of transformers; the other weights have 16.
enum class WeightFormat : std::uint8_t { by_precision, fp32, bf16, fp16, fp8, int8, nf4, nf4_double };

/// The weights that are fp32 beside packed ones, with everything that is computed from them. They are none,
/// those of norms, or all that are not packed, as PEFT's prepare_model_for_kbit_training leaves them.
enum class Upcast : std::uint8_t { none, norms, all };

/// Returns the name as scenario files write it: "lora", "nf4", "norms", ….
std::string_view name_of(AdapterKind kind);
std::string_view name_of(WeightFormat format);
std::string_view name_of(Upcast upcast);

/// True where weights are packed in 8 bits or fewer, and are converted before every product.
bool is_quantised(WeightFormat format);

/// Returns the bytes of a weight with its scales. nf4: blocks of 64 share a fp32 scale, 0.5 + 4/64.
/// nf4_double: the scales have 8 bits, and 256 of them share another, 0.5 + 1/64 + 4/(64*256) (bitsandbytes
/// 0.43, functional.py). int8: 1, the scales of its rows not counted.
double bytes_per_weight(WeightFormat format);

/// The choices of a fine-tuning. The default trains every parameter.
struct FineTuning {
  AdapterKind adapter = AdapterKind::none;
  std::int64_t rank = 8;  ///< features between the two products of lora and dora
  /// Names of linear layers with adapters, or "all-linear". Empty: query and value; for ia3 key, value and
  /// the last of the feed-forward part.
  std::vector<std::string> targets;
  bool dropout = false;       ///< dropout on the input of an adapter
  bool wide_adapters = true;  ///< trained in fp32 beside weights of 16 bits or fewer, as PEFT does
  /// Parameters that train beside adapters, or alone: "all", "head", "norms", "biases", "last:4" blocks,
  /// "from:10" (all but modules with a lower number), or a part of a parameter's name. Empty: everything
  /// without adapters, nothing beside them.
  std::vector<std::string> trainable;
  std::int64_t virtual_tokens = 20;  ///< number of them for prompt, p_tuning and prefix
  /// Features inside the network that makes virtual tokens. With 0, p_tuning takes the embedding's width, and
  /// prefix has no such network.
  std::int64_t encoder_width = 0;
  WeightFormat weights = WeightFormat::by_precision;
  Upcast upcast = Upcast::none;
  FusedKernels fused{};  ///< in the place of transformers' operators
  /// A compiler (TorchInductor, XLA) fuses the work between products, so that less is kept for backward. Set
  /// from the framework's execution.
  bool is_compiled = false;
  /// The training computes in 16 bits, so the input of wide adapters is converted. Set from the precision.
  bool computes_in_half = false;

  bool changes_network() const {
    return !fused.empty() || adapter != AdapterKind::none || !trainable.empty() || has_format() ||
           upcast != Upcast::none;
  }
  /// True where one kernel replaces several operators, because it was requested or because a compiler makes
  /// it.
  bool fuses(FusedKernel kernel) const {
    return fused.has(kernel) || (is_compiled && kCompiledKernels.has(kernel));
  }
  bool has_format() const { return weights != WeightFormat::by_precision; }
  friend bool operator==(const FineTuning&, const FineTuning&) = default;
};

/// Returns the network's name with how it is trained: "llama3_8b (lora of rank 16, weights in nf4)". It is
/// the name alone where all of it trains as usual.
std::string named_with(const std::string& model, const FineTuning& tuning);

/// Decides by name which parameters of a network train. It records which words of the tuning matched.
class Trainability {
 public:
  explicit Trainability(FineTuning tuning);

  const FineTuning& tuning() const { return tuning_; }
  bool is_everything() const { return everything_; }
  /// True for a parameter that trains; `name` is like "layers.3.self_attn.query.weight". Marks matching
  /// words.
  bool trains(std::string_view name);
  /// True for a linear layer of `out` features with an adapter; `path` is like "layers.3.self_attn.query".
  /// Marks matching targets.
  bool has_adapter(std::string_view path, std::int64_t out);
  /// True for the layer that ends the feed-forward part of a block; ia3 scales its input.
  static bool ends_feed_forward(std::string_view path);
  /// True where the weight of a frozen linear layer is stored in 8 bits or fewer: those inside blocks.
  bool is_quantised(std::string_view path) const;
  /// Returns the targets and trainable names that matched no layer so far.
  std::vector<std::string> unmatched() const;
  /// Records that a table of words has `entries` rows. A linear layer of as many features is the output
  /// embedding of a language model, which "all-linear" leaves out (PEFT, tuners_utils.py,
  /// _maybe_include_all_linear_layers).
  void see_words(std::int64_t entries) { words_ = entries; }
  /// States whether the following parameters belong to the network's head, whatever their names.
  void set_head(bool is_head) { in_head_ = is_head; }
  /// Sets the number of blocks, which "last:4" needs.
  void count_blocks(std::uint32_t blocks) { blocks_ = blocks; }
  std::uint32_t requested_blocks() const { return last_blocks_; }

 private:
  bool matches_trainable(std::size_t word, std::string_view name);
  bool is_scoring_words(std::string_view path, std::int64_t out) const;

  FineTuning tuning_;
  bool everything_ = true, in_head_ = false;
  std::int64_t words_ = 0;  ///< rows of the last table of words; 0: none yet
  std::uint32_t blocks_ = 0, last_blocks_ = 0;
  std::vector<std::uint8_t> used_targets_, used_trainable_;
};

/// Returns the number of the block that a path leads through, counted from 0: 3 for "layers.3.self_attn".
/// Returns -1 outside of blocks.
std::int64_t block_number(std::string_view path);

}  // namespace foretrain
