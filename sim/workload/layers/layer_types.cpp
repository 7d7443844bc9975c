// The table of layer types, and the checks that all of them share. A new type is a new file and a row here.
#include "sim/workload/layers/layer_types.hpp"

#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"

namespace foretrain {
namespace {

/// Largest number of rows that a script runs one after the other, beyond any sequence that is trained so.
constexpr std::int64_t kMostSteps = 10'000;

/// Checks named results: only joins take several, and a layer that opens a branch takes none.
void check_names(const LayerCheck& check) {
  const Layer& layer = check.layer;
  if (layer.type->join == nullptr && layer.from.size() > 1) {
    check.faults.push_back({layer.span,
                            fmt::format("{} takes one input, not {}", layer.type->name, layer.from.size()),
                            "join them with concat or add"});
  }
  if (layer.type->open != nullptr && !layer.from.empty())
    check.faults.push_back(
        {layer.span, fmt::format("{} takes no input", layer.type->name), "leave `from` out"});
}

}  // namespace

/// Returns the rows in the order of the reference page: convolutions and other layers of images, then
/// features, joins, layers with stated work, sequences.
std::span<const LayerType> layer_types() {
  static const std::array kRows{conv1d_layer(),
                                conv2d_layer(),
                                conv3d_layer(),
                                conv_transpose_layer(),
                                batch_norm_layer(),
                                group_norm_layer(),
                                instance_norm_layer(),
                                max_pool_layer(),
                                avg_pool_layer(),
                                adaptive_avg_pool_layer(),
                                upsample_layer(),
                                dropout_channels_layer(),
                                roi_align_layer(),
                                layer_norm_layer(),
                                linear_layer(),
                                relu_layer(),
                                relu6_layer(),
                                squared_relu_layer(),
                                gelu_layer(),
                                gelu_new_layer(),
                                silu_layer(),
                                hardswish_layer(),
                                hardsigmoid_layer(),
                                leaky_relu_layer(),
                                elu_layer(),
                                tanh_layer(),
                                sigmoid_layer(),
                                softmax_layer(),
                                dropout_layer(),
                                drop_path_layer(),
                                flatten_layer(),
                                reshape_layer(),
                                slice_layer(),
                                add_layer(),
                                multiply_layer(),
                                concat_layer(),
                                start_layer(),
                                scale_layer(),
                                gated_tanh_layer(),
                                dot_interaction_layer(),
                                pointwise_layer(),
                                timed_layer(),
                                custom_layer(),
                                loss_layer(),
                                embedding_layer(),
                                token_type_layer(),
                                position_layer(),
                                class_token_layer(),
                                parameter_layer(),
                                to_sequence_layer(),
                                first_token_layer(),
                                shift_layer(),
                                attention_layer(),
                                relative_attention_layer(),
                                window_attention_layer(),
                                patch_merging_layer(),
                                mask_layer(),
                                adaptive_embedding_layer(),
                                adaptive_softmax_layer(),
                                mean_tokens_layer(),
                                additive_attention_layer(),
                                location_attention_layer(),
                                lstm_layer(),
                                gru_layer(),
                                matmul_layer(),
                                rms_norm_layer(),
                                grouped_attention_layer(),
                                latent_attention_layer(),
                                relative_bias_layer(),
                                experts_layer(),
                                trained_scale_layer(),
                                trained_shift_layer(),
                                dot_product_attention_layer(),
                                rotary_layer()};
  return kRows;
}

// The index is built once; rows have static storage, so pointers to them stay valid.
const LayerType* find_layer_type(std::string_view name) {
  static const std::map<std::string_view, const LayerType*> kByName = [] {
    std::map<std::string_view, const LayerType*> rows;
    for (const LayerType& type : layer_types()) rows.emplace(type.name, &type);
    return rows;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

void put_numbers(const LayerNumbers& key, Layer& layer, const std::vector<std::int64_t>& values) {
  struct Put {
    const std::vector<std::int64_t>& values;
    void operator()(std::int64_t* place) const { *place = values[0]; }
    void operator()(Sides* place) const { *place = Sides(values); }
    void operator()(std::vector<std::int64_t>* place) const { *place = values; }
  };
  std::visit(Put{values}, key.at(layer));
}

void LayerCheck::range(std::string_view key, std::int64_t value, std::int64_t least,
                       std::int64_t most) const {
  if (value >= least && value <= most) return;
  const std::string_view type = layer.type->name;
  // A required number begins as 0: it was left out rather than wrong.
  if (value == 0 && least == 1) {
    faults.push_back(
        {layer.span, fmt::format("{} needs {}", type, key), fmt::format("write {} = 1 or more", key)});
  } else {
    faults.push_back({layer.span, fmt::format("{}: {} = {} is out of range", type, key, value),
                      fmt::format("{} to {}", least, most)});
  }
}

void LayerCheck::range(std::string_view key, const Sides& sides, std::int64_t least,
                       std::int64_t most) const {
  range(key, sides.least() < least ? sides.least() : sides.most(), least, most);
}

/// Checks the number of branches and names. A join without both takes the results named in `from`, which are
/// checked where they are known.
void LayerCheck::joins_several() const {
  const bool bare = layer.branches.empty() && layer.from.empty() && layer.with.empty();
  const auto count = static_cast<std::int64_t>(layer.branches.size() + layer.with.size());
  if (!bare && count <= kMostBranches && (layer.branches.size() != 1 || count > 1)) return;
  faults.push_back(
      {layer.span, fmt::format("{} has {} branches", layer.type->name, count),
       fmt::format("give 2 to {} branches; an empty branch [] passes its input on", kMostBranches)});
}

// The type's own checks come first, then those of names and steps that every layer has.
std::vector<ModelFault> check_layer(const Layer& layer) {
  std::vector<ModelFault> faults;
  const LayerCheck check{layer, faults};
  if (layer.type->check != nullptr) layer.type->check(check);
  check_names(check);
  check.range("steps", layer.steps, 1, kMostSteps);
  return faults;
}

/// Checks lists of sides: {3, 3} fits an image and no volume; one number fits everything.
Applied check_sides(const Layer& layer, std::size_t sides, std::initializer_list<NamedSides> given) {
  for (const NamedSides& named : given) {
    if (named.sides.count == 1 || named.sides.count == sides) continue;
    return misfit(
        fmt::format("{}: {} = {} has {} for {}", layer.type->name, named.key, to_string(named.sides),
                    counted(named.sides.count, "number"), counted(static_cast<std::int64_t>(sides), "side")),
        "write one number for all sides, or one for each");
  }
  return {};
}

}  // namespace foretrain
