// Joins groups of nodes that stand for one operator.
//
// Exporters before opset 17 write a layer norm as nine nodes and a GELU as five. The search starts at the
// most telling node, such as Erf or Sqrt, and follows nodes that nothing else reads. The last node of the
// group becomes the joined operator and takes the group's input. The others then lead nowhere, so the network
// does not contain them. Each search is bounded by the length of its pattern; the whole is O(n log n) for n
// nodes.
#include <map>

#include "sim/import/models/onnx_translation.hpp"

namespace foretrain {

namespace {

/// Indexes the graph by names, then looks for patterns in the order of the file.
class PatternSearch {
 public:
  explicit PatternSearch(OnnxGraph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string& output : graph.nodes[i].outputs) maker_[output] = i;
      for (const std::string& input : graph.nodes[i].inputs) readers_[input].push_back(i);
    }
    // Weights of real numbers with their ranks: patterns ask for vectors and matrices.
    for (const OnnxTensor& weight : graph.weights)
      if (!is_whole(weight.type)) weights_[weight.name] = weight.dims.size();
  }

  /// Tries the patterns at each node that one of them begins with.
  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string& op = graph_.nodes[i].op;
      if (op == "Erf") join_gelu(i);
      if (op == "Sqrt") join_norm(i);
      if (op == "Sigmoid") join_silu(i);
      if (op == "MatMul") join_linear(i);
    }
  }

 private:
  /// No node.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const OnnxNode& node(std::size_t i) const { return graph_.nodes[i]; }
  /// Returns the only reader of a node's only output when it is an `op`, otherwise kNone.
  std::size_t next(std::size_t i, std::string_view op) const {
    if (i == kNone || node(i).outputs.size() != 1) return kNone;
    const auto readers = readers_.find(node(i).outputs[0]);
    if (readers == readers_.end() || readers->second.size() != 1) return kNone;
    return node(readers->second[0]).op == op ? readers->second[0] : kNone;
  }
  /// Returns the node that made an input when it is an `op`, otherwise kNone.
  std::size_t made_by(std::size_t i, std::size_t input, std::string_view op) const {
    if (i == kNone || input >= node(i).inputs.size()) return kNone;
    const auto maker = maker_.find(node(i).inputs[input]);
    return maker == maker_.end() || node(maker->second).op != op ? kNone : maker->second;
  }
  /// Returns the input of a two-input node that `other` did not make, or nullptr where there are not two.
  const std::string* beside(std::size_t i, std::size_t other) const {
    if (node(i).inputs.size() != 2) return nullptr;
    const bool first = node(other).outputs[0] == node(i).inputs[0];
    return &node(i).inputs[first ? 1 : 0];
  }
  /// Returns the trained vector of a two-input node whose other input is made by `other`; nullptr where there
  /// is none.
  const std::string* weight_of(std::size_t i, std::size_t other) const {
    if (i == kNone) return nullptr;
    const std::string* name = beside(i, other);
    const auto found = name == nullptr ? weights_.end() : weights_.find(*name);
    return found == weights_.end() || found->second != 1 ? nullptr : name;
  }
  /// Turns a node into another operator. The indices of the search keep the old edges, which later patterns
  /// do not use.
  void become(std::size_t i, const char* op, std::vector<std::string> inputs) {
    graph_.nodes[i].op = op, graph_.nodes[i].inputs = std::move(inputs), graph_.nodes[i].attributes.clear();
  }

  /// Joins x (1 + erf(x / √2)) / 2, whether the half stands first or last.
  void join_gelu(std::size_t erf) {
    std::size_t scaled = made_by(erf, 0, "Div");
    if (scaled == kNone) scaled = made_by(erf, 0, "Mul");
    const std::size_t sum = next(erf, "Add");
    std::size_t last = next(sum, "Mul");
    if (scaled == kNone || last == kNone || node(scaled).inputs.empty()) return;
    const std::string x = node(scaled).inputs[0];
    if (const std::size_t half = next(last, "Mul"); half != kNone && !takes(half, x)) last = half;
    become(last, "Gelu", {x});
  }
  /// Returns whether a node has an input of this name.
  bool takes(std::size_t i, const std::string& name) const {
    for (const std::string& input : node(i).inputs)
      if (input == name) return true;
    return false;
  }

  /// Joins x * sigmoid(x).
  void join_silu(std::size_t sigmoid) {
    const std::size_t product = next(sigmoid, "Mul");
    if (product == kNone || node(sigmoid).inputs.size() != 1) return;
    const std::string x = node(sigmoid).inputs[0];
    if (takes(product, x)) become(product, "Silu", {x});
  }

  /// Joins the quotient d / sqrt(mean(d^2) + eps) with the weight and, for a layer norm, the bias behind it.
  /// It is a layer norm where d = x - mean(x), an RMS norm where d = x.
  void join_norm(std::size_t root) {
    // Backwards from the root: epsilon, mean, square, and what was squared.
    const std::size_t sum = made_by(root, 0, "Add"), mean = either_mean(sum);
    std::size_t square = made_by(mean, 0, "Pow");
    if (square == kNone) square = made_by(mean, 0, "Mul");
    if (square == kNone || node(square).inputs.empty()) return;
    const std::string d = node(square).inputs[0];
    // Forwards from the root: the quotient, or a product with the reciprocal.
    std::size_t quotient = next(root, "Div");
    if (const std::size_t inverse = next(root, "Reciprocal"); inverse != kNone)
      quotient = next(inverse, "Mul");
    if (quotient == kNone || !takes(quotient, d)) return;
    const std::size_t product = next(quotient, "Mul");
    const std::string* weight = weight_of(product, quotient);
    if (weight == nullptr) return;
    // The squared value tells the kind of norm: a difference to the mean, or the input itself.
    const auto maker = maker_.find(d);
    const bool centred = maker != maker_.end() && node(maker->second).op == "Sub" &&
                         made_by(maker->second, 1, "ReduceMean") != kNone;
    if (!centred) return become(product, "RmsNorm", {d, *weight});
    const std::size_t shift = next(product, "Add");
    const std::string* bias = weight_of(shift, product);
    if (bias != nullptr) become(shift, "LayerNormalization", {node(maker->second).inputs[0], *weight, *bias});
  }
  /// Returns the mean in a sum; the epsilon may stand on either side.
  std::size_t either_mean(std::size_t sum) const {
    const std::size_t first = made_by(sum, 0, "ReduceMean");
    return first != kNone ? first : made_by(sum, 1, "ReduceMean");
  }

  /// Joins a product with a matrix and the sum with a vector: a linear layer with bias.
  void join_linear(std::size_t product) {
    if (node(product).inputs.size() != 2) return;
    const auto matrix = weights_.find(node(product).inputs[1]);
    const std::size_t sum = next(product, "Add");
    const std::string* bias = weight_of(sum, product);
    if (matrix == weights_.end() || matrix->second != 2 || bias == nullptr) return;
    become(sum, "Linear", {node(product).inputs[0], node(product).inputs[1], *bias});
  }

  OnnxGraph& graph_;
  std::map<std::string, std::size_t, std::less<>> maker_, weights_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> readers_;
};

}  // namespace

void join_onnx_patterns(OnnxGraph& graph) { PatternSearch(graph).run(); }

}  // namespace foretrain
