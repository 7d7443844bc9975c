// Attention without projections, over three results: softmax(q k^T) v, as a script calls
// scaled_dot_product_attention. Rotary positions as a layer of their own stand here too.
//
// They serve networks that project separately or join several streams before the products: MMDiT, Flux,
// SegFormer, SAM.
#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Options of dot_product_attention.
struct DotProductAttention {
  std::int64_t heads = 0;
  bool scaled = true, mask = false, causal = false, dropout = false, fused = true;
};

// The three results may have different origins; their rows and widths must fit.
Applied join_dot_product(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs) {
  const auto& own = layer.get<DotProductAttention>();
  if (inputs.size() != 3)
    return misfit(
        fmt::format("dot_product_attention takes queries, keys and values, not {} results", inputs.size()),
        "name three results, as `from = [\"q\", \"k\", \"v\"]`");
  const Shape q = tape.at(inputs[0]).shape, k = tape.at(inputs[1]).shape, v = tape.at(inputs[2]).shape;
  const auto is_rows = [](const Shape& shape) { return shape.kind == ShapeKind::sequence; };
  if (!is_rows(q) || !is_rows(k) || !is_rows(v) || q.width() != k.width() || k.rows() != v.rows())
    return misfit(fmt::format("dot_product_attention cannot join {}, {} and {}", to_string(q), to_string(k),
                              to_string(v)),
                  "queries and keys have one width, keys and values as many rows");
  if (q.width() % own.heads != 0 || v.width() % own.heads != 0)
    return misfit(fmt::format("{} heads do not divide the widths {} and {}", own.heads, q.width(), v.width()),
                  "use a divisor of both");
  if (!bounded_product({own.heads, q.rows(), k.rows()}))
    return misfit("dot_product_attention makes a tensor of more than 2^40 elements", "use fewer rows");
  const AttentionSize size{q.rows(), k.rows(), own.heads, q.width() / own.heads, v.width() / own.heads};
  // A causal mask in separate operators is added like any other; only the fused kernel skips scores.
  Attention plain{own.heads};
  plain.scaled = own.scaled, plain.dropout = own.dropout;
  plain.mask = own.mask || (own.causal && !own.fused), plain.causal = own.causal && own.fused;
  const Heads heads{inputs[0], inputs[1], inputs[2]};
  const TensorId context =
      own.fused ? record_fused_attention(tape, plain, size, heads)
                : record_merged_heads(tape, size, record_eager_attention(tape, plain, size, heads));
  return {context, "", ""};
}

void check_dot_product(const LayerCheck& check) {
  check.range("heads", check.layer.get<DotProductAttention>().heads, 1, kLargestStep);
  check.joins_several();
}

std::int64_t heads_of_dot_product(const Layer& layer) { return layer.get<DotProductAttention>().heads; }

// This layer rotates all elements of its rows.
Applied apply_rotary(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("rotary needs [sequence, width], not {}", to_string(in)),
                  "place it behind the projection of queries or keys");
  return {record_rotary(tape, input, static_cast<double>(in.elements())), "", ""};
}

}  // namespace

LayerType dot_product_attention_layer() {
  using D = DotProductAttention;
  return {.name = "dot_product_attention",
          .keys = {required_key<&D::heads>("heads"), layer_key<&D::scaled>("scaled"),
                   layer_key<&D::mask>("mask"), layer_key<&D::causal>("causal"),
                   layer_key<&D::dropout>("dropout"), layer_key<&D::fused>("fused")},
          .join = join_dot_product,
          .check = check_dot_product,
          .widening = {.divisor = heads_of_dot_product}};
}

LayerType rotary_layer() { return {.name = "rotary", .apply = apply_rotary}; }

}  // namespace foretrain
