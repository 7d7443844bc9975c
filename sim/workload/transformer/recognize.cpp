// Recognition of a transformer in a network's layers. Every attention begins a layer of the stack; the linear
// layers or experts behind it are its feed-forward part.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/transformer/shape.hpp"

namespace foretrain {

namespace {

/// Returns the number or flag that a key of a layer holds, and 0 for keys of other types.
std::int64_t number_of(const Layer& layer, std::string_view name) {
  // The accessors of keys take a layer that they may change, hence the copy.
  Layer copy = layer;
  for (const LayerKey& key : layer.type->keys) {
    if (key.name != name) continue;
    if (const auto* flag = std::get_if<LayerFlag>(&key.value)) return flag->at(copy) ? 1 : 0;
    const auto* numbers = std::get_if<LayerNumbers>(&key.value);
    if (numbers == nullptr) continue;
    if (const NumberPlace place = numbers->at(copy); std::holds_alternative<std::int64_t*>(place))
      return *std::get<std::int64_t*>(place);
  }
  return 0;
}

bool is_type(const Layer& layer, std::string_view name) { return layer.type->name == name; }
bool is_attention(const Layer& layer) {
  return is_type(layer, "attention") || is_type(layer, "grouped_attention") ||
         is_type(layer, "latent_attention");
}

/// Appends layers in the order in which they run, those in branches included.
void flatten(const std::vector<Layer>& layers, std::vector<const Layer*>& out) {
  for (const Layer& layer : layers) {
    for (const std::vector<Layer>& branch : layer.branches) flatten(branch, out);
    out.push_back(&layer);
  }
}

/// A layer of the stack: its attention, and the layers behind it up to the next attention.
struct Block {
  const Layer* attention = nullptr;
  const Layer* experts = nullptr;
  std::vector<const Layer*> linears;
};

/// The parts of a network that matter for its shape; pointers are into the model.
struct Parts {
  const Layer *embedding = nullptr, *head = nullptr;
  std::int64_t positions = 0;
  std::vector<Block> blocks;
};

/// Finds embedding, positions, blocks and head in the order in which the layers run.
Parts parts_of(const Model& model) {
  std::vector<const Layer*> layers;
  flatten(model.layers, layers);
  Parts parts;
  for (const Layer* layer : layers) {
    // Layers in front of the first attention belong to no block.
    if (is_type(*layer, "embedding") && parts.embedding == nullptr) parts.embedding = layer;
    if (is_type(*layer, "position")) parts.positions = number_of(*layer, "entries");
    if (is_attention(*layer)) parts.blocks.push_back({layer, nullptr, {}});
    if (parts.blocks.empty()) continue;
    if (is_type(*layer, "experts")) parts.blocks.back().experts = layer;
    if (is_type(*layer, "linear")) parts.blocks.back().linears.push_back(layer);
  }
  // The head is the linear layer behind the stack that gives one value for each word.
  if (parts.embedding == nullptr || parts.blocks.empty()) return parts;
  std::vector<const Layer*>& last = parts.blocks.back().linears;
  const std::int64_t words = number_of(*parts.embedding, "entries");
  const auto head =
      std::ranges::find_if(last, [&](const Layer* layer) { return number_of(*layer, "out") == words; });
  if (head == last.end()) return parts;
  parts.head = *head;
  last.erase(head, last.end());
  return parts;
}

/// Reads the sizes of an attention layer into the shape.
void take_attention(const Layer& layer, TransformerShape& shape) {
  shape.heads = static_cast<int>(number_of(layer, "heads"));
  shape.causal = number_of(layer, "causal") != 0;
  // Latent attention has as many keys as queries, and is always causal.
  if (is_type(layer, "latent_attention")) {
    shape.kv_heads = shape.heads;
    shape.latent = LatentAttention{.query_rank = number_of(layer, "query_rank"),
                                   .key_value_rank = number_of(layer, "kv_rank"),
                                   .rope_dim = number_of(layer, "rotary"),
                                   .plain_dim = number_of(layer, "plain"),
                                   .value_dim = number_of(layer, "value")};
    shape.head_dim = shape.latent->query_dim(), shape.causal = true;
    return;
  }
  const std::int64_t groups = number_of(layer, "groups"), head = number_of(layer, "head_width");
  const std::int64_t width = number_of(layer, "width");
  shape.head_norms = number_of(layer, "norm") != 0;
  shape.kv_heads = groups > 0 ? static_cast<int>(groups) : shape.heads;
  shape.head_dim = head > 0 ? head : (width > 0 ? width : shape.hidden) / std::max(1, shape.heads);
}

/// Reads the feed-forward part of a layer without experts. Returns false where it has another form.
bool take_feed(const Block& block, TransformerShape& shape) {
  std::vector<std::int64_t> widths;
  for (const Layer* layer : block.linears) {
    widths.push_back(number_of(*layer, "out"));
    if (widths.size() > 1 && widths.back() == shape.hidden) break;  // a pooler behind the stack is no part
  }
  if (widths.size() < 2 || widths.size() > 3 || widths.back() != shape.hidden) return false;
  shape.gated = widths.size() == 3, shape.inner = widths.front();
  shape.bias = number_of(*block.linears.front(), "bias") != 0;
  return widths[widths.size() - 2] == shape.inner;
}

/// Reads the sizes of experts; shared experts count in units of one expert's width.
ExpertLayers experts_of(const Layer& layer) {
  const std::int64_t width = number_of(layer, "width"), shared = number_of(layer, "shared_width");
  return {.experts = static_cast<int>(number_of(layer, "experts")),
          .top_k = static_cast<int>(number_of(layer, "top")),
          .shared = width > 0 ? static_cast<int>(shared / width) : 0,
          .width = width};
}

RecognizedTransformer no(std::string why) { return {std::nullopt, std::move(why)}; }

/// Finds the rule for layers with experts: some dense layers first, then one in `every`. Returns false where
/// no such rule holds.
bool take_experts(const std::vector<Block>& blocks, TransformerShape& shape) {
  const auto first =
      std::ranges::find_if(blocks, [](const Block& block) { return block.experts != nullptr; });
  if (first == blocks.end()) return true;
  shape.experts = experts_of(*first->experts);
  const auto next =
      std::find_if(first + 1, blocks.end(), [](const Block& b) { return b.experts != nullptr; });
  const auto at = static_cast<int>(first - blocks.begin());
  shape.experts->every = next == blocks.end() ? 1 : static_cast<int>(next - first);
  shape.experts->dense_layers = at - (shape.experts->every - 1);
  if (shape.experts->dense_layers < 0) return false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (has_experts(shape, static_cast<int>(i)) != (blocks[i].experts != nullptr)) return false;
  }
  return true;
}

}  // namespace

// The first reason against a transformer is returned; the shape is complete only when none was found.
RecognizedTransformer recognize_transformer(const Model& model) {
  if (model.is_recorded) return no("a recording has operators and no layers");
  const Parts parts = parts_of(model);
  if (parts.embedding == nullptr) return no("it begins with no embedding");
  if (parts.blocks.size() < 2) return no("it is no stack of attention layers");
  if (parts.head == nullptr) return no("no linear layer behind the stack gives a value for each word");
  TransformerShape shape;
  shape.layers = static_cast<int>(parts.blocks.size());
  shape.hidden = number_of(*parts.embedding, "out");
  shape.vocabulary = number_of(*parts.embedding, "entries");
  shape.sequence = model.input.empty() ? 0 : model.input.front();
  shape.positions = parts.positions;
  shape.tied = !parts.head->weights.empty() && parts.head->weights == parts.embedding->weights;
  take_attention(*parts.blocks.front().attention, shape);
  // The blocks must have the same attention; the feed-forward part of the first dense block stands for all.
  for (const Block& block : parts.blocks) {
    TransformerShape other = shape;
    take_attention(*block.attention, other);
    if (other != shape) return no("its attention layers are not alike");
  }
  const auto dense =
      std::ranges::find_if(parts.blocks, [](const Block& block) { return block.experts == nullptr; });
  if (dense != parts.blocks.end() && !take_feed(*dense, shape))
    return no("behind an attention stands no feed-forward part of two or three linear layers");
  if (!take_experts(parts.blocks, shape)) return no("its layers with experts follow no rule");
  if (shape.heads < 1 || shape.head_dim < 1) return no("its attention has no heads");
  return {shape, {}};
}

}  // namespace foretrain
