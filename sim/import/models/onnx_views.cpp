// Translates operators that only arrange data: other shapes, parts, joints and copies.
//
// A transposition is a view here, as in PyTorch: the product behind it reads the data in the order that it
// needs. Parts and joints work on the last dimension of a layer with two sizes, so dimensions are multiplied
// together until the axis is the last one.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/onnx_translation.hpp"

namespace foretrain {

namespace {

/// Returns the sizes [before, axis and behind] of a sample, in which `axis` lies in the last dimension.
/// Slices and joints of sequences work there.
NetworkSketch::Sizes rows_before(const OnnxTranslation& to, const OnnxDims& dims, std::size_t axis) {
  double before = 1, behind = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) (i < axis ? before : behind) *= static_cast<double>(dims[i]);
  // The batch is the axis itself or one of the dimensions before it.
  if (axis == 0)
    behind /= static_cast<double>(to.batch());
  else
    before /= static_cast<double>(to.batch());
  const auto rows = static_cast<std::int64_t>(std::max(1.0, before));
  return {rows, static_cast<std::int64_t>(std::max(1.0, behind))};
}

}  // namespace

/// A slice over the whole axis is the flow itself.
NetworkSketch::Result sliced_along(OnnxTranslation& to, const OnnxValue& value, std::size_t axis,
                                   std::int64_t offset, std::int64_t count) {
  const NetworkSketch::Sizes rows = rows_before(to, value.dims, axis);
  // Elements of the last dimension for one step along the axis.
  const std::int64_t each = std::max<std::int64_t>(1, rows[1] / std::max<std::int64_t>(1, value.dims[axis]));
  if (count == value.dims[axis]) return value.result;
  return to.sketch().add(fmt::format("type = \"slice\", out = {}, offset = {}", each * count, each * offset),
                         {to.as(value, rows)}, {rows[0], each * count});
}

/// Translates a reshape. The shape is an input in new opsets and an attribute in old ones.
void onnx_reshape(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  std::vector<std::int64_t> shape = to.has(node, 1) ? to.in(node, 1).numbers : node.numbers("shape");
  const bool known = to.has(node, 1) ? to.in(node, 1).has_numbers : !shape.empty();
  if (!known) {
    // A shape computed at run time is unknown here; the exporter may have stored the shape of the result.
    const OnnxDims given = to.given_shape(node.outputs.empty() ? "" : node.outputs[0]);
    if (!given.empty() && elements_of_dims(given) == input.elements()) return to.put_view(node, input, given);
    to.remark("a reshape whose shape is made at run time keeps the batch and joins the rest");
    const double rest = input.elements() / static_cast<double>(to.batch());
    return to.put_view(node, input, {to.batch(), static_cast<std::int64_t>(rest)});
  }
  double product = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    // In ONNX, 0 copies the size of the input and -1 takes what remains.
    if (shape[i] == 0 && i < input.dims.size() && node.number("allowzero", 0) == 0) shape[i] = input.dims[i];
    if (shape[i] == -1)
      open = static_cast<std::ptrdiff_t>(i);
    else
      product *= static_cast<double>(shape[i]);
  }
  if (open >= 0 && product >= 1)
    shape[static_cast<std::size_t>(open)] = static_cast<std::int64_t>(input.elements() / product);
  to.put_view(node, input, shape);
}

/// Makes two dimensions of all: those before the axis and those from it on.
void onnx_flatten(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  const std::int64_t axis =
      std::clamp<std::int64_t>(node.number("axis", 1), 0, static_cast<std::int64_t>(input.dims.size()));
  const OnnxDims front(input.dims.begin(), input.dims.begin() + axis),
      back(input.dims.begin() + axis, input.dims.end());
  to.put_view(node, input,
              {static_cast<std::int64_t>(elements_of_dims(front)),
               static_cast<std::int64_t>(elements_of_dims(back))});
}

/// Removes or inserts dimensions of size 1. Without axes, Squeeze removes all of them.
void onnx_squeeze(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  std::vector<std::int64_t> axes = to.has(node, 1) ? to.in(node, 1).numbers : node.numbers("axes");
  OnnxDims dims = input.dims;
  const bool grows = node.op == "Unsqueeze";
  const std::size_t rank = dims.size() + (grows ? axes.size() : 0);
  // Axes count in the rank of the result for Unsqueeze, of the input for Squeeze.
  for (std::int64_t& axis : axes) axis = onnx_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  if (!axes.empty() && axes[0] < 0) return to.refuse(node, "an axis is none of its input");
  if (grows) {
    for (const std::int64_t axis : axes) {
      if (axis > static_cast<std::int64_t>(dims.size())) return to.refuse(node, "an axis stands twice");
      dims.insert(dims.begin() + axis, 1);
    }
  } else {
    OnnxDims kept;
    for (std::size_t i = 0; i < rank; ++i) {
      const bool named = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i));
      if (!(axes.empty() ? dims[i] == 1 : named)) kept.push_back(dims[i]);
    }
    dims = kept;
  }
  to.put_view(node, input, dims);
}

/// Checks that perm names each dimension once; without perm the order is reversed.
void onnx_transpose(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  std::vector<std::int64_t> order = node.numbers("perm");
  if (order.empty())
    for (std::size_t i = input.dims.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  OnnxDims dims;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != input.dims.size() || sorted[i] != static_cast<std::int64_t>(i))
      return to.refuse(node, "perm is no order of its dimensions");
    dims.push_back(input.dims[static_cast<std::size_t>(order[i])]);
  }
  to.put_view(node, input, dims);
}

/// Handles a view in an exported program, where the file gives every shape. Other numbers of elements come
/// from an expansion, which counts by its bytes.
void onnx_view(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  const OnnxDims given = to.given_shape(node.outputs.empty() ? "" : node.outputs[0]);
  if (given.empty()) return to.put(node, input);
  if (elements_of_dims(given) != input.elements()) return to.put_custom(node, given, 0);
  to.put_view(node, input, given);
}

/// Identity and Cast pass their input on; the model takes types from the precision.
void onnx_identity(OnnxTranslation& to, const OnnxNode& node) { to.put(node, to.in(node, 0)); }

/// Joins flows along an axis. Images are joined by their channels, all else by rows. Fixed parts, such as a
/// class token, make it work by bytes.
void onnx_concat(OnnxTranslation& to, const OnnxNode& node) {
  std::vector<const OnnxValue*> flows;
  OnnxDims made;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxValue& value = to.in(node, i);
    if (value.is_flow()) flows.push_back(&value);
    if (made.empty()) made = value.dims;
  }
  const std::int64_t axis = onnx_axis(node.number("axis", 0), made.size());
  if (axis < 0) return to.refuse(node, "its axis is none of its inputs");
  const auto along = static_cast<std::size_t>(axis);
  made[along] = 0;
  bool is_fixed = false;
  // ONNX requires equal sizes in all dimensions but the axis.
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxValue& value = to.in(node, i);
    if (value.dims.size() != made.size()) return to.refuse(node, "its inputs have different ranks");
    made[along] += value.dims[along];
    is_fixed = is_fixed || !value.is_flow();
    for (std::size_t d = 0; d < made.size(); ++d)
      if (d != along && value.dims[d] != made[d]) return to.refuse(node, "its inputs have different sizes");
  }
  // A part that is fixed has no result to join, so the node counts by its bytes.
  if (is_fixed || flows.empty()) return to.put_custom(node, made, 0);
  if (flows.size() == 1) return to.put_view(node, *flows[0], made);
  std::vector<NetworkSketch::Result> inputs;
  // Images keep their sides; all else is brought to rows.
  const bool is_image = made.size() >= 4 && along == 1;
  std::int64_t width = 0;
  for (const OnnxValue* flow : flows) {
    const NetworkSketch::Sizes sizes = is_image ? to.sample(flow->dims) : rows_before(to, flow->dims, along);
    inputs.push_back(to.as(*flow, sizes));
    width += sizes[is_image ? 0 : 1];
  }
  NetworkSketch::Sizes sizes = is_image ? to.sample(made) : rows_before(to, made, along);
  sizes[is_image ? 0 : 1] = width;
  to.put(node, to.sketch().add("type = \"concat\"", inputs, sizes), made);
}

/// Cuts a flow into parts along an axis; each becomes a slice. Without sizes the parts are equal and the last
/// one takes what remains.
void onnx_split(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  const std::int64_t axis = onnx_axis(node.number("axis", 0), input.dims.size());
  if (axis < 0 || node.outputs.empty()) return to.refuse(node, "its axis is none of its input");
  const auto along = static_cast<std::size_t>(axis);
  std::vector<std::int64_t> parts = to.has(node, 1) ? to.in(node, 1).numbers : node.numbers("split");
  const auto outputs = static_cast<std::int64_t>(node.outputs.size());
  if (parts.size() != node.outputs.size())
    parts.assign(node.outputs.size(), (input.dims[along] + outputs - 1) / outputs);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    OnnxValue part = input;
    // The last part may be smaller.
    part.dims[along] = std::min(parts[i], input.dims[along] - offset);
    if (part.dims[along] < 1) return to.refuse(node, "its parts are larger than its input");
    part.result = sliced_along(to, input, along, offset, part.dims[along]);
    offset += part.dims[along];
    to.put(node, part, i);
  }
}

/// Cuts out a range, one axis after the other. A step above 1 keeps fewer elements and is taken as a range of
/// that many; a negative step counts by its bytes.
void onnx_slice(OnnxTranslation& to, const OnnxNode& node) {
  OnnxValue value = to.in(node, 0);
  const bool old = node.inputs.size() == 1;
  const auto numbers = [&](const char* attribute, std::size_t input) {
    return old ? node.numbers(attribute) : to.in(node, input).numbers;
  };
  const std::vector<std::int64_t> starts = numbers("starts", 1), ends = numbers("ends", 2),
                                  steps = numbers("steps", 4);
  std::vector<std::int64_t> axes = numbers("axes", 3);
  if (starts.empty() || starts.size() != ends.size()) {
    const OnnxDims given = to.given_shape(node.outputs.empty() ? "" : node.outputs[0]);
    return to.put_custom(node, given.empty() ? value.dims : given, 0);
  }
  for (std::size_t i = axes.size(); i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = onnx_axis(axes[i], value.dims.size()), step = i < steps.size() ? steps[i] : 1;
    if (axis < 0 || step == 0) return to.refuse(node, "an axis or a step cannot be");
    const auto along = static_cast<std::size_t>(axis);
    const std::int64_t size = value.dims[along];
    if (step < 0) return to.put_custom(node, value.dims, 0);
    // Negative places count from the end; all are clamped to the dimension, as ONNX says.
    const std::int64_t first =
        std::clamp<std::int64_t>(starts[i] < 0 ? std::max(starts[i], -size) + size : starts[i], 0, size);
    const std::int64_t last =
        std::clamp<std::int64_t>(ends[i] < 0 ? std::max(ends[i], -size) + size : ends[i], 0, size);
    const std::int64_t count = last <= first ? 0 : (last - first - 1) / step + 1;
    if (count < 1) return to.refuse(node, "nothing is left of it");
    value.result = sliced_along(to, value, along, std::min(first, size - count), count);
    value.dims[along] = count;
  }
  to.put(node, value);
}

/// Enlarges an image. The sizes come from the file or from the node; without either each side doubles, with a
/// remark. Factors that are not whole count by their bytes.
void onnx_resize(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  OnnxDims made = to.given_shape(node.outputs.empty() ? "" : node.outputs[0]);
  const OnnxValue& sizes = to.in(node, 3);
  if (sizes.has_numbers && sizes.numbers.size() == input.dims.size()) made = sizes.numbers;
  // Only sizes are read; factors as an input are not.
  if (made.size() != input.dims.size()) {
    to.remark("a resize whose factor is not in the file is taken to double each side");
    made = input.dims;
    for (std::size_t i = 2; i < made.size(); ++i) made[i] *= 2;
  }
  // Whole factors have a layer; other sizes count by their bytes.
  const NetworkSketch::Sizes from = to.sample(input.dims), into = to.sample(made);
  std::vector<std::int64_t> factors;
  for (std::size_t i = 1; i < from.size() && from.size() == into.size(); ++i)
    if (into[i] % from[i] == 0) factors.push_back(into[i] / from[i]);
  if (from.size() < 3 || factors.size() + 1 != from.size() || into[0] != from[0])
    return to.put_custom(node, made, 4);
  const OnnxAttribute* mode = node.find("mode");
  const bool nearest = mode == nullptr || mode->text == "nearest" || mode->text.empty();
  to.put(node,
         to.sketch().add(fmt::format("type = \"upsample\", factor = {}, mode = \"{}\"", list_text(factors),
                                     nearest ? "nearest" : "bilinear"),
                         {to.as(input, from)}, into),
         made);
}

/// Handles Expand, Tile and Pad, which copy into another shape and count by their bytes. Bounds on the
/// numbers keep the sizes from overflowing.
void onnx_expand(OnnxTranslation& to, const OnnxNode& node) {
  const OnnxValue input = to.in(node, 0);
  const std::vector<std::int64_t>& numbers = to.in(node, 1).numbers;
  OnnxDims made = to.given_shape(node.outputs.empty() ? "" : node.outputs[0]);
  if (node.op == "Expand" && !numbers.empty()) made = broadcast(input.dims, numbers);
  if (node.op == "Tile" && numbers.size() == input.dims.size()) {
    made = input.dims;
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] *= std::clamp<std::int64_t>(numbers[i], 0, 1'000'000);
  }
  // Pad lists what is added, first in front of every dimension, then behind it.
  if (node.op == "Pad") {
    const std::vector<std::int64_t> pads = to.has(node, 1) ? numbers : node.numbers("pads");
    made = input.dims;
    if (pads.size() != 2 * made.size()) return to.put_custom(node, made, 0);
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] += std::clamp<std::int64_t>(pads[i], -made[i], 1'000'000) +
                 std::clamp<std::int64_t>(pads[i + made.size()], -made[i], 1'000'000);
  }
  if (made == input.dims) return to.put_view(node, input, made);
  to.put_custom(node, made.empty() ? input.dims : made, 0);
}

}  // namespace foretrain
