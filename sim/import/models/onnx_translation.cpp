// Translates a graph to layers in topological order, O(n log n) in its nodes. Shapes carry the file's batch,
// or 1 where it is open. An open length of ids is --sequence, an open side of an image --image.
#include "sim/import/models/onnx_translation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/filled_text.hpp"
#include "sim/workload/layers/shape.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kUsualLength = 128, kUsualSide = 224;
constexpr double kLargestTensor = static_cast<double>(kMostElements);
const OnnxValue kNoValue;

/// Returns whether ids stay ids: the operator changes their type or shape alone.
bool passes_ids(std::string_view op) {
  static const std::set<std::string_view> ops{"Cast",    "Identity", "View",     "Reshape",
                                              "Flatten", "Squeeze",  "Unsqueeze"};
  return ops.contains(op);
}

}  // namespace

double elements_of_dims(const OnnxDims& dims) {
  double product = 1;
  for (const std::int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

double OnnxValue::elements() const { return elements_of_dims(dims); }

std::int64_t onnx_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  const std::int64_t from_front = axis < 0 ? axis + count : axis;
  return from_front >= 0 && from_front < count ? from_front : -1;
}

OnnxDims broadcast(const OnnxDims& a, const OnnxDims& b) {
  OnnxDims out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1,
                       right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) return {};
    out[out.size() - 1 - i] = std::max(left, right);
  }
  return out;
}

OnnxTranslation::OnnxTranslation(const OnnxGraph& graph, const ModelImportOptions& options,
                                 Diagnostics& diagnostics, std::vector<std::string>& remarks)
    : graph_(graph), options_(options), diagnostics_(diagnostics), remarks_(remarks) {
  for (const OnnxTensor& value : graph.values) shapes_[value.name] = &value;
  for (const OnnxTensor& value : graph.outputs) shapes_[value.name] = &value;
  for (const OnnxTensor& weight : graph.weights) {
    OnnxValue value;
    value.kind = is_whole(weight.type) ? OnnxValue::Kind::whole : OnnxValue::Kind::weight;
    value.dims = weight.dims, value.numbers = weight.values, value.has_numbers = weight.has_values;
    value.weight = weight.name, value.real = weight.real;
    // A single real number is a factor that somebody wrote down.
    if (value.kind == OnnxValue::Kind::weight && (value.elements() <= 1 || !weight.is_trained))
      value.kind = OnnxValue::Kind::constant;
    values_[weight.name] = std::move(value);
  }
}

const OnnxValue& OnnxTranslation::in(const OnnxNode& node, std::size_t input) const {
  if (input >= node.inputs.size() || node.inputs[input].empty()) return kNoValue;
  const auto found = values_.find(node.inputs[input]);
  return found == values_.end() ? kNoValue : found->second;
}

NetworkSketch::Sizes OnnxTranslation::sample(const OnnxDims& dims) const {
  NetworkSketch::Sizes sizes = dims;
  const auto whole = std::find(sizes.begin(), sizes.end(), batch_);
  if (!sizes.empty() && sizes[0] == batch_)
    sizes.erase(sizes.begin());
  else if (!sizes.empty() && sizes[0] % batch_ == 0)
    sizes[0] /= batch_;
  else if (whole != sizes.end())
    sizes.erase(whole);
  while (sizes.size() > 4) {
    sizes[1] *= sizes[0];
    sizes.erase(sizes.begin());
  }
  if (sizes.empty()) sizes.push_back(1);
  return sizes;
}

NetworkSketch::Result OnnxTranslation::as(const OnnxValue& value, const NetworkSketch::Sizes& sizes) {
  return sketch_.reshaped(value.result, sizes);
}

void OnnxTranslation::put(const OnnxNode& node, OnnxValue value, std::size_t output) {
  if (output >= node.outputs.size() || node.outputs[output].empty()) return;
  const bool is_sound =
      std::all_of(value.dims.begin(), value.dims.end(), [](std::int64_t size) { return size >= 0; });
  if (!is_sound || value.elements() > kLargestTensor)
    return refuse(node,
                  fmt::format("its result {} is no tensor of at most 2^40 elements", list_text(value.dims)));
  if (value.is_flow() && value.elements() < 1) return refuse(node, "its result is empty");
  if (value.dims.size() > kMostOnnxDims)
    return refuse(node, fmt::format("its result has more than {} dimensions", kMostOnnxDims));
  values_[node.outputs[output]] = std::move(value);
}

void OnnxTranslation::put(const OnnxNode& node, NetworkSketch::Result result, OnnxDims dims) {
  OnnxValue value;
  value.kind = OnnxValue::Kind::flow, value.result = result, value.dims = std::move(dims);
  put(node, std::move(value));
}

void OnnxTranslation::put_view(const OnnxNode& node, const OnnxValue& value, OnnxDims dims) {
  if (elements_of_dims(dims) != value.elements())
    return refuse(node, fmt::format("{} cannot become {}", list_text(value.dims), list_text(dims)));
  OnnxValue view = value;
  view.dims = std::move(dims);
  put(node, std::move(view));
}

std::string OnnxTranslation::shared(const OnnxValue& weight) {
  const auto uses = weight_uses_.find(weight.weight);
  if (uses == weight_uses_.end() || uses->second < 2) return "";
  std::string& label = labels_[weight.weight];
  if (label.empty()) label = fmt::format("shared{}", labels_.size());
  return fmt::format(", weights = \"{}\"", label);
}

/// Puts several results side by side in one, so that each gets its gradient.
NetworkSketch::Result OnnxTranslation::joined(std::vector<NetworkSketch::Result> flows) {
  std::int64_t width = 0;
  for (NetworkSketch::Result& flow : flows) {
    const auto elements = static_cast<std::int64_t>(elements_of_dims(sketch_.sizes(flow)));
    flow = sketch_.reshaped(flow, {elements});
    width += elements;
  }
  return sketch_.add("type = \"concat\"", flows, {width});
}

void OnnxTranslation::put_custom(const OnnxNode& node, const OnnxDims& dims, double flops_each) {
  if (elements_of_dims(dims) < 1 || elements_of_dims(dims) > kLargestTensor)
    return refuse(node, fmt::format("its result {} is no tensor of at most 2^40 elements", list_text(dims)));
  double read = 0;
  std::vector<NetworkSketch::Result> flows;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxValue& value = in(node, i);
    read += value.kind == OnnxValue::Kind::none ? 0 : value.elements();
    if (!value.is_flow()) continue;
    flows.push_back(value.result);
  }
  if (flows.empty()) return refuse(node, "nothing that it takes comes from the network's input");
  const auto written = elements_of_dims(dims) / static_cast<double>(batch_);
  const double bytes = 4 * (read / static_cast<double>(batch_) + written);
  NetworkSketch::Result from = flows.front();
  if (flows.size() > 1) from = joined(flows);
  const NetworkSketch::Sizes made = sample(dims);
  unknown_.push_back({sketch_.count(), node.op, bytes});
  put(node,
      sketch_.add(
          fmt::format(
              "type = \"custom\", forward_flops = \"{:.0f} FLOP\", backward_flops = \"{:.0f} FLOP\", "
              "forward_bytes = \"{:.0f} B\", backward_bytes = \"{:.0f} B\", saved_bytes = \"{:.0f} B\", "
              "shape = {}",
              flops_each * written, flops_each * written, bytes, bytes, 4 * written, list_text(made)),
          {from}, made),
      dims);
}

void OnnxTranslation::refuse(const OnnxNode& node, std::string_view why, std::string hint) {
  if (diagnostics_.found().size() < Diagnostics::kMostDiagnostics)
    diagnostics_.report(
        {}, fmt::format("node \"{}\" ({}): {}", node.name.substr(0, 80), node.op.substr(0, 40), why),
        std::move(hint));
}

void OnnxTranslation::remark(const std::string& what) {
  if (said_.insert(what).second) remarks_.push_back(what);
}

OnnxDims OnnxTranslation::given_shape(const std::string& name) const {
  const auto found = shapes_.find(name);
  if (found == shapes_.end()) return {};
  const OnnxDims& dims = found->second->dims;
  const bool is_open = std::any_of(dims.begin(), dims.end(), [](std::int64_t size) { return size < 1; });
  return is_open ? OnnxDims{} : dims;
}

/// Returns the axis of the batch: 1 for inputs of recurrent layers, [length, batch, width]; otherwise 0.
std::size_t OnnxTranslation::batch_axis(const OnnxTensor& input) const {
  return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const OnnxNode& node) {
    const bool is_recurrent = node.op == "LSTM" || node.op == "GRU";
    return is_recurrent && !node.inputs.empty() && node.inputs[0] == input.name &&
           node.number("layout", 0) == 0;
  });
}

/// Opens all inputs. The batch is a dimension of the first input that is no initializer.
void OnnxTranslation::open_inputs() {
  bool is_first = true;
  for (const OnnxTensor& input : graph_.inputs) {
    if (values_.contains(input.name)) continue;
    const std::size_t axis = batch_axis(input);
    if (is_first && axis < input.dims.size() && input.dims[axis] > 0) batch_ = input.dims[axis];
    is_first = false;
    open_input(input);
  }
  if (is_first)
    diagnostics_.report({}, "the graph has no input", "export it with one that stands for a batch");
}

void OnnxTranslation::open_input(const OnnxTensor& input) {
  OnnxDims dims = input.dims;
  const bool whole = is_whole(input.type);
  if (dims.empty()) dims = {batch_};
  const std::size_t axis = dims.size() > 1 ? batch_axis(input) : 0;
  if (dims[axis] < 1) dims[axis] = batch_;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i == axis) continue;
    if (dims[i] > 0 && !(options_.image && dims.size() == 4 && i > 1)) continue;
    const bool is_side = dims.size() >= 4 && i > 1;
    if (is_side || (!whole && dims.size() >= 4))
      dims[i] = is_side ? options_.image.value_or(kUsualSide) : 3;
    else
      dims[i] = options_.sequence.value_or(kUsualLength);
    remark(fmt::format("input {}: dimension {} is open: taken as {}{}", quotable(input.name), i, dims[i],
                       is_side ? " (--image)" : " (--sequence)"));
  }
  OnnxValue value;
  value.dims = dims;
  value.kind = whole ? OnnxValue::Kind::ids : OnnxValue::Kind::flow;
  const double elements = value.elements() / static_cast<double>(batch_);
  if (elements < 1 || elements > kLargestTensor)
    return diagnostics_.report({}, fmt::format("input \"{}\" {} is no tensor of at most 2^40 elements",
                                               input.name.substr(0, 80), list_text(dims)));
  value.result =
      sketch_.input(whole ? NetworkSketch::Sizes{static_cast<std::int64_t>(elements)} : sample(dims), whole);
  values_[input.name] = std::move(value);
}

void OnnxTranslation::report_cycle(const std::vector<int>& waiting) {
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (waiting[i] > 0)
      return refuse(graph_.nodes[i], "waits for itself, by way of other nodes",
                    "a graph must not have a cycle");
  }
}

/// Returns the nodes in an order in which each follows the makers of its inputs (Kahn's algorithm).
std::vector<std::size_t> OnnxTranslation::ordered() {
  std::map<std::string_view, std::size_t> maker;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const std::string& output : graph_.nodes[i].outputs)
      if (!output.empty()) maker[output] = i;
  }
  std::vector<int> waiting(graph_.nodes.size(), 0);
  std::vector<std::vector<std::size_t>> next(graph_.nodes.size());
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const std::string& input : graph_.nodes[i].inputs) {
      const auto made = maker.find(input);
      if (made == maker.end()) {
        if (!input.empty() && !values_.contains(input))
          refuse(graph_.nodes[i], fmt::format("takes \"{}\", which nothing makes", input.substr(0, 80)));
        continue;
      }
      next[made->second].push_back(i);
      ++waiting[i];
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
    if (waiting[i] == 0) order.push_back(i);
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (const std::size_t follower : next[order[k]])
      if (--waiting[follower] == 0) order.push_back(follower);
  }
  if (order.size() < graph_.nodes.size()) report_cycle(waiting);
  // The file's own order is kept where it is topological: exporters write the order of execution.
  std::vector<std::size_t> in_file(graph_.nodes.size());
  for (std::size_t i = 0; i < in_file.size(); ++i) in_file[i] = i;
  const bool is_sorted = std::all_of(in_file.begin(), in_file.end(), [&](std::size_t i) {
    return std::all_of(next[i].begin(), next[i].end(), [i](std::size_t follower) { return follower > i; });
  });
  return is_sorted ? in_file : order;
}

void OnnxTranslation::count_uses() {
  for (const OnnxNode& node : graph_.nodes) {
    for (const std::string& input : node.inputs) ++weight_uses_[input];
  }
}

/// Handles nodes without a flow: folds them, keeps ids, or makes a weight or constant of the largest input.
void OnnxTranslation::visit_fixed(const OnnxNode& node) {
  if (fold_onnx(*this, node)) return;
  if (in(node, 0).kind == OnnxValue::Kind::ids && passes_ids(node.op)) return put(node, in(node, 0));
  OnnxValue value;
  value.kind = OnnxValue::Kind::constant;
  value.dims = given_shape(node.outputs.empty() ? "" : node.outputs[0]);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxValue& from = in(node, i);
    if (from.kind == OnnxValue::Kind::weight) value.kind = from.kind, value.weight = from.weight;
    if (from.kind == OnnxValue::Kind::ids || from.kind == OnnxValue::Kind::whole) {
      if (value.kind == OnnxValue::Kind::constant) value.kind = OnnxValue::Kind::whole;
    }
    if (value.dims.empty() || from.elements() > value.elements()) value.dims = from.dims;
  }
  for (std::size_t output = 0; output < node.outputs.size(); ++output) put(node, value, output);
}

void OnnxTranslation::visit(const OnnxNode& node) {
  bool has_flow = false, has_ids = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    has_flow = has_flow || in(node, i).is_flow();
    has_ids = has_ids || in(node, i).kind == OnnxValue::Kind::ids;
  }
  if (!has_flow && !(has_ids && node.op == "Gather")) {
    if (node.op == "Gather" && in(node, 0).kind == OnnxValue::Kind::weight) return onnx_gather(*this, node);
    return visit_fixed(node);
  }
  if (node.op == "Shape" || node.op == "Size") return void(fold_onnx(*this, node));
  if (const OnnxOperator translate = find_onnx_operator(node.op)) {
    translate(*this, node);
  } else {
    OnnxDims dims = given_shape(node.outputs.empty() ? "" : node.outputs[0]);
    if (dims.empty()) {
      for (std::size_t i = node.inputs.size(); i-- > 0;)
        if (in(node, i).is_flow()) dims = in(node, i).dims;
      remark(fmt::format("{}: its result is taken to have the shape of what it takes", quotable(node.op)));
    }
    put_custom(node, dims);
  }
}

/// Moves a softmax or sigmoid at the end into the loss, which takes the logits before it.
void OnnxTranslation::close_with_loss(const OnnxValue& output) {
  const std::string& body = sketch_.body(output.result);
  const bool softmax = body == "type = \"softmax\"", sigmoid = body == "type = \"sigmoid\"";
  if (!softmax && !sigmoid) return sketch_.loss(as_sample(output), "");
  remark(fmt::format("the {} at the end is part of the loss", softmax ? "softmax" : "sigmoid"));
  sketch_.loss(sketch_.taken_by(output.result), sigmoid ? "bce" : "");
}

void OnnxTranslation::close_outputs() {
  bool is_closed = false;
  for (const OnnxTensor& output : graph_.outputs) {
    const auto found = values_.find(output.name);
    if (found == values_.end() || !found->second.is_flow()) continue;
    if (sketch_.is_input(found->second.result)) continue;
    close_with_loss(found->second);
    is_closed = true;
  }
  if (!is_closed && diagnostics_.empty())
    diagnostics_.report({}, "no output of the graph is made of real numbers that follow from its input",
                        "export the network with its result as an output");
}

void OnnxTranslation::report_shares() {
  const std::vector<bool> needed = sketch_.needed();
  std::map<std::string, int> times;
  double bytes = 0;
  int count = 0;
  for (const Unknown& one : unknown_) {
    if (!needed[one.result]) continue;
    ++times[one.op], ++count, bytes += one.bytes;
  }
  std::string names;
  for (const auto& [op, met] : times)
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", quotable(op),
                         met > 1 ? fmt::format(" ({} times)", met) : "");
  const auto layers = std::count(needed.begin(), needed.end(), true);
  if (count > 0)
    remark(fmt::format(
        "{} of {} layers ({:.1f} %) have no formula and count by their bytes ({:.3g} MB a sample forward): "
        "{}",
        count, layers, 100.0 * count / static_cast<double>(layers), bytes / 1e6, names));
}

std::string OnnxTranslation::text(const std::string& description) {
  open_inputs();
  count_uses();
  if (!diagnostics_.empty()) return "";
  for (const std::size_t i : ordered()) {
    if (diagnostics_.found().size() >= Diagnostics::kMostDiagnostics) break;
    visit(graph_.nodes[i]);
  }
  if (!diagnostics_.empty()) return "";
  close_outputs();
  if (!diagnostics_.empty()) return "";
  report_shares();
  return sketch_.text(description);
}

}  // namespace foretrain
