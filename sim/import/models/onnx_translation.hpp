// Declares the translation from the nodes of an ONNX graph to layers: the meaning of each name of the graph,
// and the interface for the functions of its operators.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/models/model_file.hpp"
#include "sim/import/models/network_sketch.hpp"
#include "sim/import/models/onnx_graph.hpp"

namespace foretrain {

/// The meaning of one name of the graph.
/// A value has one of seven kinds. Only `flow` and `ids` depend on the sample.
struct OnnxValue {
  enum class Kind : std::uint8_t {
    /// The name is not defined, or the optional input is not given.
    none,
    /// Real numbers computed from the network's input.
    flow,
    /// An initializer of real numbers, which is trained.
    weight,
    /// Real numbers that nothing trains.
    constant,
    /// Rows of a weight that are the same for every sample: positions.
    rows,
    /// Whole numbers: shapes, indices, masks.
    whole,
    /// Whole numbers of a sample: an input of the network.
    ids
  };
  Kind kind = Kind::none;
  /// Sizes, with the batch.
  OnnxDims dims;
  bool has_numbers = false;
  /// Elements in row-major order, where has_numbers.
  std::vector<std::int64_t> numbers;
  /// The layer that made a flow; the input for ids.
  NetworkSketch::Result result = 0;
  /// Name of the initializer behind a weight or its rows.
  std::string weight;
  /// For rows: the number of rows in the whole weight.
  std::int64_t entries = 0;
  /// The value of a single constant.
  double real = 0;

  /// Returns whether the value depends on the network's input.
  bool is_flow() const { return kind == Kind::flow; }
  /// Returns whether the value is made of real numbers that are the same for every sample.
  bool is_fixed() const { return kind == Kind::weight || kind == Kind::constant || kind == Kind::rows; }
  /// Returns the number of elements, with the batch.
  double elements() const;
};

/// Translates an ONNX graph into a model file, node by node in topological order. An object translates one
/// graph once. All references must outlive it. Problems go to the diagnostics; no function throws.
class OnnxTranslation {
 public:
  OnnxTranslation(const OnnxGraph& graph, const ModelImportOptions& options, Diagnostics& diagnostics,
                  std::vector<std::string>& remarks);

  /// Returns the model file. Each node is visited after the makers of its inputs. Reports a cycle, a name
  /// that nothing makes, and a graph without a usable input or output; the text is empty then.
  std::string text(const std::string& description);

  // The interface for the functions of the operators. `to` is the object, `node` the operator's node.
  /// Returns the value of an input; its kind is `none` where it is not given.
  const OnnxValue& in(const OnnxNode& node, std::size_t input) const;
  /// Returns whether an input is given.
  bool has(const OnnxNode& node, std::size_t input) const {
    return in(node, input).kind != OnnxValue::Kind::none;
  }
  /// Returns the layers so far, to which the functions add.
  NetworkSketch& sketch() { return sketch_; }
  const OnnxGraph& graph() const { return graph_; }

  /// Returns the sizes of one sample, four at most: the batch's dimension is dropped, leading ones are
  /// multiplied together.
  NetworkSketch::Sizes sample(const OnnxDims& dims) const;
  /// Returns the samples in the graph's shapes; 1 where the batch is open.
  std::int64_t batch() const { return batch_; }
  /// Returns a flow in exactly these sizes, which must have as many elements as a sample of it.
  NetworkSketch::Result as(const OnnxValue& value, const NetworkSketch::Sizes& sizes);
  NetworkSketch::Result as_sample(const OnnxValue& value) { return as(value, sample(value.dims)); }

  /// Makes a result the node's first output. The sizes of the result may differ from those of a sample; the
  /// number of elements must not.
  void put(const OnnxNode& node, NetworkSketch::Result result, OnnxDims dims);
  /// Stores an output of the node. Refuses negative sizes, empty flows, and more than 2^40 elements.
  void put(const OnnxNode& node, OnnxValue value, std::size_t output = 0);
  /// Returns ", weights = \"…\"" where several nodes use the weight, so that it is counted once; otherwise
  /// "".
  std::string shared(const OnnxValue& weight);
  /// Makes the node's output the same values in another shape. Refuses another number of elements.
  void put_view(const OnnxNode& node, const OnnxValue& value, OnnxDims dims);
  /// Adds a layer for work that has no formula. It counts the bytes that it reads and writes, and
  /// `flops_each` FLOPs for each element of its result.
  void put_custom(const OnnxNode& node, const OnnxDims& dims, double flops_each = 1);
  /// Reports a node that cannot be translated.
  void refuse(const OnnxNode& node, std::string_view why, std::string hint = "");
  /// Adds a remark once, however often it is met.
  void remark(const std::string& what);
  /// Returns the shape that the file gives for a name; empty where it gives none or leaves a size open.
  OnnxDims given_shape(const std::string& name) const;

 private:
  /// Results side by side, and the axis of an input's batch.
  NetworkSketch::Result joined(std::vector<NetworkSketch::Result> flows);
  std::size_t batch_axis(const OnnxTensor& input) const;
  /// Opening of the inputs, with the sizes that options give.
  void open_inputs();
  void open_input(const OnnxTensor& input);
  /// Order of the nodes, and the report where there is none.
  std::vector<std::size_t> ordered();
  void report_cycle(const std::vector<int>& waiting);
  /// Translation of one node, of any kind or of fixed numbers alone.
  void visit(const OnnxNode& node);
  void visit_fixed(const OnnxNode& node);
  /// Losses at the outputs.
  void close_outputs();
  void close_with_loss(const OnnxValue& output);
  /// Remark about layers without a formula; uses of each weight.
  void report_shares();
  void count_uses();

  const OnnxGraph& graph_;
  const ModelImportOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<std::string>& remarks_;
  NetworkSketch sketch_;
  /// Every name of the graph that is known so far.
  std::map<std::string, OnnxValue, std::less<>> values_;
  /// Shapes that the file gives, by name; the tensors belong to the graph.
  std::map<std::string, const OnnxTensor*, std::less<>> shapes_;
  /// Uses of each name by nodes, and the labels of the weights with more than one.
  std::map<std::string, int, std::less<>> weight_uses_;
  std::map<std::string, std::string, std::less<>> labels_;
  std::set<std::string> said_;
  /// A layer without a formula, for the remark about their share.
  struct Unknown {
    NetworkSketch::Result result = 0;
    std::string op;
    /// Bytes of one sample, forward.
    double bytes = 0;
  };
  std::vector<Unknown> unknown_;
  std::int64_t batch_ = 1;
};

/// Translates one node of an operator.
using OnnxOperator = void (*)(OnnxTranslation& to, const OnnxNode& node);
/// Returns the function for an operator, or nullptr where foretrain has none.
OnnxOperator find_onnx_operator(std::string_view op);
/// Computes whole numbers that follow from known ones, such as shapes that exporters write out. Returns false
/// where the node is no such case.
bool fold_onnx(OnnxTranslation& to, const OnnxNode& node);

// onnx_products.cpp
void onnx_convolution(OnnxTranslation& to, const OnnxNode& node);
void onnx_transposed(OnnxTranslation& to, const OnnxNode& node);
void onnx_gemm(OnnxTranslation& to, const OnnxNode& node);
void onnx_product(OnnxTranslation& to, const OnnxNode& node);
void onnx_dot_product(OnnxTranslation& to, const OnnxNode& node);
void onnx_linear(OnnxTranslation& to, const OnnxNode& node);
void onnx_recurrent(OnnxTranslation& to, const OnnxNode& node);
// onnx_passes.cpp
void onnx_activation(OnnxTranslation& to, const OnnxNode& node);
void onnx_softmax(OnnxTranslation& to, const OnnxNode& node);
void onnx_clip(OnnxTranslation& to, const OnnxNode& node);
void onnx_dropout(OnnxTranslation& to, const OnnxNode& node);
void onnx_norm(OnnxTranslation& to, const OnnxNode& node);
void onnx_lrn(OnnxTranslation& to, const OnnxNode& node);
void onnx_pool(OnnxTranslation& to, const OnnxNode& node);
void onnx_mean(OnnxTranslation& to, const OnnxNode& node);
void onnx_sum(OnnxTranslation& to, const OnnxNode& node);
void onnx_arithmetic(OnnxTranslation& to, const OnnxNode& node);
void onnx_gather(OnnxTranslation& to, const OnnxNode& node);
// onnx_views.cpp
void onnx_reshape(OnnxTranslation& to, const OnnxNode& node);
void onnx_flatten(OnnxTranslation& to, const OnnxNode& node);
void onnx_squeeze(OnnxTranslation& to, const OnnxNode& node);
void onnx_transpose(OnnxTranslation& to, const OnnxNode& node);
void onnx_view(OnnxTranslation& to, const OnnxNode& node);
void onnx_identity(OnnxTranslation& to, const OnnxNode& node);
void onnx_concat(OnnxTranslation& to, const OnnxNode& node);
void onnx_split(OnnxTranslation& to, const OnnxNode& node);
void onnx_slice(OnnxTranslation& to, const OnnxNode& node);
void onnx_resize(OnnxTranslation& to, const OnnxNode& node);
void onnx_expand(OnnxTranslation& to, const OnnxNode& node);

/// Returns an axis counted from the front; -1 where the tensor has no such axis.
std::int64_t onnx_axis(std::int64_t axis, std::size_t rank);
/// Returns the part of a flow that begins at `offset` along an axis and is `count` long.
NetworkSketch::Result sliced_along(OnnxTranslation& to, const OnnxValue& value, std::size_t axis,
                                   std::int64_t offset, std::int64_t count);
/// Returns the shape of two operands by NumPy's rule; empty where they do not match.
OnnxDims broadcast(const OnnxDims& a, const OnnxDims& b);
/// Returns the product of the sizes, as a double so that it cannot overflow.
double elements_of_dims(const OnnxDims& dims);

/// Joins norms and activations that exporters write as many nodes into one node each: Gelu,
/// LayerNormalization, RmsNorm, Silu, and Linear for a product with a bias.
void join_onnx_patterns(OnnxGraph& graph);

}  // namespace foretrain
