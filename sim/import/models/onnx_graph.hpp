// An ONNX graph with what its network needs: nodes, shapes, small whole-number tensors; weights are their
// sizes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

using OnnxDims = std::vector<std::int64_t>;

/// Limits of a graph.
inline constexpr std::size_t kMostOnnxNodes = 200'000;
inline constexpr std::size_t kMostOnnxTensors = 500'000;
inline constexpr std::size_t kMostOnnxNames = 1'024;  ///< inputs or outputs of one node
inline constexpr std::size_t kMostOnnxDims = 16;
inline constexpr std::size_t kMostFolded = 64;  ///< elements of a tensor whose values are kept

/// TensorProto.DataType, those that matter.
enum class OnnxType : std::int32_t { unknown = 0, real = 1, int32 = 6, int64 = 7, boolean = 9 };
inline bool is_whole(OnnxType type) {
  return type == OnnxType::int32 || type == OnnxType::int64 || type == OnnxType::boolean;
}

/// A tensor of an ONNX graph: shape, type, and values where they are few.
struct OnnxTensor {
  std::string name;
  OnnxType type = OnnxType::unknown;  ///< every kind of floats is `real`
  OnnxDims dims;                      ///< -1: open
  std::vector<std::int64_t> values;   ///< of whole numbers, or of one real number rounded, where they are few
  bool has_values = false;
  bool is_trained = true;  ///< of an initializer: a parameter, no buffer
  double real = 0;         ///< of a single real number
};

/// An attribute of an ONNX node.
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
  std::vector<std::string> inputs, outputs;  ///< an optional input left out is empty
  std::vector<OnnxAttribute> attributes;

  const OnnxAttribute* find(std::string_view attribute) const;
  std::int64_t number(std::string_view attribute, std::int64_t otherwise) const;
  std::vector<std::int64_t> numbers(std::string_view attribute) const;
};

/// An ONNX file as far as its network needs it.
struct OnnxGraph {
  std::string producer;
  std::int64_t opset = 0;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> weights, inputs, outputs, values;
};

/// Reports where the file breaks off, and what goes beyond the limits.
OnnxGraph read_onnx_graph(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain
