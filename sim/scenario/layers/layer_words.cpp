// Meanings of the types of layers, for the reference page; their keys are those of their rules.
#include "sim/scenario/layers/layer_words.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {

namespace {

/// The meaning of one type.
struct LayerWords {
  std::string_view type, meaning;
};

constexpr std::array kWords{
    LayerWords{"conv1d", "a convolution along a signal, an image of height 1"},
    LayerWords{"conv2d", "over an image"},
    LayerWords{"conv3d", "over a volume"},
    LayerWords{"conv_transpose", "the reverse of a strided convolution, over an image or volume"},
    LayerWords{"batch_norm", "over channels or features, with running statistics"},
    LayerWords{"group_norm", "over groups of channels of a sample"},
    LayerWords{"instance_norm", "over each channel of a sample; `bias`: weight and bias are trained"},
    LayerWords{"max_pool", "windows; the stride defaults to the kernel"},
    LayerWords{"avg_pool", "the same with means"},
    LayerWords{"adaptive_avg_pool", "`out` windows a side (1)"},
    LayerWords{"upsample", "`mode` nearest, bilinear"},
    LayerWords{"dropout_channels", "drops whole channels (Dropout2d)"},
    LayerWords{"roi_align",
               "`out` regions of kernel x kernel, cut out of one feature map or of several levels"},
    LayerWords{"layer_norm",
               "over the last dimension; `bias = false`: a weight alone is trained, `trained = false`: "
               "nothing"},
    LayerWords{"linear", "over the last dimension; `bias_apart`: added by an operator of its own"},
    LayerWords{"relu", "max(x, 0)"},
    LayerWords{"relu6", "min(max(x, 0), 6)"},
    LayerWords{"squared_relu", "max(x, 0) squared, two operators"},
    LayerWords{"gelu", "one fused kernel"},
    LayerWords{"gelu_new", "its tanh formula, operator by operator"},
    LayerWords{"silu", "x sigmoid(x), swish"},
    LayerWords{"hardswish", "the function of that name"},
    LayerWords{"hardsigmoid", "the function of that name"},
    LayerWords{"leaky_relu", "the function of that name"},
    LayerWords{"elu", "the function of that name"},
    LayerWords{"tanh", "the function of that name"},
    LayerWords{"sigmoid", "the function of that name"},
    LayerWords{"softmax", "over the last dimension, or channels"},
    LayerWords{"dropout", "of single elements"},
    LayerWords{"drop_path", "drops whole samples (stochastic depth)"},
    LayerWords{"flatten", "to features"},
    LayerWords{"reshape", "a view of another shape; one entry may be -1"},
    LayerWords{"slice", "`out` channels (or of the last dimension) from `offset` on"},
    LayerWords{"add", "the sum; smaller operands are spread over larger ones"},
    LayerWords{"multiply", "the product, likewise"},
    LayerWords{"concat", "along channels, or the last dimension"},
    LayerWords{"start", "a further input of the network"},
    LayerWords{"scale", "times a constant"},
    LayerWords{"gated_tanh", "tanh of half the channels times the sigmoid of the other half"},
    LayerWords{"dot_interaction", "pairwise products of vectors (DLRM)"},
    LayerWords{"pointwise",
               "that many small operators of a script on `out` elements each; `gradient`: backward, too"},
    LayerWords{"timed",
               "runs as long as `forward = \"10 ms\"` and `backward` say, whatever the batch; one tensor of "
               "`parameters`"},
    LayerWords{
        "custom",
        "work that no type describes, per sample; the result has the input's shape, or `shape`; time by the "
        "roofline: the longer of its FLOPs on the vector cores and its bytes, which are those of 32 "
        "bits; a pass launches `kernels`"},
    LayerWords{"loss",
               "`kind` cross_entropy, mse, l1, bce; `weighted`: scaled before it is added to the others"},
    LayerWords{"embedding", "a table of `entries` rows; `sparse`: gradients of the rows looked up only"},
    LayerWords{"token_type", "one row for all tokens, added"},
    LayerWords{"position",
               "trained rows are added, looked up in a table of `entries` if given; `trained = false`: "
               "constants, with "
               "`counted` a frozen parameter"},
    LayerWords{"class_token", "a trained row in front"},
    LayerWords{
        "parameter",
        "registers the weight or bias (`part`) of a later layer with the same label; `trained = false`: one "
        "that nothing trains"},
    LayerWords{"to_sequence", "an image's positions as rows"},
    LayerWords{"first_token", "the first row"},
    LayerWords{"shift", "all rows but the last"},
    LayerWords{"attention",
               "`projection` separate, packed, module; keys and values from `memory` if given; see "
               "[sequences](../models/networks.md#sequences)"},
    LayerWords{"relative_attention", "as in Transformer-XL"},
    LayerWords{"window_attention", "within windows of an image's tokens, as in Swin"},
    LayerWords{"patch_merging", "four neighbours become one token of their widths together"},
    LayerWords{"mask", "zeros behind each sample's end"},
    LayerWords{"adaptive_embedding", "clusters by frequency, rarer ones narrower"},
    LayerWords{"adaptive_softmax", "the loss over such clusters"},
    LayerWords{"mean_tokens", "the mean of all rows"},
    LayerWords{"additive_attention", "as in GNMT, over `memory`"},
    LayerWords{"location_attention", "as in Tacotron 2, over `memory`"},
    LayerWords{"lstm", "`width` of one direction"},
    LayerWords{"gru", "the same with three gates"},
    LayerWords{"matmul", "[heads, m, k] times [heads, k, n], two results"},
    LayerWords{"rms_norm", "by the root of the mean square over the last dimension, as in Llama and T5"},
    LayerWords{
        "grouped_attention",
        "`groups` heads of keys and values (otherwise `heads`), `rotary` elements of a head turned by "
        "position, `norm` of each head or `norm_rows` of all together, `alibi` slopes by distance, a causal "
        "`window` of so many keys; `memory`: keys and values of another result, or with "
        "`relative` a bias of the scores; see [sequences](../models/networks.md#sequences)"},
    LayerWords{"latent_attention",
               "as in DeepSeek-V2: queries by way of `query_rank` (without: directly), keys and values of "
               "`kv_rank`; heads of `plain` + `rotary` elements, values of `value`"},
    LayerWords{"relative_bias", "T5's bias of the scores, a table of `buckets` distances for each head"},
    LayerWords{"experts",
               "a router sends each row through `top` of `experts` perceptrons of `width`, as in Mixtral; "
               "`grouped`: one kernel for all; `capacity`: percent of the even share that each takes; "
               "`shared_width`: of those that every row passes; `balance_bias`: of the choice, not trained"},
    LayerWords{"trained_scale", "times a trained vector of `out` elements (the width, or the channels)"},
    LayerWords{"trained_shift", "plus such a vector"},
    LayerWords{"dot_product_attention",
               "softmax(q k^T) v of the three results in `from`, without projections; `fused` unless false"},
    LayerWords{"rotary", "all elements of the rows turned by position"}};

/// Returns the keys of a type, "**out**, stride, bias, mode", with required ones in bold.
std::string keys_of(const LayerType& type) {
  std::vector<std::string> keys;
  for (const LayerKey& key : type.keys)
    keys.push_back(fmt::format("{0}{1}{0}", key.required ? "**" : "", key.name));
  if (type.join != nullptr) keys.insert(keys.end(), {"branches", "with"});
  if (type.has_memory) keys.emplace_back("memory");
  return keys.empty() ? "–" : fmt::format("{}", fmt::join(keys, ", "));
}

/// Returns the meaning of a type; empty when the table has none.
std::string_view meaning_of(std::string_view type) {
  const auto found =
      std::find_if(kWords.begin(), kWords.end(), [&](const LayerWords& words) { return words.type == type; });
  return found == kWords.end() ? "" : found->meaning;
}

}  // namespace

std::vector<DescribedLayer> described_layers() {
  std::vector<DescribedLayer> out;
  for (const LayerType& type : layer_types())
    out.push_back({std::string(type.name), keys_of(type), std::string(meaning_of(type.name))});
  return out;
}

}  // namespace foretrain
