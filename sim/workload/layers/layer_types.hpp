// The table of layer types: what a file may say of each, what it does to a tape, what becomes of it in a
// wider network.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sim/workload/layers/layer.hpp"
#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// The largest number that a layer of a file may have.
inline constexpr std::int64_t kLargestNumber = 1'000'000'000;
/// Most channels, features or entries of a layer.
inline constexpr std::int64_t kWidestLayer = 1'000'000'000;
/// Kernel, stride, padding, dilation.
inline constexpr std::int64_t kLargestStep = 1'000'000;

/// The numbers that a file may write, before the network's own limits.
struct NumberRange {
  std::int64_t least = 1, most = kLargestNumber;
  std::size_t longest = 1;  ///< most numbers; one: no list
  bool or_same = false;     ///< also the word "same", which is -1
};

/// Where the numbers of a key go.
using NumberPlace = std::variant<std::int64_t*, Sides*, std::vector<std::int64_t>*>;

/// A key of a layer that takes one or several integers: where they are stored, and the range that is allowed.
struct LayerNumbers {
  NumberPlace (*at)(Layer&);
  NumberRange range;
};

/// A key of a layer that is true or false: where it is stored.
struct LayerFlag {
  bool& (*at)(Layer&);
};

/// A key of a layer that takes a duration: where it is stored.
struct LayerTime {
  Time& (*at)(Layer&);
};
/// Work or bytes of a sample.
struct LayerFlops {
  Flops& (*at)(Layer&);
};

/// A key of a layer that takes a size in bytes: where it is stored.
struct LayerBytes {
  Bytes& (*at)(Layer&);
};
/// One of a few words, the first of which is the default.
struct LayerWord {
  std::vector<std::string> words;
  void (*put)(Layer&, std::size_t);
};

/// One of a type's own options as a model file may set it; not given, it stays what the options begin with.
struct LayerKey {
  std::string_view name;
  std::variant<LayerNumbers, LayerFlag, LayerTime, LayerFlops, LayerBytes, LayerWord> value;
  bool required = false;
};

/// Requires at least one value, and one alone for a key that takes no list.
void put_numbers(const LayerNumbers& key, Layer& layer, const std::vector<std::int64_t>& values);

template <typename Member>
struct LayerMember;
template <typename T, typename O>
struct LayerMember<T O::*> {
  using Options = O;
  using Value = T;
};

/// The option behind a member of a type's options, or behind one that all layers have.
template <auto Member>
auto& layer_option(Layer& layer) {
  using Options = typename LayerMember<decltype(Member)>::Options;
  if constexpr (std::is_same_v<Options, Layer>)
    return layer.*Member;
  else
    return layer.edit<Options>().*Member;
}

/// As in layer_key<&Convolution::stride>("stride"); what it takes follows from the member: numbers, yes or
/// no, a time, work, bytes.
template <auto Member>
LayerKey layer_key(std::string_view name, NumberRange range = {}) {
  using Held = typename LayerMember<decltype(Member)>::Value;
  if constexpr (std::is_same_v<Held, bool>)
    return {name, LayerFlag{layer_option<Member>}};
  else if constexpr (std::is_same_v<Held, Time>)
    return {name, LayerTime{layer_option<Member>}};
  else if constexpr (std::is_same_v<Held, Flops>)
    return {name, LayerFlops{layer_option<Member>}};
  else if constexpr (std::is_same_v<Held, Bytes>)
    return {name, LayerBytes{layer_option<Member>}};
  else {
    if (std::is_same_v<Held, Sides>) range.longest = 3;
    return {name,
            LayerNumbers{[](Layer& layer) { return NumberPlace(&layer_option<Member>(layer)); }, range}};
  }
}
/// A key that must be given.
template <auto Member>
LayerKey required_key(std::string_view name, NumberRange range = {}) {
  LayerKey key = layer_key<Member>(name, range);
  key.required = true;
  return key;
}
/// The words name the values of an enumeration, in its order.
template <auto Member>
LayerKey word_key(std::string_view name, std::vector<std::string> words) {
  using Held = typename LayerMember<decltype(Member)>::Value;
  return {name, LayerWord{std::move(words), [](Layer& layer, std::size_t word) {
                            layer_option<Member>(layer) = static_cast<Held>(word);
                          }}};
}

/// The layer's result, or why it does not fit its input.
struct Applied {
  TensorId tensor = 0;
  std::string message, hint;
  bool ok() const { return message.empty(); }
};

inline Applied misfit(std::string message, std::string hint) {
  return {0, std::move(message), std::move(hint)};
}

/// A layer's numbers held against the ranges that a network may have, before any shape is known.
struct LayerCheck {
  const Layer& layer;
  std::vector<ModelFault>& faults;

  void range(std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most) const;
  void range(std::string_view key, const Sides& sides, std::int64_t least, std::int64_t most) const;
  /// Two branches or names at least.
  void joins_several() const;
};

/// A width of the network, wider.
using Wider = std::function<std::int64_t(std::int64_t)>;

/// The weight or bias that `parameter` registers for layers of the same label.
struct DeclaredWeight {
  std::int64_t out = 0;  ///< elements
  enum class Part : std::uint8_t { weight, bias } part = Part::weight;
  bool trained = true;  ///< otherwise it counts, gets no gradient, and no layer needs its label
};

/// What a wider network does to a layer.
struct Widening {
  bool sets_width = false;                          ///< its result has its own width, not its input's
  bool (*is_rigid)(const Layer&) = nullptr;         ///< its sizes are absolute; none: never
  std::int64_t (*divisor)(const Layer&) = nullptr;  ///< widths remain multiples of it
  void (*widen)(Layer&, const Wider&) = nullptr;
  /// The size, in the wider network, of what was declared for this layer; nothing where it does not tell.
  std::optional<std::int64_t> (*size_of)(const Layer&, const DeclaredWeight&, const Wider&) = nullptr;
};
inline bool always_rigid(const Layer&) { return true; }

/// Which layers the tape counts as modules of the network.
enum class ModuleRule : std::uint8_t {
  always,
  outside_blocks,  ///< blocks reuse one module, counted behind the block
  never
};

/// A row of the table. One of the three functions is there. FLOPs and bytes: docs/models/operators.md.
struct LayerType {
  std::string_view name;
  std::vector<LayerKey> keys{};  ///< in the order of docs/models/model_files.md
  /// Records one layer without branches, whose numbers have passed check_layer().
  Applied (*apply)(Tape& tape, const Layer& layer, TensorId input) = nullptr;
  /// Records a layer that joins several tensors, at least one: it takes `branches`, and several names in
  /// `from` and `with`.
  Applied (*join)(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) = nullptr;
  /// Opens a further input of the network; takes none itself.
  Applied (*open)(Tape& tape, const Layer& layer) = nullptr;
  void (*check)(const LayerCheck& check) = nullptr;
  bool has_memory = false;  ///< takes one further name in `memory`
  bool is_loss = false;     ///< ends a network; several are added
  /// As how many layers it counts; none: one.
  std::int64_t (*parts)(const Layer& layer) = nullptr;
  const DeclaredWeight* (*declares)(const Layer& layer) = nullptr;
  ModuleRule module = ModuleRule::always;
  Widening widening{};
};

/// All types, in the order they are listed to users.
std::span<const LayerType> layer_types();
/// The row of that name, nullptr when there is none.
const LayerType* find_layer_type(std::string_view name);

/// The sides of an image, kernel or stride with the key that gives them, for messages.
struct NamedSides {
  std::string_view key;
  const Sides& sides;
};
/// Whether every number given for each side counts as many as the input has sides, or one for all.
Applied check_sides(const Layer& layer, std::size_t sides, std::initializer_list<NamedSides> given);

/// The layer's own numbers, before any shape is known; empty when they are in range.
std::vector<ModelFault> check_layer(const Layer& layer);

// convolution.cpp, normalization.cpp, pooling.cpp
LayerType conv1d_layer(), conv2d_layer(), conv3d_layer(), conv_transpose_layer();
LayerType batch_norm_layer(), group_norm_layer(), instance_norm_layer(), layer_norm_layer();
LayerType max_pool_layer(), avg_pool_layer(), adaptive_avg_pool_layer();
// resize.cpp, join.cpp, detection.cpp, dot_interaction.cpp, timed.cpp, custom.cpp, loss.cpp
LayerType upsample_layer(), slice_layer(), reshape_layer(), start_layer();
LayerType add_layer(), multiply_layer(), concat_layer();
LayerType roi_align_layer(), pointwise_layer(), dot_interaction_layer(), timed_layer(), custom_layer(),
    loss_layer();
// activation.cpp, gelu_new.cpp, gated_tanh.cpp
LayerType relu_layer(), relu6_layer(), squared_relu_layer(), gelu_layer(), silu_layer(), hardswish_layer(),
    hardsigmoid_layer(), leaky_relu_layer(), elu_layer(), tanh_layer(), sigmoid_layer(), gelu_new_layer(),
    gated_tanh_layer();
/// join.cpp: whether the layer is silu(gate) * up, whose activation the fused product computes: the last
/// layer of its first branch is then left out.
bool fuses_gate(const Layer& layer, const FineTuning& tuning);
LayerType softmax_layer(), dropout_layer(), dropout_channels_layer(), drop_path_layer(), flatten_layer();
// linear.cpp, embedding.cpp, adaptive_softmax.cpp, recurrent.cpp, sequence_views.cpp
LayerType linear_layer(), embedding_layer(), token_type_layer(), position_layer(), class_token_layer(),
    parameter_layer();
LayerType adaptive_embedding_layer(), adaptive_softmax_layer(), lstm_layer(), gru_layer();
LayerType to_sequence_layer(), first_token_layer(), shift_layer(), mean_tokens_layer(), scale_layer(),
    mask_layer();
// attention.cpp, relative_attention.cpp, window_attention.cpp, additive_attention.cpp
LayerType attention_layer(), relative_attention_layer(), window_attention_layer(), patch_merging_layer(),
    additive_attention_layer(), location_attention_layer();
// matmul.cpp, rms_norm.cpp, grouped_attention.cpp, latent_attention.cpp, relative_bias.cpp, experts.cpp,
// trained_vector.cpp, dot_product_attention.cpp
LayerType matmul_layer(), rms_norm_layer(), grouped_attention_layer(), latent_attention_layer(),
    relative_bias_layer(), experts_layer(), trained_scale_layer(), trained_shift_layer(),
    dot_product_attention_layer(), rotary_layer();

}  // namespace foretrain
