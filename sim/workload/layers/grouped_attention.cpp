// Attention of decoders such as Llama and T5. Heads have a width of their own, and keys may be fewer than
// queries. Positions enter by rotation (RoPE) or by a trained bias of the scores (T5), and a memory allows
// attention across sequences.
//
// Keys and values of a group are copied for each of its queries before the products (repeat_kv); backward
// sums them. In separate operators a window is part of the mask, and slopes by distance (ALiBi) are a pass
// over the scores. The fused kernel skips the scores outside the window, and adds slopes to scores that it
// holds anyway.
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/rms_norm.hpp"

namespace foretrain {
namespace {

/// Options of the layer.
struct GroupedAttention {
  std::int64_t heads = 0;
  std::int64_t groups = 0;      ///< heads of keys and values; 0: as many as of queries
  std::int64_t head_width = 0;  ///< 0: the input's width shared out
  /// Elements of a head that positions rotate.
  std::int64_t rotary = 0;
  bool query_bias = false, key_bias = false, value_bias = false, output_bias = false;
  bool packed = false;  ///< one product for queries, keys and values
  /// A norm over each head of queries and keys.
  bool norm = false;
  /// A norm over all heads of queries together, and one over those of keys.
  bool norm_rows = false;
  bool alibi = false;     ///< a slope for each head times the distance is added to the scores
  bool relative = false;  ///< `memory` is a bias of the scores
  bool scaled = true, mask = false, causal = false, dropout = false, fused = false;
  std::int64_t window = 0;  ///< keys that a query sees, itself included; 0: all before it
};

/// Sizes with as many keys as queries have heads, and the number of heads that keys really have.
struct GroupSize {
  /// Sizes as if every query had keys of its own.
  AttentionSize all;
  std::int64_t groups = 0;
  std::int64_t group_width() const { return groups * all.head_width; }
};

/// Records the copy of `groups` heads of rows for all heads; backward sums the copies.
TensorId repeat_groups(Tape& tape, TensorId rows, const GroupSize& size) {
  if (size.groups == size.all.heads) return rows;
  const auto n = static_cast<double>(tape.at(rows).shape.elements()), all = size.all.key_elements();
  // Forward reads the shared heads and writes all of them.
  const TensorId copies = tape.result(Shape::sequence(size.all.keys, size.all.width()), {rows}, false);
  tape.forward(make_operator(OperatorClass::copy, HostCall::copy, {}, per_sample(4 * (n + all))));
  tape.node(
      {{make_operator(OperatorClass::reduction, HostCall::add, per_sample(all), per_sample(4 * (n + all))),
        {}}},
      {rows}, copies);
  return copies;
}

/// Records a norm that sees a row for each head.
TensorId norm_of_heads(Tape& tape, TensorId rows, std::int64_t head_width, std::string_view prefix) {
  const Shape shape = tape.at(rows).shape;
  const TensorId heads = tape.alias(Shape::sequence(shape.elements() / head_width, head_width), rows);
  tape.node({}, {rows}, heads);
  const TensorId normed = record_rms_norm(tape, heads, prefix);
  const TensorId joined = tape.alias(shape, normed);
  tape.node({}, {normed}, joined);
  return joined;
}

/// Records one product for queries, keys and values, of which they are views.
Heads project_packed_groups(Tape& tape, const GroupedAttention& own, TensorId input, const GroupSize& size) {
  const std::int64_t width = size.all.width() + 2 * size.group_width(), length = size.all.queries;
  const TensorId joined = record_linear(tape, input, width, {bias_of(own.query_bias), "query_key_value."});
  const auto n = static_cast<double>(length * width);
  const Shape part = Shape::sequence(length, size.group_width());
  const Heads heads{tape.alias(Shape::sequence(length, size.all.width()), joined), tape.alias(part, joined),
                    tape.alias(part, joined)};
  // Backward joins the three gradients by one copy.
  tape.node({backward_of(copy_of(n))}, {joined}, heads.q);
  return heads;
}

/// Records the projections, packed or one by one. Keys and values are as wide as their groups.
Heads project_groups(Tape& tape, const GroupedAttention& own, TensorId input, TensorId memory,
                     const GroupSize& size) {
  if (own.packed) return project_packed_groups(tape, own, input, size);
  const auto linear = [&](TensorId from, std::int64_t width, bool bias, std::string_view prefix) {
    return record_linear(tape, from, width, {bias_of(bias), prefix});
  };
  const TensorId q = linear(input, size.all.width(), own.query_bias, "query.");
  const TensorId k = linear(memory, size.group_width(), own.key_bias, "key.");
  return {q, k, linear(memory, size.group_width(), own.value_bias, "value.")};
}

/// Records everything between projections and scores: norms, positions, prefix, and copies of shared heads.
Heads placed_heads(Tape& tape, const GroupedAttention& own, GroupSize& size, Heads heads) {
  if (own.norm) {
    heads.q = norm_of_heads(tape, heads.q, size.all.head_width, "query_norm.");
    heads.k = norm_of_heads(tape, heads.k, size.all.head_width, "key_norm.");
  }
  if (own.norm_rows) {
    heads.q = record_rms_norm(tape, heads.q, "query_norm.");
    heads.k = record_rms_norm(tape, heads.k, "key_norm.");
  }
  if (own.rotary > 0) {
    heads.q =
        record_rotary(tape, heads.q, static_cast<double>(size.all.queries * size.all.heads * own.rotary));
    heads.k = record_rotary(tape, heads.k, static_cast<double>(size.all.keys * size.groups * own.rotary));
  }
  add_prefix(tape, size.all, heads);
  // FlashAttention reads shared heads itself, so nothing is copied for it.
  if (own.fused && tape.trainability().tuning().fuses(FusedKernel::flash_attention)) return heads;
  heads.k = repeat_groups(tape, heads.k, size);
  heads.v = repeat_groups(tape, heads.v, size);
  return heads;
}

/// Returns the reason why options and sizes do not fit each other; empty where they do.
std::string fault_of(const GroupedAttention& own, const GroupSize& size) {
  if (size.all.heads % size.groups != 0)
    return fmt::format("groups = {} does not divide {} heads", size.groups, size.all.heads);
  if (own.rotary > size.all.head_width)
    return fmt::format("rotary = {} of a head of {}", own.rotary, size.all.head_width);
  if (own.packed && size.all.keys != size.all.queries) return "a packed projection has no memory";
  return "";
}

/// True where a tensor would be too large. A fused kernel never has the scores of all pairs, only those of a
/// tile.
bool is_too_large(const GroupSize& size, std::int64_t in, std::int64_t memory, bool is_fused) {
  const std::int64_t longest = std::max(size.all.queries, size.all.keys);
  const auto width = bounded_product({size.all.heads, size.all.head_width});
  return !width || !bounded_product({3, *width, std::max(in, memory)}) ||
         !bounded_product({3, *width, longest}) ||
         !bounded_product({size.all.heads, size.all.queries, is_fused ? 1 : size.all.keys});
}

/// Returns the options as those of plain attention. In separate operators the causal mask is added to the
/// scores; only the fused kernel skips them.
Attention plain_attention(const GroupedAttention& own) {
  Attention plain{own.heads};
  plain.scaled = own.scaled, plain.mask = own.mask || (own.causal && !own.fused);
  plain.causal = own.causal && own.fused, plain.dropout = own.dropout;
  plain.alibi = own.alibi, plain.window = own.window;
  return plain;
}

// The order of a decoder: projections, norms and positions of queries and keys, attention, output.
Applied apply_grouped_attention(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<GroupedAttention>();
  const TensorId named = layer.with.empty() ? input : tape.named(layer.with[0])->back();
  // `memory` names either a bias of the scores or the sequence of keys and values.
  const TensorId memory = own.relative ? input : named;
  const Shape in = tape.at(input).shape, other = tape.at(memory).shape;
  if (in.kind != ShapeKind::sequence || other.kind != ShapeKind::sequence)
    return misfit(fmt::format("grouped_attention needs [sequence, width], not {}",
                              to_string(in.kind != ShapeKind::sequence ? in : other)),
                  "place an embedding before it");
  if (own.head_width == 0 && in.width() % own.heads != 0)
    return misfit(fmt::format("{} heads do not divide the width {}", own.heads, in.width()),
                  "use a divisor of the width, or give head_width");
  GroupSize size{
      {in.rows(), other.rows(), own.heads, own.head_width > 0 ? own.head_width : in.width() / own.heads},
      own.groups > 0 ? own.groups : own.heads};
  if (std::string fault = fault_of(own, size); !fault.empty())
    return misfit(std::move(fault), "groups share heads evenly; rotary is at most a head's width");
  if (is_too_large(size, in.width(), other.width(), own.fused))
    return misfit("grouped_attention makes a tensor of more than 2^40 elements", "use a shorter sequence");
  if (own.relative && (layer.with.empty() || tape.at(named).shape != size.all.score_shape()))
    return misfit("relative asks for `memory` = the result of a relative_bias of as many heads and rows",
                  "place a relative_bias before it, and name its result with `as`");
  Heads heads = placed_heads(tape, own, size, project_groups(tape, own, input, memory, size));
  // The bias is added to the scores of separate operators; check_grouped_attention() excludes the fused
  // kernel.
  if (own.relative) heads.bias = named;
  const Attention plain = plain_attention(own);
  const TensorId context =
      own.fused ? record_fused_attention(tape, plain, size.all, heads)
                : record_merged_heads(tape, size.all, record_eager_attention(tape, plain, size.all, heads));
  return {record_linear(tape, context, in.width(), {bias_of(own.output_bias), "output."}), "", ""};
}

// Options that exclude each other are reported before any shape is known.
void check_grouped_attention(const LayerCheck& check) {
  const auto& own = check.layer.get<GroupedAttention>();
  check.range("heads", own.heads, 1, kLargestStep);
  check.range("groups", own.groups, 0, kLargestStep);
  check.range("head_width", own.head_width, 0, kWidestLayer);
  check.range("rotary", own.rotary, 0, kWidestLayer);
  check.range("window", own.window, 0, kWidestLayer);
  if (own.norm && own.norm_rows)
    check.faults.push_back({check.layer.span, "grouped_attention: norm and norm_rows are one or the other",
                            "norm is of each head, norm_rows of all together"});
  if (own.window > 0 && !own.causal)
    check.faults.push_back({check.layer.span, "grouped_attention: a window asks for causal",
                            "write causal = true, or leave window out"});
  if (own.relative && own.fused)
    check.faults.push_back({check.layer.span, "grouped_attention: the fused kernel takes no relative bias",
                            "leave `fused` out"});
}

std::int64_t heads_of_groups(const Layer& layer) { return layer.get<GroupedAttention>().heads; }

}  // namespace

LayerType grouped_attention_layer() {
  using G = GroupedAttention;
  return {
      .name = "grouped_attention",
      .keys = {required_key<&G::heads>("heads"), layer_key<&G::groups>("groups"),
               layer_key<&G::head_width>("head_width"), layer_key<&G::rotary>("rotary", {0}),
               layer_key<&G::query_bias>("query_bias"), layer_key<&G::key_bias>("key_bias"),
               layer_key<&G::value_bias>("value_bias"), layer_key<&G::output_bias>("output_bias"),
               layer_key<&G::packed>("packed"), layer_key<&G::norm>("norm"),
               layer_key<&G::norm_rows>("norm_rows"), layer_key<&G::alibi>("alibi"),
               layer_key<&G::window>("window", {0}), layer_key<&G::relative>("relative"),
               layer_key<&G::scaled>("scaled"), layer_key<&G::mask>("mask"), layer_key<&G::causal>("causal"),
               layer_key<&G::dropout>("dropout"), layer_key<&G::fused>("fused")},
      .apply = apply_grouped_attention,
      .check = check_grouped_attention,
      .has_memory = true,
      .widening = {.divisor = heads_of_groups}};
}

}  // namespace foretrain
