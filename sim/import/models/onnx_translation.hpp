// From the nodes of an ONNX graph to layers: what every name of the graph stands for, and what the functions
// of its operators need to say what they make.
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

/// What a name of the graph stands for.
struct OnnxValue {
  enum class Kind : std::uint8_t {
    none,      ///< not there
    flow,      ///< made of the network's input
    weight,    ///< an initializer of real numbers
    constant,  ///< real numbers that nothing trains
    rows,      ///< rows of a weight, the same for every sample: positions
    whole,     ///< whole numbers: shapes, indices, masks
    ids        ///< whole numbers of a sample: an input of the network
  };
  Kind kind = Kind::none;
  OnnxDims dims;  ///< with the batch
  bool has_numbers = false;
  std::vector<std::int64_t> numbers;  ///< of `whole`, where they are known
  NetworkSketch::Result result = 0;   ///< of flow and ids
  std::string weight;                 ///< of weight and rows: the initializer's name
  std::int64_t entries = 0;           ///< of rows: of the weight
  double real = 0;                    ///< of a single constant

  bool is_flow() const { return kind == Kind::flow; }
  /// Real numbers that are the same for every sample.
  bool is_fixed() const { return kind == Kind::weight || kind == Kind::constant || kind == Kind::rows; }
  double elements() const;
};

/// Translates an ONNX graph into a model file, node by node in topological order.
class OnnxTranslation {
 public:
  OnnxTranslation(const OnnxGraph& graph, const ModelImportOptions& options, Diagnostics& diagnostics,
                  std::vector<std::string>& remarks);

  /// Walks the nodes in an order in which each comes behind what it takes; reports a cycle.
  std::string text(const std::string& description);

  // For the functions of the operators.
  const OnnxValue& in(const OnnxNode& node, std::size_t input) const;
  bool has(const OnnxNode& node, std::size_t input) const {
    return in(node, input).kind != OnnxValue::Kind::none;
  }
  NetworkSketch& sketch() { return sketch_; }
  const OnnxGraph& graph() const { return graph_; }

  /// Sizes of one sample, four at most: the batch's dimension left out, leading ones multiplied.
  NetworkSketch::Sizes sample(const OnnxDims& dims) const;
  std::int64_t batch() const { return batch_; }
  /// A flow in exactly these sizes.
  NetworkSketch::Result as(const OnnxValue& value, const NetworkSketch::Sizes& sizes);
  NetworkSketch::Result as_sample(const OnnxValue& value) { return as(value, sample(value.dims)); }

  /// The node's first output is this result; its sizes may differ from the sample's, the elements not.
  void put(const OnnxNode& node, NetworkSketch::Result result, OnnxDims dims);
  void put(const OnnxNode& node, OnnxValue value, std::size_t output = 0);
  /// ", weights = \"…\"" where several nodes use it.
  std::string shared(const OnnxValue& weight);
  /// The same values under another shape.
  void put_view(const OnnxNode& node, const OnnxValue& value, OnnxDims dims);
  /// Work that has no formula: bytes of what it reads and writes, in the shape of its result.
  void put_custom(const OnnxNode& node, const OnnxDims& dims, double flops_each = 1);
  void refuse(const OnnxNode& node, std::string_view why, std::string hint = "");
  /// Said once, however often it is met.
  void remark(const std::string& what);
  /// The shape that the file itself gives for an output; empty where it gives none.
  OnnxDims given_shape(const std::string& name) const;

 private:
  NetworkSketch::Result joined(std::vector<NetworkSketch::Result> flows);
  std::size_t batch_axis(const OnnxTensor& input) const;
  void open_inputs();
  void open_input(const OnnxTensor& input);
  std::vector<std::size_t> ordered();
  void report_cycle(const std::vector<int>& waiting);
  void visit(const OnnxNode& node);
  void visit_fixed(const OnnxNode& node);
  void close_outputs();
  void close_with_loss(const OnnxValue& output);
  void report_shares();
  void count_uses();

  const OnnxGraph& graph_;
  const ModelImportOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<std::string>& remarks_;
  NetworkSketch sketch_;
  std::map<std::string, OnnxValue, std::less<>> values_;
  std::map<std::string, const OnnxTensor*, std::less<>> shapes_;
  std::map<std::string, int, std::less<>> weight_uses_;
  std::map<std::string, std::string, std::less<>> labels_;
  std::set<std::string> said_;
  struct Unknown {
    NetworkSketch::Result result = 0;
    std::string op;
    double bytes = 0;  ///< of a sample, forward
  };
  std::vector<Unknown> unknown_;
  std::int64_t batch_ = 1;
};

/// What an operator's nodes become.
using OnnxOperator = void (*)(OnnxTranslation& to, const OnnxNode& node);
/// nullptr: none of ours.
OnnxOperator find_onnx_operator(std::string_view op);
/// Whole numbers that follow from known ones: shapes that exporters write out. False where they do not.
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

/// An axis counted from the front; -1 where there is none of that number.
std::int64_t onnx_axis(std::int64_t axis, std::size_t rank);
/// The part from `offset` on, `count` long, along an axis of a flow.
NetworkSketch::Result sliced_along(OnnxTranslation& to, const OnnxValue& value, std::size_t axis,
                                   std::int64_t offset, std::int64_t count);
/// Numpy's rule; empty where the shapes do not go together.
OnnxDims broadcast(const OnnxDims& a, const OnnxDims& b);
double elements_of_dims(const OnnxDims& dims);

/// Norms and activations that exporters write as many nodes become one node each: Gelu, LayerNormalization,
/// RmsNorm, Silu, and Linear of a product with a bias.
void join_onnx_patterns(OnnxGraph& graph);

}  // namespace foretrain
