// Translates operators that work element by element or row by row: activations, norms, pools, sums and
// products.
//
// A sum or product depends on its second operand: another flow joins, a weight is trained and has a gradient,
// and a constant only scales. Sizes are checked before a layer is added. An operator that has no matching
// layer counts by its bytes (put_custom).
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/import/models/onnx_translation.hpp"

namespace foretrain {

namespace {

/// Adds one layer that keeps the shape of its input.
void put_pass(OnnxTranslation& to, const OnnxNode& node, const OnnxValue& input, std::string body) {
  const NetworkSketch::Sizes sizes = to.sketch().sizes(input.result);
  to.put(node, to.sketch().add(std::move(body), {input.result}, sizes), input.dims);
}

/// Returns the layer for `operators` element-wise kernels, each with a backward pass.
std::string pointwise_body(int operators) {
  return fmt::format("type = \"pointwise\", operators = {}, gradient = true", operators);
}

}  // namespace

/// Maps each activation to a layer whose kernels move the same bytes; functions without one are pointwise.
void onnx_activation(OnnxTranslation& to, const OnnxNode& node) {
  static const std::map<std::string_view, const char*> kTypes{{"Relu", "relu"},
                                                              {"Sigmoid", "sigmoid"},
                                                              {"Tanh", "tanh"},
                                                              {"LeakyRelu", "leaky_relu"},
                                                              {"Elu", "elu"},
                                                              {"Selu", "elu"},
                                                              {"Celu", "elu"},
                                                              {"HardSigmoid", "hardsigmoid"},
                                                              {"HardSwish", "hardswish"},
                                                              {"Softplus", "elu"},
                                                              {"Gelu", "gelu"},
                                                              {"Silu", "silu"},
                                                              {"Mish", "silu"},
                                                              {"ThresholdedRelu", "relu"}};
  // A flow is what depends on the input; anything else counts by its bytes.
  const auto found = kTypes.find(node.op);
  const OnnxValue input = to.in(node, 0);
  if (!input.is_flow()) return to.put_custom(node, input.dims);
  put_pass(to, node, input,
           found == kTypes.end() ? pointwise_body(1) : fmt::format("type = \"{}\"", found->second));
}

/// The axis does not matter for the work.
void onnx_softmax(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  // Eight FLOPs an element for what is no flow: a maximum, an exponential, a sum and a quotient.
  if (!input.is_flow()) return to.put_custom(node, input.dims, 8);
  OnnxValue made = input;
  made.result = to.sketch().add("type = \"softmax\"", {input.result}, to.sketch().sizes(input.result));
  to.put(node, made);
}

/// A clip at 6 is ReLU6; the bound is an attribute in old opsets, the third input in newer ones.
void onnx_clip(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  if (!input.is_flow()) return to.put_custom(node, input.dims);
  const OnnxAttribute* most = node.find("max");
  const double limit = most != nullptr ? most->real : to.in(node, 2).real;
  put_pass(to, node, input, limit == 6 ? "type = \"relu6\"" : pointwise_body(1));
}

/// A dropout on fixed numbers has no work in the model.
void onnx_dropout(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  if (input.is_flow()) put_pass(to, node, input, "type = \"dropout\"");
}

/// Translates batch, instance, group and layer norms. Running statistics are no parameters. A layer norm
/// works on rows, the others on channels with at least two sides.
void onnx_norm(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  if (!input.is_flow() || input.dims.size() < 2) return to.put_custom(node, input.dims, 8);
  NetworkSketch::Sizes sizes = to.sample(input.dims);
  std::string body;
  if (node.op == "LayerNormalization" || node.op == "RmsNorm" || node.op == "SimplifiedLayerNormalization") {
    // A layer norm works on the last dimension; all others of a sample are rows.
    const auto rows = static_cast<std::int64_t>(input.elements()) / (input.dims.back() * to.batch());
    if (rows < 1) return to.refuse(node, "it has less than a row for each sample");
    if (sizes.size() > 2) sizes = {rows, input.dims.back()};
    const bool is_layer_norm = node.op == "LayerNormalization";
    body = is_layer_norm ? "type = \"layer_norm\"" : "type = \"rms_norm\"";
  } else {
    // A signal is an image of height 1.
    if (sizes.size() == 2) sizes = {sizes[0], 1, sizes[1]};
    if (node.op == "BatchNormalization") body = "type = \"batch_norm\"";
    if (node.op == "InstanceNormalization") body = "type = \"instance_norm\", bias = true";
    if (node.op == "GroupNormalization")
      body = fmt::format("type = \"group_norm\", groups = {}",
                         std::max<std::int64_t>(1, node.number("num_groups", 1)));
  }
  body += to.shared(to.in(node, 1));
  to.put(node, to.sketch().add(body, {to.as(input, sizes)}, sizes), input.dims);
}

/// Translates local response norm as work by bytes: a square, a sum over the window, a power, and a quotient.
void onnx_lrn(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  to.put_custom(node, input.dims,
                static_cast<double>(std::clamp<std::int64_t>(node.number("size", 5), 1, 1000) + 4));
}

namespace {

/// The window of a pool, one number for each side.
struct PoolForm {
  std::vector<std::int64_t> kernel, stride, padding;
  bool ceil = false;
};

/// Returns the windows along one side; 0 where not even one fits. `padding` is that of both ends together.
std::int64_t pooled_side(std::int64_t in, std::int64_t padding, std::int64_t kernel, std::int64_t stride,
                         bool ceil) {
  const std::int64_t room = in + padding - kernel;
  return room < 0 ? 0 : (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

/// Returns the windows as foretrain's layers count them: one that begins in the padding behind the input is
/// dropped, as in PyTorch.
std::int64_t our_pooled_side(std::int64_t in, std::int64_t pad, std::int64_t kernel, std::int64_t stride,
                             bool ceil) {
  std::int64_t windows = pooled_side(in, 2 * pad, kernel, stride, ceil);
  if (ceil && (windows - 1) * stride >= in + pad) --windows;
  return windows;
}

/// Finds a padding that is equal on both ends and gives these sides, with or without windows that reach over
/// the end. Returns false where none does; ONNX allows paddings that differ.
bool fits_pool(PoolForm& form, const OnnxDims& in, const OnnxDims& made,
               const std::vector<std::int64_t>& pads) {
  const std::size_t sides = form.kernel.size();
  for (const bool ceil : {false, true}) {
    form.padding.clear(), form.ceil = ceil;
    for (std::size_t side = 0; side < sides; ++side) {
      for (const std::int64_t pad :
           {(pads[side] + pads[side + sides] + 1) / 2, pads[side], pads[side + sides]}) {
        if (form.padding.size() == side && 2 * pad <= form.kernel[side] &&
            our_pooled_side(in[side + 2], pad, form.kernel[side], form.stride[side], ceil) == made[side + 2])
          form.padding.push_back(pad);
      }
    }
    if (form.padding.size() == sides) return true;
  }
  return false;
}

/// Reads the window and computes the shape of the result. Returns false for numbers out of range and for
/// windows that do not fit.
bool read_pool(const OnnxNode& node, const OnnxValue& input, PoolForm& form, std::vector<std::int64_t>& pads,
               OnnxDims& made) {
  const std::size_t sides = input.dims.size() - 2;
  form.kernel = node.numbers("kernel_shape"), form.stride = node.numbers("strides"),
  pads = node.numbers("pads");
  form.stride.resize(sides, 1), pads.resize(2 * sides, 0);
  if (form.kernel.size() != sides) return false;
  const OnnxAttribute* automatic = node.find("auto_pad");
  const bool is_same = automatic != nullptr && automatic->text.starts_with("SAME");
  made = {input.dims[0], input.dims[1]};
  for (std::size_t side = 0; side < sides; ++side) {
    const std::int64_t kernel = form.kernel[side], stride = form.stride[side], in = input.dims[side + 2];
    if (kernel < 1 || kernel > 1'000'000 || stride < 1 || stride > 1'000'000 || pads[side] < 0 ||
        pads[side + sides] < 0 || pads[side] > kernel || pads[side + sides] > kernel)
      return false;
    made.push_back(is_same ? (in + stride - 1) / stride
                           : pooled_side(in, pads[side] + pads[side + sides], kernel, stride,
                                         node.number("ceil_mode", 0) != 0));
    if (is_same) pads[side] = pads[side + sides] = std::max<std::int64_t>(0, kernel - stride) / 2;
  }
  return elements_of_dims(made) >= 1;
}

}  // namespace

/// Pools keep the channels; only max and mean have layers.
void onnx_pool(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  if (!input.is_flow() || input.dims.size() < 3 || input.dims.size() > 5)
    return to.put_custom(node, input.dims);
  // A signal has one side; layers see it as an image of height 1.
  const bool is_signal = input.dims.size() == 3;
  NetworkSketch::Sizes in = to.sample(input.dims);
  if (is_signal && in.size() == 2) in = {in[0], 1, in[1]};
  const bool is_max = node.op.find("Max") != std::string::npos;
  // A global maximum is a pool over the whole side, a global mean has a layer of its own.
  if (node.op.starts_with("Global")) {
    OnnxDims made(input.dims.size(), 1);
    made[0] = input.dims[0], made[1] = input.dims[1];
    NetworkSketch::Sizes sizes(in.size(), 1);
    sizes[0] = in[0];
    const std::string body =
        is_max ? fmt::format("type = \"max_pool\", kernel = {}", list_text({in.begin() + 1, in.end()}))
               : "type = \"adaptive_avg_pool\"";
    return to.put(node, to.sketch().add(body, {to.as(input, in)}, sizes), made);
  }
  PoolForm form;
  std::vector<std::int64_t> pads;
  OnnxDims made;
  if (!read_pool(node, input, form, pads, made)) return to.refuse(node, "its window does not fit its input");
  if (!fits_pool(form, input.dims, made, pads)) return to.put_custom(node, made);
  NetworkSketch::Sizes sizes = to.sample(made);
  if (is_signal) {
    sizes = {sizes[0], 1, sizes[1]};
    for (auto* numbers : {&form.kernel, &form.stride}) numbers->insert(numbers->begin(), 1);
    form.padding.insert(form.padding.begin(), 0);
  }
  const std::string body =
      fmt::format("type = \"{}\", kernel = {}, stride = {}, padding = {}{}", is_max ? "max_pool" : "avg_pool",
                  list_text(form.kernel), list_text(form.stride), list_text(form.padding),
                  form.ceil ? ", ceil = true" : "");
  to.put(node, to.sketch().add(body, {to.as(input, in)}, sizes), made);
}

/// Translates reductions. A mean over the sides of an image and one over the rows of a sequence have layers;
/// others count by their bytes.
void onnx_mean(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  std::vector<std::int64_t> axes = to.has(node, 1) ? to.in(node, 1).numbers : node.numbers("axes");
  const bool keeps = node.number("keepdims", 1) != 0;
  const std::size_t rank = input.dims.size();
  // Axes that do not exist become -1 and match no dimension.
  for (std::int64_t& axis : axes) axis = onnx_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  OnnxDims made;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool gone =
        axes.empty() || std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i));
    if (!gone || keeps) made.push_back(gone ? 1 : input.dims[i]);
  }
  const NetworkSketch::Sizes in = input.is_flow() ? to.sample(input.dims) : NetworkSketch::Sizes{};
  const bool is_mean = node.op == "ReduceMean" && rank > 0 && input.dims[0] == to.batch();
  if (is_mean && rank == 4 && axes == std::vector<std::int64_t>{2, 3})
    return to.put(node, to.sketch().add("type = \"adaptive_avg_pool\"", {to.as(input, in)}, {in[0], 1, 1}),
                  made);
  if (is_mean && rank == 3 && axes == std::vector<std::int64_t>{1})
    return to.put(node, to.sketch().add("type = \"mean_tokens\"", {to.as(input, in)}, {in[1]}), made);
  to.put_custom(node, made, input.is_flow() ? input.elements() / std::max(1.0, elements_of_dims(made)) : 1);
}

namespace {

/// Joins two flows by a layer. The smaller one is spread over the larger one, in sizes that match for a
/// sample.
void join_flows(OnnxTranslation& to, const OnnxNode& node, const OnnxValue& left, const OnnxValue& right,
                bool multiplies) {
  const OnnxDims made = broadcast(left.dims, right.dims);
  if (made.empty() && left.dims != right.dims)
    return to.refuse(
        node, fmt::format("{} and {} do not go together", list_text(left.dims), list_text(right.dims)));
  const OnnxValue& larger = left.elements() >= right.elements() ? left : right;
  if (larger.elements() != elements_of_dims(made)) return to.put_custom(node, made);
  const std::size_t ranks = std::max(left.dims.size(), right.dims.size());
  std::vector<NetworkSketch::Result> inputs;
  const NetworkSketch::Sizes sizes = to.sample(made);
  for (const OnnxValue* value : {&left, &right}) {
    OnnxDims dims = value->dims;
    dims.insert(dims.begin(), ranks - dims.size(), 1);
    // A batch dimension of 1 is that of all samples: the sizes of a sample leave it out.
    NetworkSketch::Sizes own = to.sample(dims);
    if (own.size() != sizes.size()) return to.put_custom(node, made);
    inputs.push_back(to.as(*value, own));
  }
  to.put(node, to.sketch().add(multiplies ? "type = \"multiply\"" : "type = \"add\"", inputs, sizes), made);
}

/// Takes a trained table, or rows looked up in one, that is added to a sequence as positions. Returns false
/// where the shapes or kinds do not match.
bool add_positions(OnnxTranslation& to, const OnnxNode& node, const OnnxValue& flow, const OnnxValue& fixed) {
  const NetworkSketch::Sizes sizes = to.sample(flow.dims);
  const double elements = flow.elements() / static_cast<double>(to.batch());
  if (node.op != "Add" || sizes.size() != 2 || fixed.elements() != elements) return false;
  if (fixed.kind == OnnxValue::Kind::constant) return false;
  const std::string entries =
      fixed.kind == OnnxValue::Kind::rows ? fmt::format(", entries = {}", fixed.entries) : std::string();
  const NetworkSketch::Result made = to.sketch().add(
      fmt::format("type = \"position\"{}{}", entries, to.shared(fixed)), {to.as(flow, sizes)}, sizes);
  to.put(node, made, flow.dims);
  return true;
}

/// Joins a flow with fixed numbers. A trained vector has a gradient; a constant, a mask or a single number
/// has none and only scales.
void join_fixed(OnnxTranslation& to, const OnnxNode& node, const OnnxValue& flow, const OnnxValue& fixed,
                bool multiplies) {
  const OnnxDims made = broadcast(flow.dims, fixed.dims);
  if (made.empty() && !fixed.dims.empty() && flow.dims != fixed.dims)
    return to.refuse(
        node, fmt::format("{} and {} do not go together", list_text(flow.dims), list_text(fixed.dims)));
  if (elements_of_dims(made) > flow.elements()) return to.put_custom(node, made);
  OnnxValue kept = flow;
  if (!made.empty()) kept.dims = made;
  if (add_positions(to, node, kept, fixed)) return;
  const bool trained = fixed.kind == OnnxValue::Kind::weight && fixed.elements() >= 1;
  const double elements = flow.elements() / static_cast<double>(to.batch());
  if (!trained || fixed.elements() > elements) return put_pass(to, node, kept, "type = \"scale\"");
  put_pass(to, node, kept,
           fmt::format("type = \"{}\", out = {}{}", multiplies ? "trained_scale" : "trained_shift",
                       static_cast<std::int64_t>(fixed.elements()), to.shared(fixed)));
}

}  // namespace

/// Translates a sum of several flows with one shape; other sums count by their bytes.
void onnx_sum(OnnxTranslation& to, const OnnxNode& node) {
  std::vector<NetworkSketch::Result> flows;
  const OnnxValue first = to.in(node, 0);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxValue& value = to.in(node, i);
    if (!value.is_flow() || value.dims != first.dims) return to.put_custom(node, first.dims);
    flows.push_back(to.as_sample(value));
  }
  if (flows.size() < 2) return to.put(node, first);
  to.put(node, to.sketch().add("type = \"add\"", flows, to.sample(first.dims)), first.dims);
}

/// A flow with itself is a square, one kernel. Division counts as multiplication, subtraction as addition.
void onnx_arithmetic(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue left = to.in(node, 0), right = to.in(node, 1);
  const bool multiplies = node.op == "Mul" || node.op == "Div";
  if (left.is_flow() && right.is_flow()) {
    if (node.inputs[0] != node.inputs[1]) return join_flows(to, node, left, right, multiplies);
    return put_pass(to, node, left, pointwise_body(1));
  }
  if (node.op == "Pow") return put_pass(to, node, left.is_flow() ? left : right, pointwise_body(1));
  join_fixed(to, node, left.is_flow() ? left : right, left.is_flow() ? right : left, multiplies);
}

/// Translates a choice of rows. Rows of a weight by ids are an embedding; by known numbers they are the same
/// rows for every sample (positions). One element of a flow is a slice.
void onnx_gather(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue table = to.in(node, 0), ids = to.in(node, 1);
  const std::int64_t axis = onnx_axis(node.number("axis", 0), table.dims.size());
  if (axis < 0) return to.refuse(node, "its axis is none of its input");
  // The result has the shape of the indices in place of the axis.
  OnnxDims made(table.dims.begin(), table.dims.begin() + axis);
  made.insert(made.end(), ids.dims.begin(), ids.dims.end());
  made.insert(made.end(), table.dims.begin() + axis + 1, table.dims.end());
  if (table.kind == OnnxValue::Kind::weight && axis == 0 && table.dims.size() == 2) {
    // Known indices choose the same rows for every sample.
    if (ids.kind != OnnxValue::Kind::ids) {
      OnnxValue rows = table;
      rows.kind = OnnxValue::Kind::rows, rows.entries = table.dims[0], rows.dims = made;
      return to.put(node, rows);
    }
    const auto length = static_cast<std::int64_t>(ids.elements()) / to.batch();
    const NetworkSketch::Sizes sizes{length, table.dims[1]};
    if (table.elements() < 1) return to.refuse(node, "its table is empty");
    return to.put(node,
                  to.sketch().add(fmt::format("type = \"embedding\", entries = {}, out = {}{}", table.dims[0],
                                              table.dims[1], to.shared(table)),
                                  {ids.result}, sizes),
                  made);
  }
  // One known index is a slice; other choices count by their bytes.
  const bool is_one = ids.elements() == 1 && ids.has_numbers && table.is_flow();
  if (!is_one) return to.put_custom(node, made, 0);
  const std::int64_t size = table.dims[static_cast<std::size_t>(axis)];
  const std::int64_t place = ids.numbers[0] < 0 ? ids.numbers[0] + size : ids.numbers[0];
  if (place < 0 || place >= size) return to.refuse(node, "its index lies outside of its input");
  to.put(node, sliced_along(to, table, static_cast<std::size_t>(axis), place, 1), made);
}

}  // namespace foretrain
