// Translates convolutions, matrix products and recurrent layers. The weight's dimensions give what the
// attributes leave out.
//
// Each function computes the shape of the result by ONNX's rules, checks it, and adds the layer that has this
// shape. Layers of foretrain pad both ends equally. A padding that differs is replaced by an equal one with
// the same result, or the node is refused.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/import/models/onnx_translation.hpp"

namespace foretrain {

namespace {

/// Largest kernel, stride, padding, dilation or number of groups; keeps products in 64 bits.
constexpr std::int64_t kLargestOnnxStep = 1'000'000;

/// The numbers of a convolution, one for each side. `begin` and `end` are the paddings of both ends;
/// `is_same` means that the padding follows from the size (auto_pad).
struct ConvolutionForm {
  std::vector<std::int64_t> kernel, stride, dilation, begin, end;
  std::int64_t group = 1;
  bool is_same = false;
};

/// Returns the numbers with one for each side; missing ones become `otherwise`.
std::vector<std::int64_t> of_sides(std::vector<std::int64_t> given, std::size_t sides,
                                   std::int64_t otherwise) {
  given.resize(sides, otherwise);
  return given;
}

/// Returns whether all numbers lie between `least` and kLargestOnnxStep.
bool is_in_range(const std::vector<std::int64_t>& numbers, std::int64_t least) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [least](std::int64_t number) { return number >= least && number <= kLargestOnnxStep; });
}

/// Reads the numbers of a convolution. Returns false, with a report, when any is out of range.
bool read_form(OnnxTranslation& to, const OnnxNode& node, const OnnxDims& weight, ConvolutionForm& form) {
  const std::size_t sides = weight.size() - 2;
  form.kernel = node.numbers("kernel_shape");
  if (form.kernel.size() != sides) form.kernel.assign(weight.begin() + 2, weight.end());
  form.stride = of_sides(node.numbers("strides"), sides, 1);
  form.dilation = of_sides(node.numbers("dilations"), sides, 1);
  std::vector<std::int64_t> pads = of_sides(node.numbers("pads"), 2 * sides, 0);
  form.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(sides));
  form.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(sides), pads.end());
  form.group = node.number("group", 1);
  const OnnxAttribute* automatic = node.find("auto_pad");
  form.is_same = automatic != nullptr && automatic->text.starts_with("SAME");
  if (is_in_range(form.kernel, 1) && is_in_range(form.stride, 1) && is_in_range(form.dilation, 1) &&
      is_in_range(pads, 0) && form.group >= 1 && is_in_range({form.group}, 1))
    return true;
  to.refuse(node, "kernel, strides, pads, dilations or group are out of range");
  return false;
}

/// Returns the windows along one side; 0 where the kernel does not fit. `padding` is that of both ends
/// together.
std::int64_t side_after(std::int64_t in, std::int64_t padding, std::int64_t kernel, std::int64_t stride,
                        std::int64_t dilation) {
  const std::int64_t room = in + padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

/// Returns a key such as ", stride = 2"; empty where the value is the layer's default.
std::string key_text(const char* key, const std::vector<std::int64_t>& numbers, std::int64_t otherwise) {
  const bool alike = std::equal(numbers.begin() + 1, numbers.end(), numbers.begin());
  if (alike && numbers[0] == otherwise) return "";
  return fmt::format(", {} = {}", key, alike ? std::to_string(numbers[0]) : list_text(numbers));
}

/// Returns the key for a padding that is equal on both ends and gives the same size, "same" where that does,
/// nothing where neither does.
std::optional<std::string> padding_of(const ConvolutionForm& form, const OnnxDims& in, const OnnxDims& out) {
  std::vector<std::int64_t> padding;
  bool is_same = true, fits = !form.is_same;
  for (std::size_t side = 0; side < form.kernel.size(); ++side) {
    const std::int64_t size = in[side + 2], made = out[side + 2];
    is_same = is_same && made == (size + form.stride[side] - 1) / form.stride[side];
    // Candidates: the mean of both paddings, then each of them.
    std::int64_t found = -1;
    for (const std::int64_t pad :
         {(form.begin[side] + form.end[side] + 1) / 2, form.begin[side], form.end[side]}) {
      if (found < 0 &&
          side_after(size, 2 * pad, form.kernel[side], form.stride[side], form.dilation[side]) == made)
        found = pad;
    }
    fits = fits && found >= 0;
    padding.push_back(found);
  }
  if (fits) return key_text("padding", padding, 0);
  if (is_same) return ", padding = \"same\"";
  return std::nullopt;
}

/// Gives a signal a second side: it is an image of height 1.
NetworkSketch::Sizes image_sizes(const NetworkSketch::Sizes& sizes) {
  return sizes.size() == 2 ? NetworkSketch::Sizes{sizes[0], 1, sizes[1]} : sizes;
}

/// Returns the type of layer for a number of sides.
const char* convolution_type(std::size_t sides) {
  return sides == 1 ? "conv1d" : (sides == 2 ? "conv2d" : "conv3d");
}

/// Returns the text of a convolution layer; keys with default values are not written.
std::string convolution_body(const char* type, std::int64_t out, const ConvolutionForm& form,
                             const std::string& padding, bool bias) {
  return fmt::format("type = \"{}\", out = {}{}{}{}{}{}{}", type, out, key_text("kernel", form.kernel, 0),
                     key_text("stride", form.stride, 1), padding, key_text("dilation", form.dilation, 1),
                     key_text("groups", {form.group}, 1), bias ? "" : ", bias = false");
}

/// Returns whether the second input is a weight of a fitting rank and the first one a flow. Reports the node
/// where not: without a weight the sizes of the layer are unknown.
bool has_weight(OnnxTranslation& to, const OnnxNode& node, std::size_t least, std::size_t most) {
  const OnnxValue& weight = to.in(node, 1);
  const OnnxValue& input = to.in(node, 0);
  const bool known = weight.kind == OnnxValue::Kind::weight && input.is_flow() &&
                     weight.dims.size() >= least && weight.dims.size() <= most && weight.elements() >= 1 &&
                     weight.elements() < 1e12;
  if (!known)
    to.refuse(node, fmt::format("its weight {} must be an initializer of {} to {} dimensions",
                                list_text(weight.dims), least, most));
  return known;
}

}  // namespace

/// The result's side follows from the padding of the node, and the layer's padding from the result.
void onnx_convolution(OnnxTranslation& to, const OnnxNode& node) {
  if (!has_weight(to, node, 3, 5)) return;
  const OnnxValue input = to.in(node, 0), weight = to.in(node, 1);
  ConvolutionForm form;
  if (input.dims.size() != weight.dims.size())
    return to.refuse(node, fmt::format("its input {} and weight {} do not go together", list_text(input.dims),
                                       list_text(weight.dims)));
  if (!read_form(to, node, weight.dims, form)) return;
  // Batch, channels, then each side.
  OnnxDims made{input.dims[0], weight.dims[0]};
  for (std::size_t side = 0; side < form.kernel.size(); ++side) {
    const std::int64_t in = input.dims[side + 2], stride = form.stride[side];
    made.push_back(form.is_same ? (in + stride - 1) / stride
                                : side_after(in, form.begin[side] + form.end[side], form.kernel[side], stride,
                                             form.dilation[side]));
  }
  if (made[1] < 1 || elements_of_dims(made) < 1) return to.refuse(node, "its kernel does not fit its input");
  // The check by groups catches weights that belong to another layer.
  if (weight.dims[1] * form.group != input.dims[1])
    return to.refuse(node, fmt::format("{} channels meet a weight of {} in {} groups", input.dims[1],
                                       weight.dims[1], form.group));
  const std::optional<std::string> padding = padding_of(form, input.dims, made);
  if (!padding) return to.refuse(node, "its paddings differ in a way that no padding of ours gives");
  // Layers work on one sample, and on at least two sides.
  const NetworkSketch::Sizes sizes = image_sizes(to.sample(made));
  to.put(node,
         to.sketch().add(convolution_body(convolution_type(form.kernel.size()), weight.dims[0], form,
                                          *padding, to.has(node, 2)) +
                             to.shared(weight),
                         {to.as(input, image_sizes(to.sample(input.dims)))}, sizes),
         made);
}

/// Paddings must be equal on both ends: the layer has one number for each side.
void onnx_transposed(OnnxTranslation& to, const OnnxNode& node) {
  if (!has_weight(to, node, 4, 5)) return;
  const OnnxValue input = to.in(node, 0), weight = to.in(node, 1);
  ConvolutionForm form;
  if (input.dims.size() != weight.dims.size())
    return to.refuse(node, "its input and weight do not go together");
  if (!read_form(to, node, weight.dims, form)) return;
  // The result of a transposed convolution is the size whose convolution gives the input, plus
  // output_padding.
  const std::vector<std::int64_t> more = of_sides(node.numbers("output_padding"), form.kernel.size(), 0);
  OnnxDims made{input.dims[0], weight.dims[1] * form.group};
  for (std::size_t side = 0; side < form.kernel.size(); ++side)
    made.push_back(form.is_same
                       ? input.dims[side + 2] * form.stride[side]
                       : (input.dims[side + 2] - 1) * form.stride[side] - form.begin[side] - form.end[side] +
                             form.dilation[side] * (form.kernel[side] - 1) + more[side] + 1);
  if (elements_of_dims(made) < 1) return to.refuse(node, "its kernel does not fit its input");
  const std::string padding = form.is_same ? ", padding = \"same\"" : key_text("padding", form.begin, 0);
  if (!form.is_same && form.begin != form.end) return to.refuse(node, "its paddings differ from end to end");
  std::string body = convolution_body("conv_transpose", made[1], form, padding, to.has(node, 2));
  body += key_text("output_padding", more, 0);
  const NetworkSketch::Sizes sizes = to.sample(made);
  to.put(node, to.sketch().add(body + to.shared(weight), {to.as_sample(input)}, sizes), made);
}

namespace {

/// Adds a linear layer over the last dimension of a flow. All other dimensions of a sample are rows.
void put_linear(OnnxTranslation& to, const OnnxNode& node, const OnnxValue& input, const OnnxValue& weight,
                std::int64_t out, bool bias) {
  OnnxDims made = input.dims;
  if (made.empty()) return to.refuse(node, "its input is a single number");
  const std::int64_t width = made.back();
  made.back() = out;
  const auto rows = static_cast<std::int64_t>(input.elements() / static_cast<double>(width * to.batch()));
  const bool is_rows = to.sample(input.dims).size() > 1;
  if (rows < 1) return to.refuse(node, "its input has less than a row for each sample");
  const NetworkSketch::Sizes from = is_rows ? NetworkSketch::Sizes{rows, width} : NetworkSketch::Sizes{width};
  const NetworkSketch::Sizes sizes = is_rows ? NetworkSketch::Sizes{rows, out} : NetworkSketch::Sizes{out};
  to.put(node,
         to.sketch().add(fmt::format("type = \"linear\", out = {}{}{}", out, bias ? "" : ", bias = false",
                                     to.shared(weight)),
                         {to.as(input, from)}, sizes),
         made);
}

/// Returns whether a row of this width meets the weight; reports the node where not. `turned`: outputs stand
/// in front in the weight.
bool is_matrix(OnnxTranslation& to, const OnnxNode& node, const OnnxValue& weight, std::int64_t width,
               bool turned) {
  if (weight.dims.size() == 2 && weight.dims[turned ? 1 : 0] == width && weight.elements() >= 1) return true;
  to.refuse(node, fmt::format("a row of {} does not meet the weight {}", width, list_text(weight.dims)));
  return false;
}

}  // namespace

/// A factor in front of the product changes no work, so alpha and beta are not read.
void onnx_gemm(OnnxTranslation& to, const OnnxNode& node) {
  if (!has_weight(to, node, 2, 2)) return;
  const OnnxValue input = to.in(node, 0), weight = to.in(node, 1);
  const bool turned = node.number("transB", 0) != 0;
  // A transposed first input mixes samples; such a node counts by its bytes.
  if (node.number("transA", 0) != 0) return to.put_custom(node, {weight.dims[turned ? 0 : 1]});
  if (input.dims.empty() || !is_matrix(to, node, weight, input.dims.back(), turned)) return;
  put_linear(to, node, input, weight, weight.dims[turned ? 0 : 1], to.has(node, 2));
}

/// Translates the product with a bias that join_onnx_patterns() made.
void onnx_linear(OnnxTranslation& to, const OnnxNode& node) {
  if (!has_weight(to, node, 2, 2)) return;
  const OnnxValue input = to.in(node, 0), weight = to.in(node, 1);
  if (input.dims.empty() || !is_matrix(to, node, weight, input.dims.back(), false)) return;
  put_linear(to, node, input, weight, weight.dims[1], true);
}

/// A product with a weight is a linear layer; one of two flows is a batch of products, as in attention.
void onnx_product(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue left = to.in(node, 0), right = to.in(node, 1);
  // A matrix that is trained makes it a linear layer.
  if (left.is_flow() && right.kind == OnnxValue::Kind::weight && right.dims.size() == 2 &&
      !left.dims.empty()) {
    if (!is_matrix(to, node, right, left.dims.back(), false)) return;
    return put_linear(to, node, left, right, right.dims[1], false);
  }
  if (!left.is_flow() || !right.is_flow() || left.dims.size() < 2 || right.dims.size() < 2)
    return to.put_custom(node, left.is_flow() ? left.dims : right.dims, 2);
  // Two flows: [heads, m, k] times [heads, k, n].
  const std::int64_t m = left.dims[left.dims.size() - 2], k = left.dims.back(), n = right.dims.back();
  const OnnxDims left_heads(left.dims.begin(), left.dims.end() - 2),
      right_heads(right.dims.begin(), right.dims.end() - 2);
  // Leading dimensions are heads and samples; they must be equal, because the layer does not broadcast.
  OnnxDims made = broadcast(left_heads, right_heads);
  if (right.dims[right.dims.size() - 2] != k || left_heads != right_heads)
    return to.refuse(node,
                     fmt::format("{} and {} do not multiply", list_text(left.dims), list_text(right.dims)));
  const auto heads = static_cast<std::int64_t>(elements_of_dims(made) / static_cast<double>(to.batch()));
  if (heads < 1) return to.refuse(node, "it multiplies across samples");
  made.push_back(m), made.push_back(n);
  const NetworkSketch::Sizes sizes{heads, m, n};
  to.put(
      node,
      to.sketch().add("type = \"matmul\"", {to.as(left, {heads, m, k}), to.as(right, {heads, k, n})}, sizes),
      made);
}

/// Translates attention in one call as the layers that it consists of: two products around a softmax.
void onnx_dot_product(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue q = to.in(node, 0), k = to.in(node, 1), v = to.in(node, 2);
  if (!q.is_flow() || !k.is_flow() || !v.is_flow() || q.dims.size() < 3 || q.dims.size() != k.dims.size())
    return to.put_custom(node, q.dims, 4);
  // Tokens of queries, width of a head, tokens of keys, and width of values.
  const std::int64_t s = q.dims[q.dims.size() - 2], d = q.dims.back(), t = k.dims[k.dims.size() - 2],
                     out = v.dims.back();
  const OnnxDims heads_of(q.dims.begin(), q.dims.end() - 2);
  const auto heads = static_cast<std::int64_t>(elements_of_dims(heads_of) / static_cast<double>(to.batch()));
  const double each = static_cast<double>(heads * to.batch());
  if (heads < 1 || k.elements() != each * static_cast<double>(t * d) ||
      v.elements() != each * static_cast<double>(t * out))
    return to.put_custom(node, q.dims, 4);
  const NetworkSketch::Result scores =
      to.sketch().add("type = \"matmul\"", {to.as(q, {heads, s, d}), to.as(k, {heads, d, t})}, {heads, s, t});
  const NetworkSketch::Result weights = to.sketch().add("type = \"softmax\"", {scores}, {heads, s, t});
  OnnxDims made = heads_of;
  made.push_back(s), made.push_back(out);
  to.put(node, to.sketch().add("type = \"matmul\"", {weights, to.as(v, {heads, t, out})}, {heads, s, out}),
         made);
}

/// Translates LSTM and GRU. Input: [length, batch, width]; result: [length, directions, batch, hidden].
void onnx_recurrent(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0), weight = to.in(node, 1);
  const std::int64_t hidden = node.number("hidden_size", 0);
  const OnnxAttribute* way = node.find("direction");
  const bool both = way != nullptr && way->text == "bidirectional";
  if (!input.is_flow() || input.dims.size() != 3 || hidden < 1 || hidden > kLargestOnnxStep)
    return to.refuse(node, "needs [length, batch, width] and hidden_size");
  const bool batch_first = node.number("layout", 0) != 0;
  // `layout` 1 has the batch first.
  const std::int64_t length = input.dims[batch_first ? 1 : 0], width = input.dims[2], ways = both ? 2 : 1;
  const std::int64_t batch = input.dims[batch_first ? 0 : 1];
  if (batch != to.batch()) return to.refuse(node, "its second dimension is not the batch");
  const NetworkSketch::Result made = to.sketch().add(
      fmt::format("type = \"{}\", width = {}, bidirectional = {}, bias = {}{}",
                  node.op == "GRU" ? "gru" : "lstm", hidden, both, to.has(node, 3), to.shared(weight)),
      {to.as(input, {length, width})}, {length, ways * hidden});
  OnnxValue rows;
  rows.kind = OnnxValue::Kind::flow, rows.result = made, rows.dims = {length, ways, batch, hidden};
  to.put(node, rows);
  // The second output is the state behind the last step; the other outputs of ONNX are not made.
  if (node.outputs.size() < 2 || node.outputs[1].empty()) return;
  OnnxValue last;
  last.kind = OnnxValue::Kind::flow, last.dims = {ways, batch, hidden};
  last.result = to.sketch().add("type = \"first_token\"", {made}, {ways * hidden});
  to.put(node, last, 1);
}

}  // namespace foretrain
