// Fine-tuning: which parameters train, what adapters add to a network, and how its weights are stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/fine_tuning/fused_kernels.hpp"

namespace foretrain {

/// none: nothing is added. lora: two thin products beside a frozen one. dora: lora whose weight is scaled to
/// a trained length in every forward pass. ia3: a trained factor for every feature that a product makes.
/// prompt: trained vectors in front of every sequence; p_tuning: the same, made by a small network.
/// prefix: trained keys and values in front of those of every attention.
enum class AdapterKind : std::uint8_t { none, lora, dora, ia3, prompt, p_tuning, prefix };

/// Whether the adapter is trained vectors in front of a sequence, or of its keys and values.
constexpr bool has_virtual_tokens(AdapterKind kind) { return kind >= AdapterKind::prompt; }

/// How weights are stored. by_precision: fp32, or 16 bits with fp32 masters where the framework does so.
/// 16 bits: gradients and the optimizer's moments have them, too. Of 8 bits and fewer: those of frozen linear
/// layers in blocks of transformers; the other weights have 16.
enum class WeightFormat : std::uint8_t { by_precision, fp32, bf16, fp16, fp8, int8, nf4, nf4_double };

/// Which weights are fp32 beside packed ones, with everything that is computed from them: none; those of
/// norms; all that are not packed, as PEFT's prepare_model_for_kbit_training leaves them.
enum class Upcast : std::uint8_t { none, norms, all };

/// "lora", "nf4", "norms", …
std::string_view name_of(AdapterKind kind);
std::string_view name_of(WeightFormat format);
std::string_view name_of(Upcast upcast);

/// Whether weights are packed in 8 bits or fewer, and are converted before every product.
bool is_quantised(WeightFormat format);

/// Bytes a weight takes with its scales. nf4: blocks of 64 share a fp32 scale, 0.5 + 4/64. nf4_double: the
/// scales have 8 bits, and 256 of them share another, 0.5 + 1/64 + 4/(64*256) (bitsandbytes 0.43,
/// functional.py). int8: 1, its rows' scales not counted.
double bytes_per_weight(WeightFormat format);

/// What is trained, and beside what. The default trains every parameter.
struct FineTuning {
  AdapterKind adapter = AdapterKind::none;
  std::int64_t rank = 8;  ///< of lora and dora: features between the two products
  /// Names of linear layers, or "all-linear". Empty: query and value; of ia3 key, value and the last of the
  /// feed-forward part.
  std::vector<std::string> targets;
  bool dropout = false;       ///< on what goes into an adapter
  bool wide_adapters = true;  ///< trained in fp32 beside weights of 16 bits or fewer, as PEFT does
  /// What trains beside adapters, or alone: "all", "head", "norms", "biases", "last:4" blocks, "from:10"
  /// (all but modules with a lower number), or a part of a parameter's name. Empty: everything without
  /// adapters, nothing beside them.
  std::vector<std::string> trainable;
  std::int64_t virtual_tokens = 20;  ///< of prompt, p_tuning and prefix
  /// Features inside of the network that makes virtual tokens; 0: of p_tuning the embedding's width, and
  /// prefix has no such network.
  std::int64_t encoder_width = 0;
  WeightFormat weights = WeightFormat::by_precision;
  Upcast upcast = Upcast::none;
  FusedKernels fused{};  ///< in the place of transformers' operators
  /// A compiler (TorchInductor, XLA) fuses what is between products, so that less is kept for backward. Set
  /// from the framework's execution.
  bool is_compiled = false;
  /// The training computes in 16 bits; then what goes into wide adapters is converted. Set from the
  /// precision.
  bool computes_in_half = false;

  bool changes_network() const {
    return !fused.empty() || adapter != AdapterKind::none || !trainable.empty() || has_format() ||
           upcast != Upcast::none;
  }
  /// Whether one kernel replaces several operators, because it was asked for or because a compiler makes it.
  bool fuses(FusedKernel kernel) const {
    return fused.has(kernel) || (is_compiled && kCompiledKernels.has(kernel));
  }
  bool has_format() const { return weights != WeightFormat::by_precision; }
  friend bool operator==(const FineTuning&, const FineTuning&) = default;
};

/// How a network is trained, behind its name: "llama3_8b (lora of rank 16, weights in nf4)"; the name alone
/// where all of it trains as usual.
std::string named_with(const std::string& model, const FineTuning& tuning);

/// Which parameters of a network train, by their names; knows which words of `tuning` were of use.
class Trainability {
 public:
  explicit Trainability(FineTuning tuning);

  const FineTuning& tuning() const { return tuning_; }
  bool is_everything() const { return everything_; }
  /// `name`: "layers.3.self_attn.query.weight".
  bool trains(std::string_view name);
  /// Whether a linear layer of `out` features has an adapter; `path`: "layers.3.self_attn.query".
  bool has_adapter(std::string_view path, std::int64_t out);
  /// Whether the layer at `path` ends the feed-forward part of a block: ia3 scales what goes into it.
  static bool ends_feed_forward(std::string_view path);
  /// Whether the weight of a frozen linear layer is stored in 8 bits or fewer: those inside of blocks.
  bool is_quantised(std::string_view path) const;
  /// Targets and trainable names that no layer has.
  std::vector<std::string> unmatched() const;
  /// A table of words was recorded. A linear layer of as many features is the output embedding of a language
  /// model, which "all-linear" leaves out (PEFT, tuners_utils.py, _maybe_include_all_linear_layers).
  void see_words(std::int64_t entries) { words_ = entries; }
  /// What is recorded from here on is the network's head, whatever its name, or no longer.
  void set_head(bool is_head) { in_head_ = is_head; }
  /// The blocks that "last:4" means are known once their number is.
  void count_blocks(std::uint32_t blocks) { blocks_ = blocks; }
  std::uint32_t requested_blocks() const { return last_blocks_; }

 private:
  bool matches_trainable(std::size_t word, std::string_view name);
  bool is_scoring_words(std::string_view path, std::int64_t out) const;

  FineTuning tuning_;
  bool everything_ = true, in_head_ = false;
  std::int64_t words_ = 0;  ///< of the last table; 0: none yet
  std::uint32_t blocks_ = 0, last_blocks_ = 0;
  std::vector<std::uint8_t> used_targets_, used_trainable_;
};

/// The number of the block that a path leads through, counted from 0: 3 for "layers.3.self_attn" and for
/// "decoder4.add1"; none outside of blocks.
std::int64_t block_number(std::string_view path);

}  // namespace foretrain
