// Construction of a decoder network, layer by layer, from its sizes, as model files write it.
#include <initializer_list>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/transformer/shape.hpp"

namespace foretrain {

namespace {

/// A key of a layer's type with its value; flags take 0 and 1.
using LayerValue = std::pair<std::string_view, std::int64_t>;

/// Sets a key of a layer; keys that its type does not have are ignored.
void put(Layer& layer, const LayerValue& value) {
  for (const LayerKey& key : layer.type->keys) {
    if (key.name != value.first) continue;
    if (const auto* flag = std::get_if<LayerFlag>(&key.value)) flag->at(layer) = value.second != 0;
    if (const auto* numbers = std::get_if<LayerNumbers>(&key.value))
      put_numbers(*numbers, layer, {value.second});
  }
}

Layer made(std::string_view type, std::string name, std::initializer_list<LayerValue> values = {}) {
  Layer layer;
  layer.type = find_layer_type(type), layer.name = std::move(name);
  for (const LayerValue& value : values) put(layer, value);
  return layer;
}

/// Writes the layers of one network. Holds a reference to its shape.
class NetworkWriter {
 public:
  NetworkWriter(const TransformerShape& shape, Positions positions) : shape_(shape), positions_(positions) {}

  std::vector<Layer> layers() const {
    std::vector<Layer> out{
        made("embedding", "embed_tokens", {{"entries", shape_.vocabulary}, {"out", shape_.hidden}})};
    if (shape_.positions > 0) out.push_back(made("position", "positions", {{"entries", shape_.positions}}));
    for (int i = 0; i < shape_.layers; ++i) add_block(fmt::format("layers.{}", i), out);
    out.push_back(norm("norm"));
    out.push_back(made("linear", "lm_head", {{"out", shape_.vocabulary}, {"bias", 0}}));
    // Layers with one label share their weights.
    if (shape_.tied) out.front().weights = out.back().weights = "words";
    out.push_back(made("shift", "shift"));
    out.push_back(made("loss", "loss"));
    return out;
  }

 private:
  Layer norm(std::string name) const {
    if (shape_.gated) return made("rms_norm", std::move(name));
    return made("layer_norm", std::move(name), {{"bias", shape_.bias ? 1 : 0}});
  }

  Layer linear(std::string name, std::int64_t out) const {
    return made("linear", std::move(name), {{"out", out}, {"bias", shape_.bias ? 1 : 0}});
  }

  // Attention itself encodes positions where there is no table of them.
  Layer attention(std::string name) const {
    Layer layer = made("grouped_attention", std::move(name),
                       {{"heads", shape_.heads},
                        {"groups", shape_.kv_heads},
                        {"head_width", shape_.head_dim},
                        {"causal", shape_.causal ? 1 : 0},
                        {"norm", shape_.head_norms ? 1 : 0},
                        {"fused", 1}});
    if (shape_.positions == 0)
      put(layer,
          positions_ == Positions::alibi ? LayerValue{"alibi", 1} : LayerValue{"rotary", shape_.head_dim});
    for (const std::string_view bias : {"query_bias", "key_bias", "value_bias", "output_bias"})
      put(layer, {bias, shape_.bias ? 1 : 0});
    return layer;
  }

  Layer gate(const std::string& path) const {
    Layer product = made("multiply", path + ".gate");
    // The two branches are multiplied: the activated gate, and the other projection.
    product.branches = {{linear(path + ".gate_proj", shape_.inner), made("silu", path + ".act")},
                        {linear(path + ".up_proj", shape_.inner)}};
    return product;
  }

  /// Returns a residual connection: the branch's result is added to its input.
  static Layer added(std::string name, std::vector<Layer> branch) {
    Layer sum = made("add", std::move(name));
    sum.branches = {std::move(branch), {}};
    return sum;
  }

  /// Appends one block: attention and feed-forward part, each behind a norm and with a residual connection.
  void add_block(const std::string& path, std::vector<Layer>& out) const {
    out.push_back(added(path + ".add1", {norm(path + ".norm1"), attention(path + ".attention")}));
    std::vector<Layer> feed{norm(path + ".norm2")};
    if (shape_.gated) {
      feed.push_back(gate(path));
    } else {
      feed.push_back(linear(path + ".up", shape_.inner));
      feed.push_back(made("gelu", path + ".act"));
    }
    feed.push_back(linear(path + ".down", shape_.hidden));
    out.push_back(added(path + ".add2", std::move(feed)));
  }

  const TransformerShape& shape_;
  Positions positions_;
};

}  // namespace

std::optional<Model> network_of(const TransformerShape& shape, std::int64_t sequence, Positions positions) {
  // These layers have options that a shape does not determine.
  if (shape.experts || shape.latent) return std::nullopt;
  Model model;
  model.name = "transformer", model.input = {sequence}, model.input_is_tokens = true;
  model.layers = NetworkWriter(shape, positions).layers();
  return model;
}

}  // namespace foretrain
