// Attention within square windows of an image's tokens, with a trained bias for each relative position, as
// Swin runs it.
//
// Tokens are an image of equal sides. Backward, each of the three selections from the joined projection is
// written into zeros of its whole size, and these are added up: that is how the framework reverses indexing.
// A shift of half a window rolls the image, and masks the scores of tokens that were not neighbours. Where
// one window covers the image there is nothing to shift or cut.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

/// Options of the layer.
struct WindowAttention {
  std::int64_t heads = 0, window = 0, shift = 0;  ///< of an image's tokens
  bool bias = true;
};

/// Sizes of the image of tokens, in tokens.
struct WindowWork {
  std::int64_t side = 0, window = 0, shift = 0;
  /// Elements of all tokens.
  double elements = 0;
  std::int64_t windows() const { return (side / window) * (side / window); }
  std::int64_t length() const { return window * window; }
  bool is_cut() const { return windows() > 1; }
};

/// Records an operator that moves a tensor to a new storage, with its backward steps.
TensorId record_move(Tape& tape, TensorId input, const Operator& move, std::vector<BackwardStep> steps) {
  const TensorId moved = tape.result(tape.at(input).shape, {input}, false);
  tape.forward(move);
  tape.node(std::move(steps), {input}, moved);
  return moved;
}

/// Returns a roll of the image or its padding: one copy of all tokens.
Operator roll_or_pad(const WindowWork& work) {
  return make_operator(OperatorClass::copy, HostCall::copy, per_sample(work.elements),
                       per_sample(8 * work.elements));
}

/// Records the cut into windows: padding to whole windows (a copy even where nothing is missing), the shift,
/// and windows made contiguous.
TensorId cut_windows(Tape& tape, TensorId input, const WindowWork& work) {
  TensorId tokens = record_move(tape, input, roll_or_pad(work), {backward_of(roll_or_pad(work))});
  if (work.shift > 0) tokens = record_move(tape, tokens, roll_or_pad(work), {backward_of(roll_or_pad(work))});
  if (work.is_cut())
    tokens = record_move(tape, tokens, copy_of(work.elements), {backward_of(copy_of(work.elements))});
  return tokens;
}

/// Records the way back from windows to the image.
TensorId join_windows(Tape& tape, TensorId tokens, const WindowWork& work) {
  if (work.is_cut())
    tokens = record_move(tape, tokens, copy_of(work.elements), {backward_of(copy_of(work.elements))});
  if (work.shift > 0) tokens = record_move(tape, tokens, roll_or_pad(work), {backward_of(roll_or_pad(work))});
  // A pair of slices cuts the padding off again.
  const Shape shape = tape.at(tokens).shape;
  const TensorId cut = tape.alias(shape, tokens);
  tape.node({backward_of(roll_or_pad(work)), backward_of(roll_or_pad(work))}, {tokens}, cut);
  return cut;
}

/// Records the lookup of one row of the table for each pair of positions in a window.
TensorId record_position_bias(Tape& tape, const WindowAttention& own, const WindowWork& work) {
  // The table has an entry for each relative position and head.
  const std::int64_t entries = (2 * work.window - 1) * (2 * work.window - 1) * own.heads;
  const auto table = static_cast<double>(entries),
             pairs = static_cast<double>(work.length() * work.length() * own.heads);
  const std::uint32_t weight = tape.parameter("relative_position_bias_table", entries);
  const TensorId bias = tape.result(Shape::sequence(own.heads * work.length(), work.length()), {}, true);
  tape.forward(make_operator(OperatorClass::embedding, HostCall::embedding, {pairs, 0}, {16 * pairs, 0}, 2));
  tape.node({{make_operator(OperatorClass::embedding, HostCall::embedding, {table, 0},
                            {4 * table + 8 * pairs, 0}, 2),
              {weight}}},
            {}, bias);
  return bias;
}

/// Records one product for queries, keys and values of all windows.
Heads project_windows(Tape& tape, const WindowAttention& own, TensorId tokens, const AttentionSize& size,
                      double elements) {
  const TensorId joined = record_linear(tape, tokens, 3 * size.width(), {bias_of(own.bias), "qkv."});
  const Shape rows = tape.at(tokens).shape;
  const Heads heads{tape.alias(rows, joined), tape.alias(rows, joined), tape.alias(rows, joined)};
  const Operator into_zeros = make_operator(OperatorClass::copy, HostCall::copy, per_sample(3 * elements),
                                            per_sample(16 * elements), 2);
  const Operator sum = make_operator(OperatorClass::elementwise, HostCall::add, per_sample(3 * elements),
                                     per_sample(36 * elements));
  std::vector<BackwardStep> steps;
  for (int part = 0; part < 3; ++part) {
    steps.push_back(backward_of(into_zeros));
    if (part > 0) steps.push_back(backward_of(sum));
  }
  steps.push_back(backward_of(copy_of(3 * elements)));
  tape.node(std::move(steps), {joined}, heads.q);
  return heads;
}

Operator window_pass(double elements, HostCall call) { return pass_over(elements, call); }

/// Records the scores of all windows: the scaled product, the position bias and, where windows are shifted,
/// the mask.
TensorId record_window_scores(Tape& tape, const Heads& heads, const AttentionSize& size,
                              const WindowWork& work, TensorId bias) {
  const TensorId scaled = record_move(tape, heads.q, window_pass(work.elements, HostCall::activation),
                                      {backward_of(window_pass(work.elements, HostCall::activation))});
  // Queries and keys are copied head by head for the product.
  tape.forward(copy_of(2 * work.elements, 2));
  const TensorId products = tape.result(size.score_shape(), {scaled, heads.k}, false);
  tape.forward(batched_products(size, {size.makes_scores()}));
  tape.save(per_sample(8 * work.elements));
  tape.node({backward_of(batched_products(size, {size.makes_key_rows(), size.makes_query_rows()}))},
            {scaled, heads.k}, products);

  const TensorId scores = tape.result(size.score_shape(), {products, bias}, false);
  tape.forward(window_pass(size.scores(), HostCall::add));
  const Operator sum = make_operator(OperatorClass::reduction, HostCall::add, per_sample(size.scores()),
                                     per_sample(4 * size.scores()));
  tape.node({backward_of(sum)}, {products, bias}, scores);
  return work.shift > 0 ? record_move(tape, scores, window_pass(size.scores(), HostCall::add), {}) : scores;
}

/// Records the weighted sum of the values, and the return from heads to rows.
TensorId record_window_context(Tape& tape, TensorId weights, TensorId v, const AttentionSize& size,
                               const WindowWork& work) {
  tape.forward(copy_of(work.elements));
  const TensorId context = tape.result(tape.at(v).shape, {weights, v}, false);
  tape.forward(batched_products(size, {size.makes_query_rows()}));
  tape.save(weights);
  tape.save(per_sample(4 * work.elements));
  tape.node({backward_of(batched_products(size, {size.makes_key_rows(), size.makes_scores()}))}, {weights, v},
            context);
  return record_move(tape, context, copy_of(work.elements), {backward_of(copy_of(work.elements))});
}

// The order of Swin: position bias, windows, projections, scores, context, output, and the image again.
Applied apply_window_attention(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<WindowAttention>();
  const Shape in = tape.at(input).shape;
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(in.rows()))));
  const std::int64_t window = std::min(own.window, side);
  if (in.kind != ShapeKind::sequence || side * side != in.rows())
    return misfit(fmt::format("window_attention needs the tokens of a square image, not {}", to_string(in)),
                  "place it after to_sequence");
  if (side % window != 0)
    return misfit(fmt::format("windows of {} do not divide the side {}", window, side),
                  "use a divisor of the side");
  if (in.width() % own.heads != 0)
    return misfit(fmt::format("{} heads do not divide the width {}", own.heads, in.width()),
                  "use a divisor of the width");
  // A single window covers the image: it is neither shifted nor cut.
  const WindowWork work{side, window, window < side ? own.shift : 0, static_cast<double>(in.elements())};
  // Windows count as heads: each has its own products.
  const AttentionSize size{work.length(), work.length(), own.heads * work.windows(), in.width() / own.heads};
  if (!bounded_product({3, in.width(), in.width()}) || !bounded_product({3, in.rows(), in.width()}) ||
      !bounded_product({size.heads, size.queries, size.keys}))
    return misfit("window_attention makes a tensor of more than 2^40 elements", "use smaller windows");
  const TensorId bias = record_position_bias(tape, own, work);
  const TensorId tokens = cut_windows(tape, input, work);
  const Heads heads = project_windows(
      tape, own, tokens, AttentionSize{in.rows(), in.rows(), own.heads, size.head_width}, work.elements);
  const TensorId weights = record_softmax(tape, record_window_scores(tape, heads, size, work, bias));
  const TensorId context = record_window_context(tape, weights, heads.v, size, work);
  const TensorId projected = record_linear(tape, context, in.width(), {bias_of(own.bias), "proj."});
  return {join_windows(tape, projected, work), "", ""};
}

// Four neighbours become one token of four times the width. Forward has padding, four strided views and one
// join.
Applied apply_patch_merging(Tape& tape, const Layer&, TensorId input) {
  const Shape in = tape.at(input).shape;
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(in.rows()))));
  if (in.kind != ShapeKind::sequence || side * side != in.rows() || side % 2 != 0) {
    return misfit(
        fmt::format("patch_merging needs the tokens of a square image of even sides, not {}", to_string(in)),
        "place it after to_sequence");
  }
  const auto n = static_cast<double>(in.elements());
  const Operator pad = make_operator(OperatorClass::copy, HostCall::copy, per_sample(n), per_sample(8 * n));
  const Operator sum =
      make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(12 * n));
  std::vector<BackwardStep> steps;
  // Every view is undone by three indexing steps, and the gradients of the four views are added up.
  for (int part = 0; part < 4; ++part) {
    for (const double whole : {n / 4, n / 2, n})
      steps.push_back({make_operator(OperatorClass::copy, HostCall::copy, per_sample(whole),
                                     per_sample(4 * whole + 8 * std::min(whole, n / 2)), 2),
                       {}});
    if (part > 0) steps.push_back(backward_of(sum));
  }
  steps.push_back(backward_of(pad));
  const TensorId result = tape.result(Shape::sequence(in.rows() / 4, 4 * in.width()), {input}, false);
  tape.forward(pad);
  tape.forward(make_operator(OperatorClass::copy, HostCall::concat, {}, per_sample(8 * n)));
  tape.node(std::move(steps), {input}, result);
  return {result, "", ""};
}

void check_window_attention(const LayerCheck& check) {
  const auto& own = check.layer.get<WindowAttention>();
  check.range("heads", own.heads, 1, kWidestLayer);
  check.range("window", own.window, 1, kLargestStep);
  check.range("shift", own.shift, 0, own.window);
}

std::int64_t heads_of_window(const Layer& layer) { return layer.get<WindowAttention>().heads; }

}  // namespace

LayerType window_attention_layer() {
  using W = WindowAttention;
  return {.name = "window_attention",
          .keys = {required_key<&W::heads>("heads"), required_key<&W::window>("window"),
                   layer_key<&W::shift>("shift", {.least = 0}), layer_key<&W::bias>("bias")},
          .apply = apply_window_attention,
          .check = check_window_attention,
          .widening = {.divisor = heads_of_window}};
}

LayerType patch_merging_layer() { return {.name = "patch_merging", .apply = apply_patch_merging}; }

}  // namespace foretrain
