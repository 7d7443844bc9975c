// Holds the table of ONNX operators, and computes whole numbers that follow from known ones (constant
// folding).
//
// Exporters compute shapes inside the graph: Shape, Gather, Concat and sums produce the sizes of a Reshape.
// Folding evaluates these nodes at import, so that they are no layers. It handles tensors of at most
// kMostFolded elements; where a number is not known, the node stays unfolded.
#include <algorithm>
#include <map>

#include "sim/import/models/onnx_translation.hpp"

namespace foretrain {

/// Names without a domain; "Linear", "Silu", "RmsNorm", "View" and "ScaledDotProduct" are those of this
/// program.
OnnxOperator find_onnx_operator(std::string_view op) {
  static const std::map<std::string_view, OnnxOperator> rows{{"Conv", onnx_convolution},
                                                             {"ConvTranspose", onnx_transposed},
                                                             {"Gemm", onnx_gemm},
                                                             {"MatMul", onnx_product},
                                                             {"Linear", onnx_linear},
                                                             {"LSTM", onnx_recurrent},
                                                             {"GRU", onnx_recurrent},
                                                             {"Relu", onnx_activation},
                                                             {"Sigmoid", onnx_activation},
                                                             {"Tanh", onnx_activation},
                                                             {"LeakyRelu", onnx_activation},
                                                             {"Elu", onnx_activation},
                                                             {"Selu", onnx_activation},
                                                             {"Celu", onnx_activation},
                                                             {"HardSigmoid", onnx_activation},
                                                             {"HardSwish", onnx_activation},
                                                             {"Softplus", onnx_activation},
                                                             {"Gelu", onnx_activation},
                                                             {"Silu", onnx_activation},
                                                             {"Mish", onnx_activation},
                                                             {"ThresholdedRelu", onnx_activation},
                                                             {"Erf", onnx_activation},
                                                             {"Sqrt", onnx_activation},
                                                             {"Exp", onnx_activation},
                                                             {"Log", onnx_activation},
                                                             {"Neg", onnx_activation},
                                                             {"Abs", onnx_activation},
                                                             {"Reciprocal", onnx_activation},
                                                             {"Softmax", onnx_softmax},
                                                             {"LogSoftmax", onnx_softmax},
                                                             {"Clip", onnx_clip},
                                                             {"Dropout", onnx_dropout},
                                                             {"BatchNormalization", onnx_norm},
                                                             {"InstanceNormalization", onnx_norm},
                                                             {"GroupNormalization", onnx_norm},
                                                             {"LayerNormalization", onnx_norm},
                                                             {"SimplifiedLayerNormalization", onnx_norm},
                                                             {"RmsNorm", onnx_norm},
                                                             {"LRN", onnx_lrn},
                                                             {"MaxPool", onnx_pool},
                                                             {"AveragePool", onnx_pool},
                                                             {"GlobalAveragePool", onnx_pool},
                                                             {"GlobalMaxPool", onnx_pool},
                                                             {"ReduceMean", onnx_mean},
                                                             {"ReduceSum", onnx_mean},
                                                             {"ReduceMax", onnx_mean},
                                                             {"ReduceMin", onnx_mean},
                                                             {"ReduceL2", onnx_mean},
                                                             {"Add", onnx_arithmetic},
                                                             {"Sub", onnx_arithmetic},
                                                             {"Mul", onnx_arithmetic},
                                                             {"Div", onnx_arithmetic},
                                                             {"Pow", onnx_arithmetic},
                                                             {"Gather", onnx_gather},
                                                             {"View", onnx_view},
                                                             {"ScaledDotProduct", onnx_dot_product},
                                                             {"Sum", onnx_sum},
                                                             {"Reshape", onnx_reshape},
                                                             {"Flatten", onnx_flatten},
                                                             {"Squeeze", onnx_squeeze},
                                                             {"Unsqueeze", onnx_squeeze},
                                                             {"Transpose", onnx_transpose},
                                                             {"Identity", onnx_identity},
                                                             {"Cast", onnx_identity},
                                                             {"Concat", onnx_concat},
                                                             {"Split", onnx_split},
                                                             {"Slice", onnx_slice},
                                                             {"Resize", onnx_resize},
                                                             {"Upsample", onnx_resize},
                                                             {"Expand", onnx_expand},
                                                             {"Tile", onnx_expand},
                                                             {"Pad", onnx_expand}};
  const auto found = rows.find(op);
  return found == rows.end() ? nullptr : found->second;
}

namespace {

using Numbers = std::vector<std::int64_t>;

/// Makes the node's result a list of known numbers, or a single one without dimensions. A list beyond the
/// limit keeps its shape alone.
void put_numbers(OnnxTranslation& to, const OnnxNode& node, Numbers numbers, bool is_scalar = false) {
  OnnxValue value;
  value.kind = OnnxValue::Kind::whole;
  if (!is_scalar) value.dims = {static_cast<std::int64_t>(numbers.size())};
  value.has_numbers = numbers.size() <= kMostFolded;
  if (value.has_numbers) value.numbers = std::move(numbers);
  to.put(node, value);
}

/// Folds a tensor that is written into the node, or the fill of a shape. Files without weights have such
/// fills in their place.
bool fold_constant(OnnxTranslation& to, const OnnxNode& node) {
  OnnxValue value;
  value.kind = OnnxValue::Kind::constant;
  if (node.op == "Constant") {
    for (const OnnxAttribute& attribute : node.attributes) {
      if (attribute.name == "value_int") return put_numbers(to, node, {attribute.number}, true), true;
      if (attribute.name == "value_ints") return put_numbers(to, node, attribute.numbers), true;
      if (attribute.name == "value_float") value.real = attribute.real;
      if (attribute.name != "value") continue;
      const OnnxTensor& tensor = attribute.tensor;
      value.dims = tensor.dims, value.real = tensor.real;
      if (is_whole(tensor.type)) value.kind = OnnxValue::Kind::whole;
      value.numbers = tensor.values, value.has_numbers = tensor.has_values;
    }
    return to.put(node, value), true;
  }
  const OnnxValue& shape = to.in(node, 0);
  if (node.op != "ConstantOfShape" || !shape.has_numbers) return false;
  const OnnxAttribute* fill = node.find("value");
  value.dims = shape.numbers;
  const bool whole = fill != nullptr && is_whole(fill->tensor.type);
  // A shape that is an initializer stands for a weight that was stripped. A shape computed on the way is a
  // constant.
  const bool is_weight = !shape.weight.empty() && !whole;
  value.kind =
      whole ? OnnxValue::Kind::whole : (is_weight ? OnnxValue::Kind::weight : OnnxValue::Kind::constant);
  value.weight = node.outputs.empty() ? "" : node.outputs[0];
  return to.put(node, value), true;
}

/// Folds the dimensions of a tensor, or the range of them that newer versions select by start and end.
bool fold_shape(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue& input = to.in(node, 0);
  if (node.op == "Size")
    return put_numbers(to, node, {static_cast<std::int64_t>(input.elements())}, true), true;
  const auto rank = static_cast<std::int64_t>(input.dims.size());
  // The bounds of the attributes keep a hostile number from overflowing; -100 lies below any rank.
  const auto place = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t first = place(std::max<std::int64_t>(node.number("start", 0), -100)),
                     last = place(std::max<std::int64_t>(node.number("end", rank), -100));
  put_numbers(to, node,
              first < last ? Numbers(input.dims.begin() + first, input.dims.begin() + last) : Numbers{});
  return true;
}

/// Computes one pair. An overflow or a division by zero gives 0, which later checks refuse as a size.
/// Division by -1 is excluded because the smallest number has no negative.
std::int64_t combined(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (op == "Add" && !__builtin_add_overflow(a, b, &out)) return out;
  if (op == "Sub" && !__builtin_sub_overflow(a, b, &out)) return out;
  if (op == "Mul" && !__builtin_mul_overflow(a, b, &out)) return out;
  if (op == "Div" && b != 0 && b != -1) return a / b;
  return 0;
}

/// Folds a sum, difference, product or quotient element by element; the shorter list repeats, as broadcasting
/// of a single number does.
bool fold_pairs(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue &left = to.in(node, 0), &right = to.in(node, 1);
  if (!left.has_numbers || !right.has_numbers || left.numbers.empty() || right.numbers.empty()) return false;
  const std::size_t count = std::max(left.numbers.size(), right.numbers.size());
  Numbers out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(
        combined(node.op, left.numbers[i % left.numbers.size()], right.numbers[i % right.numbers.size()]));
  const bool is_scalar = left.dims.empty() && right.dims.empty();
  return put_numbers(to, node, std::move(out), is_scalar), true;
}

/// Folds the choice of elements by known indices from a list.
bool fold_gather(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue &from = to.in(node, 0), &places = to.in(node, 1);
  if (!from.has_numbers || !places.has_numbers || from.dims.size() != 1) return false;
  Numbers out;
  for (const std::int64_t place : places.numbers) {
    const std::int64_t at = onnx_axis(place, from.numbers.size());
    if (at < 0) return to.refuse(node, "its index lies outside of its input"), true;
    out.push_back(from.numbers[static_cast<std::size_t>(at)]);
  }
  return put_numbers(to, node, std::move(out), places.dims.empty()), true;
}

/// Folds a concatenation where every part is known.
bool fold_concat(OnnxTranslation& to, const OnnxNode& node) {
  Numbers out;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxValue& value = to.in(node, i);
    if (!value.has_numbers || out.size() > kMostFolded) return false;
    out.insert(out.end(), value.numbers.begin(), value.numbers.end());
  }
  return put_numbers(to, node, std::move(out)), true;
}

/// Folds a slice of a list without steps, with the bounds as attributes (old opsets) or as inputs.
bool fold_slice(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue& from = to.in(node, 0);
  const bool old = node.inputs.size() == 1;
  const Numbers starts = old ? node.numbers("starts") : to.in(node, 1).numbers,
                ends = old ? node.numbers("ends") : to.in(node, 2).numbers;
  const auto size = static_cast<std::int64_t>(from.numbers.size());
  if (!from.has_numbers || from.dims.size() != 1 || starts.size() != 1 || ends.size() != 1 || to.has(node, 4))
    return false;
  const auto place = [size](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -size) + size : at, 0, size);
  };
  const std::int64_t first = place(starts[0]), last = std::max(first, place(ends[0]));
  return put_numbers(to, node, Numbers(from.numbers.begin() + first, from.numbers.begin() + last)), true;
}

/// Folds operators that keep the numbers: the result is a single number or a list, as the operator says.
bool fold_same(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue& from = to.in(node, 0);
  if (!from.has_numbers) return false;
  const bool is_scalar =
      node.op == "Squeeze" ? from.numbers.size() == 1 : node.op != "Unsqueeze" && from.dims.empty();
  return put_numbers(to, node, from.numbers, is_scalar), true;
}

}  // namespace

/// Operators that are not in the table, or whose inputs are not known, are left to the translation.
bool fold_onnx(OnnxTranslation& to, const OnnxNode& node) {
  using Fold = bool (*)(OnnxTranslation&, const OnnxNode&);
  static const std::map<std::string_view, Fold> rows{
      {"Constant", fold_constant}, {"ConstantOfShape", fold_constant},
      {"Shape", fold_shape},       {"Size", fold_shape},
      {"Add", fold_pairs},         {"Sub", fold_pairs},
      {"Mul", fold_pairs},         {"Div", fold_pairs},
      {"Gather", fold_gather},     {"Concat", fold_concat},
      {"Slice", fold_slice},       {"Unsqueeze", fold_same},
      {"Squeeze", fold_same},      {"Cast", fold_same},
      {"Identity", fold_same}};
  const auto found = rows.find(node.op);
  return found != rows.end() && found->second(to, node);
}

}  // namespace foretrain
