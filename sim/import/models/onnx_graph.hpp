// Declares an ONNX graph with what its network needs: nodes, shapes, and small tensors of whole numbers.
// Weights are known by their sizes alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Sizes of a tensor, outermost first; -1: not known.
using OnnxDims = std::vector<std::int64_t>;

/// Limits of a graph. They bound what a damaged or hostile file can make the program hold.
inline constexpr std::size_t kMostOnnxNodes = 200'000;
inline constexpr std::size_t kMostOnnxTensors = 500'000;
/// Inputs or outputs of one node.
inline constexpr std::size_t kMostOnnxNames = 1'024;
inline constexpr std::size_t kMostOnnxDims = 16;
/// Elements of a tensor whose values are kept.
inline constexpr std::size_t kMostFolded = 64;

/// The values of TensorProto.DataType that matter here; all kinds of floating point count as `real`.
enum class OnnxType : std::int32_t { unknown = 0, real = 1, int32 = 6, int64 = 7, boolean = 9 };
/// Returns whether values of this type are whole numbers, which shapes and indices are made of.
inline bool is_whole(OnnxType type) {
  return type == OnnxType::int32 || type == OnnxType::int64 || type == OnnxType::boolean;
}

/// A tensor of an ONNX graph: shape, type, and its values where they are few.
struct OnnxTensor {
  std::string name;
  /// Every kind of floating point is `real`.
  OnnxType type = OnnxType::unknown;
  /// -1: open, as the batch often is.
  OnnxDims dims;
  /// Elements in row-major order where the tensor holds few whole numbers (has_values).
  std::vector<std::int64_t> values;
  bool has_values = false;
  /// For an initializer: whether it is a parameter. A buffer, such as a mean of a batch norm, is not.
  bool is_trained = true;
  /// The value where the tensor is a single real number.
  double real = 0;
};

/// An attribute of an ONNX node. Only the field of its kind is set; the others keep their defaults.
struct OnnxAttribute {
  std::string name, text;
  double real = 0;
  std::int64_t number = 0;
  std::vector<std::int64_t> numbers;
  OnnxTensor tensor;
};

/// A node of an ONNX graph with typed access to its attributes.
struct OnnxNode {
  std::string name, op, domain;
  /// Names of tensors, in the order of the operator. An optional input that is not given is empty.
  std::vector<std::string> inputs, outputs;
  std::vector<OnnxAttribute> attributes;

  /// Returns the attribute of this name, or nullptr; owned by the node.
  const OnnxAttribute* find(std::string_view attribute) const;
  /// Returns a single whole number, or `otherwise` where the node has no such attribute.
  std::int64_t number(std::string_view attribute, std::int64_t otherwise) const;
  /// Returns a list of whole numbers; empty where the node has no such attribute.
  std::vector<std::int64_t> numbers(std::string_view attribute) const;
};

/// An ONNX file, as far as its network needs it.
struct OnnxGraph {
  std::string producer;
  std::int64_t opset = 0;
  std::vector<OnnxNode> nodes;
  /// Initializers, inputs, outputs, and tensors in between whose shape the file gives.
  std::vector<OnnxTensor> weights, inputs, outputs, values;
};

/// Returns the graph of a file. Reports where the file breaks off, and what goes beyond the limits; the graph
/// is not whole then.
OnnxGraph read_onnx_graph(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain
