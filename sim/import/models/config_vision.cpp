// Writes networks for images: ViT, Swin and ConvNeXt, each with a classifier for the labels of its config.
//
// The config of transformers has image_size, patch_size, num_channels and the sizes of the layers, for
// example {"model_type": "vit", "hidden_size": 768, "image_size": 224, "patch_size": 16, ...}. --image
// replaces the size.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_families.hpp"

namespace foretrain {

namespace {

/// ViT: patches as tokens, a class token in front, and the classifier over that token.
constexpr std::string_view kVit = R"(description = "<title>, <side> x <side> pixels"
optimizer = "adamw"
input = [<channels>, <side>, <side>]
layers = [
  { type = "parameter", out = <width>, weights = "class_token" },
  { type = "conv2d", out = <width>, kernel = <patch>, stride = <patch>, name = "patch_embeddings" },
  { type = "to_sequence" },
  { type = "class_token", weights = "class_token", name = "cls_token" },
  { type = "position", name = "position_embeddings" },
<dropout>  { type = "block", block = "encoder", repeat = <layers>, name = "layer" },
  { type = "layer_norm", name = "layernorm" },
  { type = "first_token" },
<head><loss>]

[blocks.encoder]
layers = [
  { type = "add", branches = [
    [
      { type = "layer_norm", name = "layernorm_before" },
      { type = "attention", heads = <heads>, qkv_bias = <qkv_bias>, name = "attention" },
<dropout_deeper>    ],
    [],
  ] },
  { type = "add", branches = [
    [
      { type = "layer_norm", name = "layernorm_after" },
      { type = "linear", out = <inner>, name = "intermediate" },
      <activation>,
      { type = "linear", out = <width>, name = "output" },
<dropout_deeper>    ],
    [],
  ] },
]
)";

/// Swin: attention within windows, shifted by half a window in every second layer; each later stage halves
/// the side.
constexpr std::string_view kSwin = R"(description = "<title>, <side> x <side> pixels"
optimizer = "adamw"
input = [<channels>, <side>, <side>]
layers = [
  { type = "conv2d", out = <width>, kernel = <patch>, stride = <patch>, name = "patch_embeddings" },
  { type = "to_sequence" },
  { type = "layer_norm" },
<stages>  { type = "layer_norm", name = "layernorm" },
  { type = "mean_tokens" },
<head><loss>]

[blocks.plain]
layers = [
  { type = "block", block = "windows", with = { heads = "$heads" } },
  { type = "block", block = "feed_forward", with = { inner = "$inner", width = "$width" } },
]

[blocks.shifted]
layers = [
  { type = "block", block = "shifted_windows", with = { heads = "$heads" } },
  { type = "block", block = "feed_forward", with = { inner = "$inner", width = "$width" } },
]

[blocks.windows]
layers = [
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { type = "window_attention", heads = "$heads", window = <window>, bias = <qkv_bias> },
<drop_path>    ],
    [],
  ] },
]

[blocks.shifted_windows]
layers = [
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { type = "window_attention", heads = "$heads", window = <window>, shift = <shift>, bias = <qkv_bias> },
<drop_path>    ],
    [],
  ] },
]

[blocks.feed_forward]
layers = [
  { type = "add", branches = [
    [
      { type = "layer_norm" },
      { type = "linear", out = "$inner" },
      <activation>,
      { type = "linear", out = "$width" },
<drop_path>    ],
    [],
  ] },
]
)";

/// ConvNeXt: depthwise convolutions, with norms over the channels of every position.
constexpr std::string_view kConvNext = R"(description = "<title>, <side> x <side> pixels"
optimizer = "adamw"
input = [<channels>, <side>, <side>]
layers = [
  { type = "conv2d", out = <width>, kernel = <patch>, stride = <patch>, name = "patch_embeddings" },
  { type = "block", block = "norm", with = { width = <width>, side = <first_side> } },
<stages>  { type = "adaptive_avg_pool" },
  { type = "flatten" },
  { type = "layer_norm", name = "layernorm" },
<head><loss>]

# Over the channels of every position.
[blocks.norm]
layers = [
  { type = "to_sequence" },
  { type = "layer_norm" },
  { type = "reshape", shape = ["$width", "$side", "$side"] },
]

[blocks.layer]
layers = [
  { type = "add", branches = [
    [],
    [
      { type = "conv2d", out = "$width", kernel = 7, padding = 3, groups = "$width", name = "dwconv" },
      { type = "to_sequence" },
      { type = "layer_norm" },
      { type = "linear", out = "$inner", name = "pwconv1" },
      <activation>,
      { type = "linear", out = "$width", name = "pwconv2" },
<gamma>      { type = "reshape", shape = ["$width", "$side", "$side"] },
<drop_path>    ],
  ] },
]
)";

/// Fills what all three families name alike, and returns the patches along one side of the image. An image
/// smaller than a patch is refused.
std::int64_t put_image(const ConfigSource& source, Filling& fill, std::int64_t patch) {
  const std::int64_t given = source.values.size_or({"image_size"}, 224);
  const std::int64_t side = source.options.image.value_or(given);
  fill.put("title", quotable(source.architecture.empty() ? source.model_type : source.architecture));
  fill.put("channels", source.values.size_or({"num_channels"}, 3)).put("side", side).put("patch", patch);
  if (side < patch)
    source.values.refuse("image_size", fmt::format("an image of {} has no patch of {}", side, patch));
  return std::max<std::int64_t>(1, side / patch);
}

/// Fills the classifier and the loss. A bare "...Model" has neither.
void put_classifier(const ConfigSource& source, Filling& fill) {
  if (source.architecture.ends_with("Model"))
    return void(fill.put("head", "").put("loss", loss_without_head(source)));
  if (!source.is_for("ForImageClassification"))
    source.remarks.push_back(fmt::format("taken with a head for {} classes", source.labels()));
  fill.put("head",
           fmt::format("  {{ type = \"linear\", out = {}, name = \"classifier\" }},\n", source.labels()));
  fill.put("loss", "  { type = \"loss\" },\n");
}

/// Fills stochastic depth, which drops whole residual branches, where its rate is above 0.
void put_drop_path(const ConfigSource& source, Filling& fill, double otherwise) {
  const bool drops = source.values.share_or("drop_path_rate", otherwise) > 0;
  fill.put("drop_path", drops ? "      { type = \"drop_path\" },\n" : "");
}

/// Returns the lines of one stage. Plain and shifted layers alternate, and each later stage begins with the
/// merging of 2 x 2 patches.
std::string swin_stage(std::int64_t depth, std::int64_t width, std::int64_t inner, std::int64_t heads,
                       std::size_t stage) {
  std::string out;
  if (stage > 0)
    out += fmt::format(
        "  {{ type = \"patch_merging\" }},\n  {{ type = \"layer_norm\" }},\n  {{ type = \"linear\", out = "
        "{}, bias = "
        "false, name = \"reduction{}\" }},\n",
        width, stage);
  for (std::int64_t layer = 0; layer < depth; ++layer)
    out += fmt::format(
        "  {{ type = \"block\", block = \"{}\", with = {{ inner = {}, width = {}, heads = {} }}, name = "
        "\"stage{}.{}\" }},\n",
        layer % 2 == 0 ? "plain" : "shifted", inner, width, heads, stage, layer);
  return out;
}

/// Layers of one stage, at most: each becomes a line of the model file.
constexpr std::int64_t kMostDepth = 1000;

/// Returns whether there is one other number for each stage, 16 stages at most, and no stage is too deep.
/// Reports what does not fit.
bool depths_fit(const ConfigSource& source, const std::vector<std::int64_t>& depths, std::size_t others,
                const char* other) {
  for (const std::int64_t depth : depths) {
    if (depth > kMostDepth)
      source.values.refuse("depths", fmt::format("a stage of {} layers is too deep", depth));
    if (depth > kMostDepth) return false;
  }
  if (depths.size() == others && depths.size() <= 16) return true;
  source.values.refuse("depths", fmt::format("depths has {} stages, {} {}", depths.size(), other, others),
                       "one number for each stage, 16 at most");
  return false;
}

}  // namespace

/// Dropout layers are written only where the rate is above 0, since each is a kernel.
std::string write_vit(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const bool drops = values.share_or("hidden_dropout_prob", 0) > 0;
  Filling fill;
  put_image(source, fill, values.size_or({"patch_size"}, 16));
  fill.put("width", values.size({"hidden_size"})).put("layers", values.size({"num_hidden_layers"}));
  fill.put("heads", values.size({"num_attention_heads"})).put("inner", values.size({"intermediate_size"}));
  fill.put("qkv_bias", values.flag_or("qkv_bias", true) ? "true" : "false");
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "gelu")));
  fill.put("dropout", drops ? "  { type = \"dropout\" },\n" : "");
  fill.put("dropout_deeper", drops ? "      { type = \"dropout\" },\n" : "");
  put_classifier(source, fill);
  return fill.into(kVit);
}

/// The number of stages comes from `depths`; each stage doubles the width.
std::string write_swin(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::vector<std::int64_t> depths = values.sizes({"depths"}, 1),
                                  heads = values.sizes({"num_heads"}, 1);
  std::int64_t width = values.size({"embed_dim"});
  const std::int64_t window = values.size_or({"window_size"}, 7);
  const auto ratio = values.size_or({"mlp_ratio"}, 4);
  Filling fill;
  put_image(source, fill, values.size_or({"patch_size"}, 4));
  fill.put("width", width).put("window", window).put("shift", window / 2);
  fill.put("qkv_bias", values.flag_or("qkv_bias", true) ? "true" : "false");
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "gelu")));
  put_drop_path(source, fill, 0.1);
  put_classifier(source, fill);
  // The text of a refused config is not used; an empty one avoids lists that do not fit.
  if (!depths_fit(source, depths, heads.size(), "num_heads")) return "";
  std::string stages;
  // The width doubles with each stage.
  for (std::size_t stage = 0; stage < depths.size(); ++stage, width *= 2)
    stages += swin_stage(depths[stage], width, ratio * width, heads[stage], stage);
  fill.put("stages", stages);
  return fill.into(kSwin);
}

/// The side of the image is tracked, because norms need the sizes to restore the image.
std::string write_convnext(const ConfigSource& source) {
  ConfigValues& values = source.values;
  const std::vector<std::int64_t> depths = values.sizes({"depths"}, 1),
                                  widths = values.sizes({"hidden_sizes"}, 1);
  Filling fill;
  std::int64_t side = put_image(source, fill, values.size_or({"patch_size"}, 4));
  fill.put("width", widths[0]).put("first_side", side);
  fill.put("activation", activation_layer(source, values.word_or("hidden_act", "gelu")));
  fill.put("gamma", values.share_or("layer_scale_init_value", 1e-6) > 0
                        ? "      { type = \"trained_scale\" },\n"
                        : "");
  put_drop_path(source, fill, 0);
  put_classifier(source, fill);
  if (!depths_fit(source, depths, widths.size(), "hidden_sizes")) return "";
  std::string stages;
  // Stages behind the first halve the side by a convolution of stride 2.
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    // Between stages a norm and a strided convolution halve the side.
    if (stage > 0) {
      stages += fmt::format(
          "  {{ type = \"block\", block = \"norm\", with = {{ width = {}, side = {} }} }},\n  {{ type = "
          "\"conv2d\", out = "
          "{}, kernel = 2, stride = 2, name = \"downsampling{}\" }},\n",
          widths[stage - 1], side, widths[stage], stage);
      side = std::max<std::int64_t>(1, side / 2);
    }
    stages += fmt::format(
        "  {{ type = \"block\", block = \"layer\", repeat = {}, with = {{ width = {}, inner = {}, side = {} "
        "}}, name = "
        "\"stage{}\" }},\n",
        depths[stage], widths[stage], 4 * widths[stage], side, stage);
  }
  fill.put("stages", stages);
  return fill.into(kConvNext);
}

}  // namespace foretrain
