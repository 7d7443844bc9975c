// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1) as it is trained: keys and values
// of all heads are made from one narrow row, and queries from another.
//
// Queries: a product to `query_rank`, an RMS norm, and a product to a (d + r) columns; without a rank, one
// product. Keys and values: one product to `kv_rank` + r columns. The first `kv_rank` columns are normalised
// and become, for each head, d plain elements of a key and v of a value. The last r columns are rotated by
// position once and copied behind the plain elements of every head's key. Scores are over d + r elements, and
// the context is v wide. Backward adds the gradients of the copies, and writes both parts of a cut tensor
// into one.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/rms_norm.hpp"

namespace foretrain {
namespace {

/// Options of the layer.
struct LatentAttention {
  std::int64_t heads = 0;
  std::int64_t query_rank = 0;  ///< 0: queries come of the input by one product
  std::int64_t kv_rank = 0;
  std::int64_t plain = 0, rotary = 0, value = 0;  ///< elements of a head's query and key, and of its value
  bool causal = false, dropout = false, fused = false;
};

/// Records a projection without bias.
TensorId product_of(Tape& tape, TensorId from, std::int64_t out, std::string_view prefix) {
  return record_linear(tape, from, out, {LinearForm::Bias::none, prefix});
}

/// Records the queries: directly, or through a narrow row with a norm.
TensorId record_queries(Tape& tape, const LatentAttention& own, const AttentionSize& size, TensorId input) {
  TensorId from = input;
  if (own.query_rank > 0)
    from = record_rms_norm(tape, product_of(tape, input, own.query_rank, "query_down."), "query_norm.");
  const TensorId queries = product_of(tape, from, size.width(), own.query_rank > 0 ? "query_up." : "query.");
  return record_rotary(tape, queries, static_cast<double>(size.queries * own.heads * own.rotary));
}

/// Returns two views of one result; backward writes the gradients of both into one tensor.
std::pair<TensorId, TensorId> cut(Tape& tape, TensorId whole, std::int64_t first) {
  const Shape shape = tape.at(whole).shape;
  const std::pair<TensorId, TensorId> parts{
      tape.alias(Shape::sequence(shape.rows(), first), whole),
      tape.alias(Shape::sequence(shape.rows(), shape.width() - first), whole)};
  tape.node({backward_of(copy_of(static_cast<double>(shape.elements())))}, {whole}, parts.first);
  return parts;
}

/// Records the copy of the rotated part behind each head's plain part; backward sums it over the heads.
TensorId joined_keys(Tape& tape, const AttentionSize& size, TensorId plain, TensorId turned) {
  const Shape made = Shape::sequence(size.keys, size.width());
  const auto n = static_cast<double>(made.elements()),
             own = static_cast<double>(tape.at(plain).shape.elements()),
             shared = static_cast<double>(tape.at(turned).shape.elements());
  const TensorId keys = tape.result(made, {plain, turned}, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {}, per_sample(4 * (n + own + shared))));
  tape.node({{make_operator(OperatorClass::reduction, HostCall::add, per_sample(n - own),
                            per_sample(4 * (n - own + shared))),
              {}}},
            {plain, turned}, keys);
  return keys;
}

/// Records queries, keys and values as above.
Heads latent_heads(Tape& tape, const LatentAttention& own, const AttentionSize& size, TensorId input) {
  Heads heads;
  heads.q = record_queries(tape, own, size, input);
  // A single product makes the narrow row and the part that carries the position.
  const auto [narrow, position] =
      cut(tape, product_of(tape, input, own.kv_rank + own.rotary, "kv_down."), own.kv_rank);
  const TensorId wide = product_of(tape, record_rms_norm(tape, narrow, "kv_norm."),
                                   own.heads * (own.plain + own.value), "kv_up.");
  const TensorId turned = record_rotary(tape, position, static_cast<double>(size.keys * own.rotary));
  const auto [plain, value] = cut(tape, wide, own.heads * own.plain);
  heads.k = joined_keys(tape, size, plain, turned);
  heads.v = value;
  return heads;
}

/// True where a weight or a tensor would have more than 2^40 elements.
bool is_too_large(const LatentAttention& own, std::int64_t in, std::int64_t rows) {
  const auto head = bounded_product({own.heads, own.plain + own.rotary + own.value});
  const std::int64_t rank = std::max(own.query_rank, own.kv_rank + own.rotary);
  return !head || !bounded_product({*head, std::max({in, rows, rank})}) ||
         !bounded_product({rank, std::max(in, rows)}) || !bounded_product({own.heads, rows, rows});
}

// After the heads are made, the layer is plain attention with values of another width.
Applied apply_latent_attention(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<LatentAttention>();
  const Shape in = tape.at(input).shape;
  if (in.kind != ShapeKind::sequence)
    return misfit(fmt::format("latent_attention needs [sequence, width], not {}", to_string(in)),
                  "place an embedding before it");
  if (is_too_large(own, in.width(), in.rows()))
    return misfit("latent_attention makes a tensor of more than 2^40 elements", "use a shorter sequence");
  // A head of queries and keys has plain and rotated elements; values have a width of their own.
  const AttentionSize size{in.rows(), in.rows(), own.heads, own.plain + own.rotary, own.value};
  const Heads heads = latent_heads(tape, own, size, input);
  Attention plain{own.heads};
  plain.mask = own.causal && !own.fused, plain.causal = own.causal && own.fused, plain.dropout = own.dropout;
  const TensorId context =
      own.fused ? record_fused_attention(tape, plain, size, heads)
                : record_merged_heads(tape, size, record_eager_attention(tape, plain, size, heads));
  return {product_of(tape, context, in.width(), "output."), "", ""};
}

void check_latent_attention(const LayerCheck& check) {
  const auto& own = check.layer.get<LatentAttention>();
  check.range("heads", own.heads, 1, kLargestStep);
  check.range("query_rank", own.query_rank, 0, kWidestLayer);
  check.range("kv_rank", own.kv_rank, 1, kWidestLayer);
  check.range("plain", own.plain, 1, kWidestLayer);
  check.range("rotary", own.rotary, 1, kWidestLayer);
  check.range("value", own.value, 1, kWidestLayer);
}

}  // namespace

LayerType latent_attention_layer() {
  using L = LatentAttention;
  return {.name = "latent_attention",
          .keys = {required_key<&L::heads>("heads"), layer_key<&L::query_rank>("query_rank"),
                   required_key<&L::kv_rank>("kv_rank"), required_key<&L::plain>("plain"),
                   required_key<&L::rotary>("rotary"), required_key<&L::value>("value"),
                   layer_key<&L::causal>("causal"), layer_key<&L::dropout>("dropout"),
                   layer_key<&L::fused>("fused")},
          .apply = apply_latent_attention,
          .check = check_latent_attention,
          .widening = {.is_rigid = always_rigid}};
}

}  // namespace foretrain
