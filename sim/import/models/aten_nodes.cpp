// Translates the operators of aten (PyTorch's tensor library) in an exported program to operators of ONNX.
//
// The idea: torch.export and torch.onnx describe the same networks, so one translation to layers serves both.
// Each aten node becomes one or two OnnxNodes, which OnnxTranslation turns into layers later. An operator
// without a counterpart is kept under the name "aten NAME"; such a node counts by the bytes that it moves. A
// node in the file looks like this (shortened):
//
//   {"target": "torch.ops.aten.relu.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name":
//   "x"}}}],
//    "outputs": [{"as_tensor": {"name": "relu"}}]}
#include "sim/import/models/aten_nodes.hpp"

#include <map>

namespace foretrain {

namespace {

/// Tensors of one node that are kept; the limit bounds what a hostile file can make the program hold.
constexpr std::size_t kMostAtenTensors = 1'024;

/// Returns the "name" of a tensor object, cut to 1000 bytes; empty where it has none.
std::string name_at(const LogJson& tensor) {
  const LogJson& name = at(tensor, "name");
  return name.is_string() ? name.get<std::string>().substr(0, 1'000) : "";
}

/// Returns 3 for {"as_int": 3}, for a symbolic size the hint that the exporter wrote, otherwise 0.
std::int64_t integer_of(const LogJson& value) {
  for (const LogJson* one : {&value, &at(value, "as_int"), &at(at(at(value, "as_expr"), "hint"), "as_int")})
    if (one->is_number_integer()) return one->get<std::int64_t>();
  return 0;
}

/// Makes an attribute that can be read as a list and, by its first number, as a single number.
OnnxAttribute attribute(std::string name, std::vector<std::int64_t> numbers) {
  OnnxAttribute out;
  out.name = std::move(name), out.number = numbers.empty() ? 0 : numbers[0], out.numbers = std::move(numbers);
  return out;
}

}  // namespace

/// Finds an argument by its name first. The place counts only where the argument there has no name, because
/// the serializer may leave out arguments that equal their defaults.
const LogJson& AtenNode::argument(std::size_t place, std::string_view name) const {
  const LogJson& inputs = at(node_, "inputs");
  static const LogJson none;
  if (!inputs.is_array()) return none;
  for (const LogJson& input : inputs)
    if (const LogJson& given = at(input, "name");
        given.is_string() && given.get_ref<const std::string&>() == name)
      return at(input, "arg");
  const bool is_named = place < inputs.size() && at(inputs[place], "name").is_string() &&
                        !at(inputs[place], "name").get_ref<const std::string&>().empty();
  return place < inputs.size() && !is_named ? at(inputs[place], "arg") : none;
}

/// Cuts library and overload: "torch.ops.aten.conv2d.default" becomes "conv2d".
std::string AtenNode::operator_name() const {
  const LogJson& target = at(node_, "target");
  const std::string whole = target.is_string() ? target.get<std::string>().substr(0, 200) : "";
  constexpr std::string_view kAten = "torch.ops.aten.";
  if (!whole.starts_with(kAten)) return whole;
  return whole.substr(kAten.size(), whole.find('.', kAten.size()) - kAten.size());
}

/// An output is one tensor, or a list of them (split, chunk).
std::vector<std::string> AtenNode::outputs() const {
  std::vector<std::string> names;
  const LogJson& outputs = at(node_, "outputs");
  if (!outputs.is_array()) return names;
  for (const LogJson& output : outputs) {
    const auto keep = [&](const LogJson& tensor) {
      if (names.size() < kMostAtenTensors) names.push_back(name_at(tensor));
    };
    if (const LogJson& list = at(output, "as_tensors"); list.is_array())
      for (const LogJson& one : list) keep(one);
    else
      keep(at(output, "as_tensor"));
  }
  return names;
}

/// Lists of tensors are those of cat and of indexing.
std::vector<std::string> AtenNode::tensors() const {
  std::vector<std::string> names;
  const LogJson& inputs = at(node_, "inputs");
  if (!inputs.is_array()) return names;
  for (const LogJson& input : inputs) {
    const LogJson& given = at(input, "arg");
    if (const std::string name = name_at(at(given, "as_tensor")); !name.empty()) names.push_back(name);
    for (const char* key : {"as_tensors", "as_optional_tensors"}) {
      const LogJson& list = at(given, key);
      if (!list.is_array()) continue;
      for (const LogJson& one : list) {
        // A list of optional tensors wraps each tensor once more; a list of tensors does not.
        const std::string name = name_at(at(one, "as_tensor").is_null() ? one : at(one, "as_tensor"));
        if (!name.empty() && names.size() < kMostAtenTensors) names.push_back(name);
      }
    }
  }
  return names;
}

// A number in place of a tensor gets a name of its own, so that the node keeps the number of its inputs.
std::string AtenNode::tensor(std::size_t place, std::string_view name) const {
  const LogJson& given = argument(place, name);
  for (const char* key : {"as_int", "as_float", "as_bool", "as_sym_int"})
    if (!at(given, key).is_null()) return kAtenScalar;
  return name_at(at(given, "as_tensor"));
}

/// Sizes are plain (as_ints) or symbolic (as_sym_ints); a single number counts as a list of one. More numbers
/// than a tensor may have dimensions are cut.
std::vector<std::int64_t> AtenNode::numbers(std::size_t place, std::string_view name) const {
  const LogJson& given = argument(place, name);
  std::vector<std::int64_t> out;
  for (const char* key : {"as_ints", "as_sym_ints"}) {
    const LogJson& list = at(given, key);
    if (!list.is_array()) continue;
    for (const LogJson& one : list)
      if (out.size() < kMostOnnxDims) out.push_back(integer_of(one));
  }
  if (out.empty() && (at(given, "as_int").is_number_integer())) out.push_back(integer_of(given));
  return out;
}

/// A list of several numbers has no single value.
std::int64_t AtenNode::number(std::size_t place, std::string_view name, std::int64_t otherwise) const {
  const std::vector<std::int64_t> all = numbers(place, name);
  return all.size() == 1 ? all[0] : otherwise;
}

double AtenNode::real(std::size_t place, std::string_view name, double otherwise) const {
  const LogJson& given = argument(place, name);
  for (const char* key : {"as_float", "as_int"})
    if (at(given, key).is_number()) return at(given, key).get<double>();
  return otherwise;
}

std::string AtenNode::text(std::size_t place, std::string_view name) const {
  const LogJson& word = at(argument(place, name), "as_string");
  return word.is_string() ? word.get<std::string>().substr(0, 40) : "";
}

bool AtenNode::flag(std::size_t place, std::string_view name) const {
  const LogJson& value = at(argument(place, name), "as_bool");
  return value.is_boolean() && value.get<bool>();
}

namespace {

/// The translation of one node. It appends to the graph and reads nothing that earlier nodes left there.
class AtenTranslation {
 public:
  AtenTranslation(const AtenNode& from, OnnxGraph& graph)
      : from_(from), graph_(graph), name_(from.operator_name()) {}

  /// Looks the operator up among those with arguments of their own, otherwise takes it for a plain one.
  void run() {
    using Function = void (AtenTranslation::*)();
    // Operators whose arguments have to be turned into attributes or other inputs.
    static const std::map<std::string_view, Function> rows{
        {"conv1d", &AtenTranslation::convolution},
        {"conv2d", &AtenTranslation::convolution},
        {"conv3d", &AtenTranslation::convolution},
        {"convolution", &AtenTranslation::any_convolution},
        {"addmm", &AtenTranslation::addmm},
        {"linear", &AtenTranslation::linear},
        {"layer_norm", &AtenTranslation::layer_norm},
        {"native_layer_norm", &AtenTranslation::layer_norm},
        {"group_norm", &AtenTranslation::group_norm},
        {"cat", &AtenTranslation::concat},
        {"max_pool2d", &AtenTranslation::pool},
        {"max_pool2d_with_indices", &AtenTranslation::pool},
        {"avg_pool2d", &AtenTranslation::pool},
        {"mean", &AtenTranslation::mean},
        {"adaptive_avg_pool2d", &AtenTranslation::adaptive_pool},
        {"_adaptive_avg_pool2d", &AtenTranslation::adaptive_pool},
        {"slice", &AtenTranslation::slice},
        {"select", &AtenTranslation::select},
        {"split", &AtenTranslation::split},
        {"split_with_sizes", &AtenTranslation::split},
        {"chunk", &AtenTranslation::split},
        {"rsqrt", &AtenTranslation::inverse_root},
        {"hardtanh", &AtenTranslation::hardtanh},
        {"hardtanh_", &AtenTranslation::hardtanh}};
    if (const auto found = rows.find(name_); found != rows.end()) return (this->*found->second)();
    plain();
  }

 private:
  /// Appends an ONNX node with the outputs of the aten node. The reference holds until the next call.
  OnnxNode& put(std::string op, std::vector<std::string> inputs, std::vector<OnnxAttribute> attributes = {}) {
    OnnxNode node;
    const std::vector<std::string> outputs = from_.outputs();
    node.name = outputs.empty() ? name_ : outputs[0];
    node.op = std::move(op), node.inputs = std::move(inputs), node.outputs = outputs;
    node.attributes = std::move(attributes);
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back();
  }

  /// Translates operators that differ by name alone, and those that only give a tensor another shape.
  void plain() {
    // The same operator by another name; the underline at the end means in place.
    static const std::map<std::string_view, const char*> same{
        {"relu", "Relu"},
        {"relu_", "Relu"},
        {"gelu", "Gelu"},
        {"silu", "Silu"},
        {"silu_", "Silu"},
        {"sigmoid", "Sigmoid"},
        {"tanh", "Tanh"},
        {"hardswish", "HardSwish"},
        {"hardswish_", "HardSwish"},
        {"hardsigmoid", "HardSigmoid"},
        {"leaky_relu", "LeakyRelu"},
        {"leaky_relu_", "LeakyRelu"},
        {"elu", "Elu"},
        {"softplus", "Softplus"},
        {"mish", "Mish"},
        {"sqrt", "Sqrt"},
        {"exp", "Exp"},
        {"log", "Log"},
        {"neg", "Neg"},
        {"abs", "Abs"},
        {"reciprocal", "Reciprocal"},
        {"pow", "Pow"},
        {"add", "Add"},
        {"add_", "Add"},
        {"sub", "Sub"},
        {"mul", "Mul"},
        {"mul_", "Mul"},
        {"div", "Div"},
        {"mm", "MatMul"},
        {"matmul", "MatMul"},
        {"bmm", "MatMul"},
        {"softmax", "Softmax"},
        {"_softmax", "Softmax"},
        {"log_softmax", "Softmax"},
        {"_log_softmax", "Softmax"},
        {"dropout", "Dropout"},
        {"native_dropout", "Dropout"},
        {"batch_norm", "BatchNormalization"},
        {"_native_batch_norm_legit", "BatchNormalization"},
        {"native_batch_norm", "BatchNormalization"},
        {"_native_batch_norm_legit_functional", "BatchNormalization"},
        {"instance_norm", "InstanceNormalization"},
        {"_native_batch_norm_legit_no_training", "BatchNormalization"},
        {"embedding", "Gather"},
        {"upsample_nearest2d", "Resize"},
        {"upsample_bilinear2d", "Resize"},
        {"sum", "aten sum"},
        {"scaled_dot_product_attention", "ScaledDotProduct"}};
    // Views and copies of a type: the operator moves nothing in the model, so its first tensor passes on.
    static const std::map<std::string_view, const char*> views{
        {"view", ""},     {"_unsafe_view", ""}, {"reshape", ""},   {"flatten", ""}, {"unsqueeze", ""},
        {"squeeze", ""},  {"permute", ""},      {"transpose", ""}, {"t", ""},       {"contiguous", ""},
        {"clone", ""},    {"alias", ""},        {"detach", ""},    {"detach_", ""}, {"to", ""},
        {"_to_copy", ""}, {"unflatten", ""},    {"expand", ""},    {"type_as", ""}, {"lift_fresh_copy", ""}};
    std::vector<std::string> inputs = from_.tensors();
    if (views.contains(name_) && !inputs.empty()) return void(put("View", {inputs[0]}));
    const auto found = same.find(name_);
    if (found == same.end()) return void(put("aten " + name_, std::move(inputs)));
    const std::string op = found->second;
    // A sum with a number, x + 2, has one tensor: the number stands for the second input.
    const bool is_pair = op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow";
    if (is_pair && inputs.size() == 1) inputs.emplace_back(kAtenScalar);
    put(op, std::move(inputs));
  }

  /// Appends a convolution. aten gives one padding per dimension, ONNX one for each of both ends.
  void put_convolution(const std::vector<std::int64_t>& stride, const std::vector<std::int64_t>& padding,
                       const std::string& word, const std::vector<std::int64_t>& dilation,
                       std::int64_t groups, const char* op) {
    std::vector<std::int64_t> pads = padding;
    pads.insert(pads.end(), padding.begin(), padding.end());
    OnnxNode& node = put(op, {from_.tensor(0, "input"), from_.tensor(1, "weight"), from_.tensor(2, "bias")},
                         {attribute("strides", stride), attribute("pads", pads),
                          attribute("dilations", dilation), attribute("group", {groups})});
    if (node.inputs[2].empty()) node.inputs.pop_back();
    if (word != "same") return;
    OnnxAttribute same;
    same.name = "auto_pad", same.text = "SAME_UPPER";
    node.attributes.push_back(same);
  }
  /// Reads conv1d, conv2d and conv3d; padding may be the word "same".
  void convolution() {
    put_convolution(from_.numbers(3, "stride"), from_.numbers(4, "padding"), from_.text(4, "padding"),
                    from_.numbers(5, "dilation"), from_.number(6, "groups", 1), "Conv");
  }
  /// Reads the general convolution, which also describes transposed ones by a flag.
  void any_convolution() {
    const bool transposed = from_.flag(6, "transposed");
    put_convolution(from_.numbers(3, "stride"), from_.numbers(4, "padding"), "", from_.numbers(5, "dilation"),
                    from_.number(8, "groups", 1), transposed ? "ConvTranspose" : "Conv");
    if (transposed)
      graph_.nodes.back().attributes.push_back(
          attribute("output_padding", from_.numbers(7, "output_padding")));
  }
  /// addmm(bias, a, b) is bias + a x b: Gemm takes the bias last.
  void addmm() { put("Gemm", {from_.tensor(1, "mat1"), from_.tensor(2, "mat2"), from_.tensor(0, "self")}); }
  /// The weight of linear has its outputs in front: Gemm multiplies with its transpose.
  void linear() {
    std::vector<std::string> inputs{from_.tensor(0, "input"), from_.tensor(1, "weight"),
                                    from_.tensor(2, "bias")};
    if (inputs[2].empty()) inputs.pop_back();
    put("Gemm", std::move(inputs), {attribute("transB", {1})});
  }
  /// Norms have the weight behind the sizes that they normalise.
  void layer_norm() {
    put("LayerNormalization", {from_.tensor(0, "input"), from_.tensor(2, "weight"), from_.tensor(3, "bias")});
  }
  void group_norm() {
    put("GroupNormalization", {from_.tensor(0, "input"), from_.tensor(2, "weight"), from_.tensor(3, "bias")},
        {attribute("num_groups", {from_.number(1, "num_groups", 1)})});
  }
  void concat() { put("Concat", from_.tensors(), {attribute("axis", {from_.number(1, "dim", 0)})}); }
  /// Reads pooling. One number stands for both sides; without a stride the stride is the kernel.
  void pool() {
    const auto both = [](std::vector<std::int64_t> numbers) {
      if (numbers.size() == 1) numbers.push_back(numbers[0]);
      return numbers;
    };
    const std::vector<std::int64_t> kernel = both(from_.numbers(1, "kernel_size"));
    std::vector<std::int64_t> stride = both(from_.numbers(2, "stride")),
                              pads = both(from_.numbers(3, "padding"));
    if (stride.empty()) stride = kernel;
    pads.resize(2, 0);
    pads.insert(pads.end(), {pads[0], pads[1]});
    const bool is_max = name_.starts_with("max");
    const bool ceil = from_.flag(is_max ? 5 : 4, "ceil_mode");
    put(is_max ? "MaxPool" : "AveragePool", {from_.tensor(0, "self")},
        {attribute("kernel_shape", kernel), attribute("strides", stride), attribute("pads", pads),
         attribute("ceil_mode", {ceil ? 1 : 0})});
  }
  /// Pooling to one element is a global pool; other sizes have no counterpart in ONNX.
  void adaptive_pool() {
    const std::vector<std::int64_t> out = from_.numbers(1, "output_size");
    const bool is_one = out == std::vector<std::int64_t>{1, 1} || out == std::vector<std::int64_t>{1};
    put(is_one ? "GlobalAveragePool" : "AdaptivePool", {from_.tensor(0, "self")});
  }
  /// Axes and keepdim keep their meaning; only their names differ.
  void mean() {
    put("ReduceMean", {from_.tensor(0, "self")},
        {attribute("axes", from_.numbers(1, "dim")),
         attribute("keepdims", {from_.flag(2, "keepdim") ? 1 : 0})});
  }
  /// A slice without an end runs to the end of the dimension.
  void slice() {
    put("Slice", {from_.tensor(0, "self")},
        {attribute("axes", {from_.number(1, "dim", 0)}), attribute("starts", {from_.number(2, "start", 0)}),
         attribute("ends", {from_.number(3, "end", INT64_MAX)})});
    // Slices with a step have no counterpart in the model and keep their own name.
    if (from_.number(4, "step", 1) != 1) graph_.nodes.back().op = "aten slice";
  }
  /// Writes select as a slice of one element and a view that drops the dimension of it.
  void select() {
    const std::int64_t index = from_.number(2, "index", 0);
    OnnxNode& part = put("Slice", {from_.tensor(0, "self")},
                         {attribute("axes", {from_.number(1, "dim", 0)}), attribute("starts", {index}),
                          attribute("ends", {index == -1 ? INT64_MAX : index + 1})});
    part.outputs = {part.name + " (part)"};
    const std::string whole = part.outputs[0];
    put("View", {whole});
  }
  /// Reads split and chunk; sizes are passed on where the node lists several.
  void split() {
    const std::int64_t dim = from_.number(2, "dim", 0);
    put("Split", {from_.tensor(0, "self")}, {attribute("axis", {dim})});
    const std::vector<std::int64_t> sizes = from_.numbers(1, "split_sizes");
    if (sizes.size() > 1) graph_.nodes.back().attributes.push_back(attribute("split", sizes));
  }
  /// rsqrt has no operator in ONNX: a root and a reciprocal, as exporters write it.
  void inverse_root() {
    OnnxNode& root = put("Sqrt", {from_.tensor(0, "self")});
    root.outputs = {root.name + " (root)"};
    const std::string made = root.outputs[0];
    put("Reciprocal", {made});
  }
  /// hardtanh(x, min_val = -1, max_val = 1). PyTorch exports ReLU6 as one with an upper bound of 6.
  void hardtanh() {
    OnnxAttribute most{
        .name = "max", .text = {}, .real = from_.real(2, "max_val", 1), .numbers = {}, .tensor = {}};
    put("Clip", {from_.tensor(0, "self")}, {most});
  }

  const AtenNode& from_;
  OnnxGraph& graph_;
  std::string name_;
};

}  // namespace

/// Each node is translated by itself, so the cost is linear in the nodes.
void append_aten(const AtenNode& node, OnnxGraph& graph) { AtenTranslation(node, graph).run(); }

}  // namespace foretrain
