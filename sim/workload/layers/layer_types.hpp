// The table of layer types. A row says which keys a file may give, which operators the layer records on a
// tape, and how the layer changes in a wider network.
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

/// Largest number that a layer of a file may have.
inline constexpr std::int64_t kLargestNumber = 1'000'000'000;
/// Largest number of channels, features or entries of a layer.
inline constexpr std::int64_t kWidestLayer = 1'000'000'000;
/// Largest kernel, stride, padding and dilation.
inline constexpr std::int64_t kLargestStep = 1'000'000;

/// The numbers that a file may write for a key, before the limits of the network itself.
struct NumberRange {
  std::int64_t least = 1, most = kLargestNumber;
  std::size_t longest = 1;  ///< most numbers; one: no list
  /// The word "same" is allowed too, and means -1.
  bool or_same = false;
};

/// The place where the numbers of a key are stored.
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
/// A key of a layer that takes the FLOPs of a sample: where they are stored.
struct LayerFlops {
  Flops& (*at)(Layer&);
};

/// A key of a layer that takes a size in bytes: where it is stored.
struct LayerBytes {
  Bytes& (*at)(Layer&);
};
/// A key of a layer that takes a word of a list, whose first word is the default.
struct LayerWord {
  std::vector<std::string> words;
  void (*put)(Layer&, std::size_t);
};

/// An option of a type, as a model file may set it. An option that is not given keeps its initial value.
struct LayerKey {
  std::string_view name;
  std::variant<LayerNumbers, LayerFlag, LayerTime, LayerFlops, LayerBytes, LayerWord> value;
  bool required = false;
};

/// Stores the values of a key. Requires at least one value, and exactly one for a key that takes no list.
void put_numbers(const LayerNumbers& key, Layer& layer, const std::vector<std::int64_t>& values);

// The class and the type of a pointer to member.
template <typename Member>
struct LayerMember;
template <typename T, typename O>
struct LayerMember<T O::*> {
  using Options = O;
  using Value = T;
};

/// Returns the option behind a member of a type's options, or behind a member that all layers have.
template <auto Member>
auto& layer_option(Layer& layer) {
  using Options = typename LayerMember<decltype(Member)>::Options;
  if constexpr (std::is_same_v<Options, Layer>)
    return layer.*Member;
  else
    return layer.edit<Options>().*Member;
}

/// Returns a key, as in layer_key<&Convolution::stride>("stride"). The member's type decides what the key
/// takes: numbers, true or false, a time, work, or bytes.
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
/// Returns a key that must be given.
template <auto Member>
LayerKey required_key(std::string_view name, NumberRange range = {}) {
  LayerKey key = layer_key<Member>(name, range);
  key.required = true;
  return key;
}
/// Returns a key whose words name the values of an enumeration, in its order.
template <auto Member>
LayerKey word_key(std::string_view name, std::vector<std::string> words) {
  using Held = typename LayerMember<decltype(Member)>::Value;
  return {name, LayerWord{std::move(words), [](Layer& layer, std::size_t word) {
                            layer_option<Member>(layer) = static_cast<Held>(word);
                          }}};
}

/// The layer's result, or the reason why it does not fit its input.
struct Applied {
  TensorId tensor = 0;
  std::string message, hint;
  bool ok() const { return message.empty(); }
};

/// Returns the reason why a layer does not fit, with a hint for the author of the file.
inline Applied misfit(std::string message, std::string hint) {
  return {0, std::move(message), std::move(hint)};
}

/// Checks a layer's numbers against the ranges that a network may have, before any shape is known. Every
/// violation is appended to `faults`.
struct LayerCheck {
  const Layer& layer;
  std::vector<ModelFault>& faults;

  void range(std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most) const;
  void range(std::string_view key, const Sides& sides, std::int64_t least, std::int64_t most) const;
  /// Requires two branches or names at least.
  void joins_several() const;
};

/// Maps a width of the network to that in the wider network.
using Wider = std::function<std::int64_t(std::int64_t)>;

/// The weight or bias that `parameter` registers for layers of the same label.
struct DeclaredWeight {
  std::int64_t out = 0;  ///< elements
  enum class Part : std::uint8_t { weight, bias } part = Part::weight;
  /// An untrained weight is counted and gets no gradient; no layer needs its label.
  bool trained = true;
};

/// The changes that a wider network makes to a layer.
struct Widening {
  /// Its result has a width of its own, not its input's.
  bool sets_width = false;
  /// True where its sizes are absolute; none: never.
  bool (*is_rigid)(const Layer&) = nullptr;
  /// Returns a number that widths remain multiples of.
  std::int64_t (*divisor)(const Layer&) = nullptr;
  void (*widen)(Layer&, const Wider&) = nullptr;
  /// Returns the size that a weight declared for this layer has in the wider network. Returns nothing where
  /// the layer does not determine it.
  std::optional<std::int64_t> (*size_of)(const Layer&, const DeclaredWeight&, const Wider&) = nullptr;
};
inline bool always_rigid(const Layer&) { return true; }

/// Decides whether the tape counts a layer as a module of the network.
enum class ModuleRule : std::uint8_t {
  always,
  outside_blocks,  ///< blocks reuse one module, counted behind the block
  never
};

/// A row of the table. Exactly one of `apply`, `join` and `open` is set. FLOPs and bytes:
/// docs/models/kernels.md.
struct LayerType {
  std::string_view name;
  std::vector<LayerKey> keys{};  ///< in the order of docs/models/networks.md
  /// Records one layer without branches, whose numbers have passed check_layer().
  Applied (*apply)(Tape& tape, const Layer& layer, TensorId input) = nullptr;
  /// Records a layer that joins several tensors, at least one: it takes `branches`, and several names in
  /// `from` and `with`.
  Applied (*join)(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) = nullptr;
  /// Opens a further input of the network, and takes no input itself.
  Applied (*open)(Tape& tape, const Layer& layer) = nullptr;
  void (*check)(const LayerCheck& check) = nullptr;
  bool has_memory = false;  ///< takes one further name in `memory`
  bool is_loss = false;     ///< ends a network; several are added
  /// Returns the number of layers that it counts as; none: one.
  std::int64_t (*parts)(const Layer& layer) = nullptr;
  const DeclaredWeight* (*declares)(const Layer& layer) = nullptr;
  ModuleRule module = ModuleRule::always;
  Widening widening{};
};

/// Returns all types, in the order in which they are listed to users.
std::span<const LayerType> layer_types();
/// Returns the row of that name, or nullptr.
const LayerType* find_layer_type(std::string_view name);

/// The sides of an image, kernel or stride with the key that gives them, for messages.
struct NamedSides {
  std::string_view key;
  const Sides& sides;
};
/// Returns a misfit where a given list has neither one number nor as many as the input has sides.
Applied check_sides(const Layer& layer, std::size_t sides, std::initializer_list<NamedSides> given);

/// Checks the layer's own numbers, before any shape is known. Returns an empty list when they are in range.
std::vector<ModelFault> check_layer(const Layer& layer);

// Rows of the table, by the files that define them.
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
/// True for a layer silu(gate) * up whose activation the fused product computes (join.cpp). The last layer of
/// its first branch is then left out.
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
