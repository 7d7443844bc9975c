// The table of number keys, and the table of types with the keys that each takes; whatever else stands in a
// layer is an unknown key.
#include "sim/scenario/layers/layer_rules.hpp"

#include <algorithm>
#include <array>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {

namespace {

using Values = std::vector<std::int64_t>;

template <auto Member>
void number(Layer& layer, const Values& values) {
  layer.*Member = values[0];
}
template <auto Member>
void sides(Layer& layer, const Values& values) {
  layer.*Member = Sides(values);
}
template <auto Member>
void sequence_number(Layer& layer, const Values& values) {
  layer.sequence.*Member = values[0];
}
template <auto Member>
void sequence_list(Layer& layer, const Values& values) {
  layer.sequence.*Member = values;
}
void shape(Layer& layer, const Values& values) { layer.shape = values; }

template <auto Member>
bool& layer_flag(Layer& layer) {
  return layer.*Member;
}
template <auto Member>
bool& sequence_flag(Layer& layer) {
  return layer.sequence.*Member;
}

constexpr auto kMost = kLargestField;
constexpr std::array kFields{
    FieldRow{"out", 1, kMost, 1, number<&Layer::out>},
    FieldRow{"kernel", 1, kMost, 3, sides<&Layer::kernel>},
    FieldRow{"stride", 1, kMost, 3, sides<&Layer::stride>},
    FieldRow{"padding", 0, kMost, 3, sides<&Layer::padding>},
    FieldRow{"dilation", 1, kMost, 3, sides<&Layer::dilation>},
    FieldRow{"groups", 1, kMost, 1, number<&Layer::groups>},
    FieldRow{"entries", 1, kMost, 1, number<&Layer::entries>},
    FieldRow{"heads", 1, kMost, 1, number<&Layer::heads>},
    FieldRow{"repeat", 1, kMostLayers, 1, nullptr},
    FieldRow{"output_padding", 0, kMost, 3, sides<&Layer::output_padding>},
    FieldRow{"factor", 1, kMost, 3, sides<&Layer::factor>},
    FieldRow{"offset", 0, kMost, 1, number<&Layer::offset>},
    FieldRow{"shape", -1, kMost, 4, shape},
    FieldRow{"input", 1, kMost, 4, shape},
    FieldRow{"width", 1, kMost, 1, sequence_number<&SequenceFields::width>},
    FieldRow{"layers", 1, kMost, 1, sequence_number<&SequenceFields::layers>},
    FieldRow{"window", 1, kMost, 1, sequence_number<&SequenceFields::window>},
    FieldRow{"shift", 0, kMost, 1, sequence_number<&SequenceFields::shift>},
    FieldRow{"memory_length", 0, kMost, 1, sequence_number<&SequenceFields::memory_length>},
    FieldRow{"steps", 1, kMost, 1, sequence_number<&SequenceFields::steps>},
    FieldRow{"cutoffs", 1, kMost, 8, sequence_list<&SequenceFields::cutoffs>},
    FieldRow{"shares", 0, 1000, 8, sequence_list<&SequenceFields::shares>},
    FieldRow{"divide", 1, 64, 1, sequence_number<&SequenceFields::divide>},
    FieldRow{"operators", 1, kMost, 1, number<&Layer::operators>},
    FieldRow{"parameters", 0, kMost, 1, number<&Layer::parameters>}};
static_assert(kFields.size() == static_cast<std::size_t>(LayerField::parameters) + 1);

const WordRule kInterpolation{"mode", {"nearest", "bilinear"}, [](Layer& layer, std::size_t word) {
                                layer.interpolation = static_cast<Interpolation>(word);
                              }};
const WordRule kLossKind{"kind", {"cross_entropy", "mse", "l1", "bce"}, [](Layer& layer, std::size_t word) {
                           layer.loss_kind = static_cast<LossKind>(word);
                         }};
const WordRule kProjection{
    "projection", {"separate", "packed", "module"}, [](Layer& layer, std::size_t word) {
      layer.sequence.projection = static_cast<Projection>(word);
    }};
const WordRule kPart{"part", {"weight", "bias"}, [](Layer& layer, std::size_t word) {
                       layer.sequence.part = word == 0 ? "weight" : "bias";
                     }};

using F = LayerField;
using T = LayerType;
using S = SequenceFields;

const FlagRule kBias{"bias", layer_flag<&Layer::bias>}, kInplace{"inplace", layer_flag<&Layer::inplace>},
    kDropout{"dropout", sequence_flag<&S::dropout>};
const std::vector<FieldRule> kSteps{{F::steps, false, 1}};

/// Layers over the sides of an image or volume. A pool's stride, second, defaults to its kernel, first.
std::vector<TypeRule> image_rules() {
  const std::vector<FieldRule> convolution{{F::out, true}, {F::kernel, true},       {F::stride, false, 1},
                                           {F::padding},   {F::dilation, false, 1}, {F::groups, false, 1}},
      pool{{F::kernel, true}, {F::stride}, {F::padding}};
  std::vector<FieldRule> transposed = convolution;
  transposed.push_back({F::output_padding});
  return {{T::conv1d, convolution, {kBias}},
          {T::conv2d, convolution, {kBias}},
          {T::conv3d, convolution, {kBias}},
          {T::conv_transpose, transposed, {kBias}},
          {T::batch_norm, {}},
          {T::group_norm, {{F::groups, true}}, {kBias}},
          {T::instance_norm, {}, {kBias}},
          {T::max_pool, pool, {{"ceil", layer_flag<&Layer::ceil>}}},
          {T::avg_pool, pool, {{"ceil", layer_flag<&Layer::ceil>}}},
          {T::adaptive_avg_pool, {{F::out, false, 1}}},
          {T::upsample, {{F::factor, false, 2}}, {}, {kInterpolation}},
          {T::dropout_channels, {}},
          {T::roi_align, {{F::out, true}, {F::kernel, true}}, {}, {}, true}};
}

/// Layers over tensors of any kind, or over their last dimension.
std::vector<TypeRule> plain_rules() {
  return {{T::layer_norm, {}},
          {T::linear,
           {{F::out, true}, {F::steps, false, 1}},
           {kBias, {"bias_apart", sequence_flag<&S::bias_apart>}}},
          {T::relu, {}, {kInplace}},
          {T::relu6, {}, {kInplace}},
          {T::gelu, {}},
          {T::gelu_new, {}},
          {T::silu, {}, {kInplace}},
          {T::hardswish, {}, {kInplace}},
          {T::hardsigmoid, {}, {kInplace}},
          {T::leaky_relu, {}, {kInplace}},
          {T::elu, {}, {kInplace}},
          {T::tanh, {}, {kInplace}},
          {T::sigmoid, {}, {kInplace}},
          {T::softmax, {}},
          {T::dropout, kSteps, {kInplace}},
          {T::drop_path, {}},
          {T::flatten, {}},
          {T::reshape, {{F::shape, true}}},
          {T::slice, {{F::out, true}, {F::offset}}},
          {T::add, kSteps, {}, {}, true},
          {T::multiply, {}, {}, {}, true},
          {T::concat, kSteps, {}, {}, true},
          {T::start, {{F::input, true}}, {{"tokens", layer_flag<&Layer::tokens>}}},
          {T::scale, {}},
          {T::gated_tanh, {}},
          {T::dot_interaction, {}, {}, {}, true},
          {T::pointwise, {{F::operators, true}, {F::out}}, {{"gradient", layer_flag<&Layer::gradient>}}},
          {T::timed,
           {{F::parameters}},
           {},
           {},
           false,
           false,
           {{"forward", &Layer::forward_time}, {"backward", &Layer::backward_time}}},
          {T::loss, {}, {{"weighted", layer_flag<&Layer::weighted>}}, {kLossKind}}};
}

/// Layers over sequences and tokens.
std::vector<TypeRule> sequence_rules() {
  const std::vector<FieldRule> recurrent{{F::width, true}, {F::layers, false, 1}, {F::steps, false, 1}};
  const std::vector<FlagRule> recurrent_flags{{"bidirectional", sequence_flag<&S::bidirectional>}, kBias};
  return {
      {T::embedding, {{F::entries, true}, {F::out, true}}, {{"sparse", sequence_flag<&S::sparse>}}},
      {T::token_type, {{F::entries, true}}},
      {T::position, {{F::entries}}, {{"trained", sequence_flag<&S::trained>}}},
      {T::class_token, {}},
      {T::parameter, {{F::out, true}}, {}, {kPart}},
      {T::to_sequence, {}},
      {T::first_token, {}},
      {T::shift, {}},
      {T::attention,
       {{F::heads, true}, {F::width}},
       {kBias,
        {"mask", sequence_flag<&S::mask>},
        {"causal", sequence_flag<&S::causal>},
        kDropout,
        {"qkv_bias", sequence_flag<&S::qkv_bias>},
        {"scaled", sequence_flag<&S::scaled>},
        {"fused", sequence_flag<&S::fused>}},
       {kProjection},
       false,
       true},
      {T::relative_attention, {{F::heads, true}, {F::width}, {F::memory_length}}, {kDropout}},
      {T::window_attention, {{F::heads, true}, {F::window, true}, {F::shift}}, {kBias}},
      {T::patch_merging, {}},
      {T::mask, {}},
      {T::adaptive_embedding, {{F::out, true}, {F::cutoffs, true}, {F::shares, true}, {F::divide, false, 1}}},
      {T::adaptive_softmax, {{F::cutoffs, true}, {F::shares, true}, {F::divide, false, 1}}},
      {T::mean_tokens, {}},
      {T::additive_attention, {{F::width, true}}, {}, {}, false, true},
      {T::location_attention, {{F::width, true}, {F::steps, false, 1}}, {}, {}, false, true},
      {T::lstm, recurrent, recurrent_flags},
      {T::gru, recurrent, recurrent_flags}};
}

const std::vector<TypeRule>& type_rules() {
  static const std::vector<TypeRule> kRules = [] {
    std::vector<TypeRule> rules;
    for (const auto& group : {image_rules(), plain_rules(), sequence_rules()})
      rules.insert(rules.end(), group.begin(), group.end());
    return rules;
  }();
  return kRules;
}

}  // namespace

const FieldRow& row_of(LayerField field) { return kFields[static_cast<std::size_t>(field)]; }

const TypeRule* find_type_rule(std::string_view name) {
  const auto& rules = type_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(),
                                 [&](const TypeRule& r) { return row_of(r.type).name == name; });
  return rule == rules.end() ? nullptr : &*rule;
}

const std::vector<std::string>& layer_type_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names{"block"};
    for (const TypeRule& rule : type_rules()) names.emplace_back(row_of(rule.type).name);
    return names;
  }();
  return kNames;
}

}  // namespace foretrain
