// Multi-head attention as eager frameworks run it: projections, two batched products around a softmax, and
// one projection.
//
// Products work on head-major copies of their operands. The way in which the projections are written
// (Projection) decides which copies there are, and whether the bias or the scaling is an operator of its own.
// Each form follows the operator list of a traced network: BERT, GPT-2, ViT (docs/models/kernels.md).
#include "sim/workload/layers/attention.hpp"

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"

namespace foretrain {
namespace {

/// The tensors that queries and keys come from; they differ in attention across sequences.
struct AttentionInput {
  TensorId queries = 0, memory = 0;  ///< the same tensor in self-attention
  bool is_cross() const { return queries != memory; }
};

/// Records a projection whose rows are then seen head by head; backward makes them contiguous again.
TensorId project(Tape& tape, const Attention& own, TensorId input, std::int64_t width,
                 std::string_view prefix) {
  const TensorId rows = record_linear(tape, input, width, {bias_of(own.bias && own.qkv_bias), prefix});
  const TensorId heads = tape.alias(tape.at(rows).shape, rows);
  tape.node({backward_of(copy_of(static_cast<double>(tape.at(rows).shape.elements())))}, {rows}, heads);
  return heads;
}

/// Records three products, for queries, keys and values.
Heads project_separately(Tape& tape, const Attention& own, const AttentionInput& input,
                         const AttentionSize& size) {
  const TensorId q = project(tape, own, input.queries, size.width(), "query.");
  const TensorId k = project(tape, own, input.memory, size.width(), "key.");
  return {q, k, project(tape, own, input.memory, size.width(), "value.")};
}

/// Records one product that makes `parts` tensors. Backward copies one part fewer than there are into place,
/// then joins all.
std::vector<TensorId> project_packed(Tape& tape, const Attention& own, TensorId input,
                                     const AttentionSize& size, int parts) {
  const bool is_module = own.projection == Projection::module;
  const Shape rows = tape.at(input).shape;
  const auto n = static_cast<double>(rows.rows() * size.width());
  // torch's module works on [length, batch, width]: the input is copied into that order first.
  if (is_module) {
    const TensorId copied = tape.result(rows, {input}, false);
    tape.forward(copy_of(static_cast<double>(rows.elements())));
    tape.node({}, {input}, copied);
    input = copied;
  }
  const auto bias = !own.bias || !own.qkv_bias ? LinearForm::Bias::none
                    : is_module                ? LinearForm::Bias::apart
                                               : LinearForm::Bias::fused;
  const TensorId joined = record_linear(tape, input, parts * size.width(), {bias, "in_proj.", !is_module});
  std::vector<TensorId> split;
  for (int part = 0; part < parts; ++part)
    split.push_back(tape.alias(Shape::sequence(rows.rows(), size.width()), joined));
  std::vector<BackwardStep> steps;
  if (parts > 1 && !own.fused) steps.push_back(backward_of(copy_of((parts - 1) * n, parts - 1)));
  if (parts > 1) steps.push_back(backward_of(copy_of(parts * n)));
  tape.node(std::move(steps), {joined}, split[0]);
  if (is_module && !own.fused) tape.forward(copy_of(parts * n, parts));
  return split;
}

/// Records the projections. Attention across sequences packs keys and values apart from the queries.
Heads project_heads(Tape& tape, const Attention& own, const AttentionInput& input,
                    const AttentionSize& size) {
  if (own.projection == Projection::separate) return project_separately(tape, own, input, size);
  if (!input.is_cross()) {
    const std::vector<TensorId> all = project_packed(tape, own, input.queries, size, 3);
    return {all[0], all[1], all[2]};
  }
  const TensorId q = project_packed(tape, own, input.queries, size, 1)[0];
  const std::vector<TensorId> memory = project_packed(tape, own, input.memory, size, 2);
  return {q, memory[0], memory[1]};
}

/// Records the return from heads to rows: a copy forward and, except in torch's module, one backward.
TensorId merge_heads(Tape& tape, const Attention& own, const AttentionSize& size, TensorId context) {
  const TensorId merged = tape.result(Shape::sequence(size.queries, size.width()), {context}, false);
  tape.forward(copy_of(size.query_elements()));
  std::vector<BackwardStep> steps;
  if (own.projection != Projection::module) steps.push_back(backward_of(copy_of(size.query_elements())));
  tape.node(std::move(steps), {context}, merged);
  return merged;
}

/// Records the transposition of the result in torch's module, which works on [length, batch, width]. It is a
/// view forward and a copy backward.
TensorId transposed(Tape& tape, TensorId rows) {
  const Shape shape = tape.at(rows).shape;
  const TensorId view = tape.alias(shape, rows);
  tape.node({backward_of(copy_of(static_cast<double>(shape.elements())))}, {rows}, view);
  return view;
}

// Keys and values come from `memory` where one is named, otherwise from the input. The result has the input's
// width.
Applied apply_attention(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Attention>();
  const TensorId memory = layer.with.empty() ? input : tape.named(layer.with[0])->back();
  const Shape in = tape.at(input).shape, other = tape.at(memory).shape;
  if (in.kind != ShapeKind::sequence || other.kind != ShapeKind::sequence) {
    return misfit(fmt::format("attention needs [sequence, width], not {}",
                              to_string(in.kind != ShapeKind::sequence ? in : other)),
                  "place an embedding before it");
  }
  const std::int64_t width = own.width > 0 ? own.width : in.width();
  if (width % own.heads != 0)
    return misfit(fmt::format("{} heads do not divide the width {}", own.heads, width),
                  "use a divisor of the width");
  AttentionSize size{in.rows(), other.rows(), own.heads, width / own.heads};
  if (!bounded_product({3, in.width(), width}) || !bounded_product({3, other.width(), width}) ||
      !bounded_product({own.heads, in.rows(), other.rows()}) ||
      !bounded_product({3, width, std::max(in.rows(), other.rows())})) {
    return misfit("attention makes a tensor of more than 2^40 elements",
                  "use a shorter sequence or a smaller width");
  }
  Heads heads = project_heads(tape, own, {input, memory}, size);
  // Prefix tuning enlarges `size`, so everything after it sees the additional keys.
  add_prefix(tape, size, heads);
  const TensorId context = own.fused
                               ? record_fused_attention(tape, own, size, heads)
                               : merge_heads(tape, own, size, record_eager_attention(tape, own, size, heads));
  const TensorId output = record_linear(tape, context, in.width(), {bias_of(own.bias), "output."});
  return {own.projection == Projection::module ? transposed(tape, output) : output, "", ""};
}

void check_attention(const LayerCheck& check) {
  const auto& own = check.layer.get<Attention>();
  check.range("heads", own.heads, 1, kLargestStep);
  check.range("width", own.width, 0, kWidestLayer);
}

std::int64_t heads_of_attention(const Layer& layer) { return layer.get<Attention>().heads; }

void widen_attention(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<Attention>();
  if (own.width > 0) own.width = wider(own.width);
}

}  // namespace

// The number of heads stays in a wider network, and widths stay multiples of it.
LayerType attention_layer() {
  using A = Attention;
  return {.name = "attention",
          .keys = {required_key<&A::heads>("heads"), layer_key<&A::width>("width"),
                   layer_key<&A::bias>("bias"), layer_key<&A::mask>("mask"), layer_key<&A::causal>("causal"),
                   layer_key<&A::dropout>("dropout"), layer_key<&A::qkv_bias>("qkv_bias"),
                   layer_key<&A::scaled>("scaled"), layer_key<&A::fused>("fused"),
                   word_key<&A::projection>("projection", {"separate", "packed", "module"})},
          .apply = apply_attention,
          .check = check_attention,
          .has_memory = true,
          .widening = {.divisor = heads_of_attention, .widen = widen_attention}};
}

}  // namespace foretrain
