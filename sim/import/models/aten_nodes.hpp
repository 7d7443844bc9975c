// Declares the reader of one node of an exported program (torch.export) and its translation to ONNX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/logs/json_value.hpp"
#include "sim/import/models/onnx_graph.hpp"

namespace foretrain {

/// Stands for a tensor in the inputs of a node where the argument is a number.
inline constexpr const char* kAtenScalar = "a number";

/// A node of an exported PyTorch graph, with typed access to its arguments. It refers to the JSON node, which
/// must outlive it. No function throws: what is missing or of another type reads as absent.
class AtenNode {
 public:
  explicit AtenNode(const LogJson& node) : node_(node) {}

  /// Returns "conv2d" for "torch.ops.aten.conv2d.default". Operators of other libraries keep their whole
  /// name, cut to 200 bytes.
  std::string operator_name() const;
  /// Returns the names of the tensors that the node makes, in order, at most 1024.
  std::vector<std::string> outputs() const;
  /// Returns the names of all tensors that the node takes, with lists flattened, at most 1024.
  std::vector<std::string> tensors() const;
  /// Returns the tensor argument of this name, or at this place (from 0) where arguments have no names.
  /// Empty: not given. kAtenScalar: the argument is a number.
  std::string tensor(std::size_t place, std::string_view name) const;
  /// Returns a list of whole numbers, at most kMostOnnxDims of them; empty: not given.
  std::vector<std::int64_t> numbers(std::size_t place, std::string_view name) const;
  /// Returns a single whole number; `otherwise` where the argument is missing or is a list.
  std::int64_t number(std::size_t place, std::string_view name, std::int64_t otherwise) const;
  /// Returns a single number, whole or not; `otherwise` where the argument is missing or is no number.
  double real(std::size_t place, std::string_view name, double otherwise) const;
  /// Returns a word such as "same", cut to 40 bytes; empty: not given.
  std::string text(std::size_t place, std::string_view name) const;
  /// Returns true only where the argument is there and true.
  bool flag(std::size_t place, std::string_view name) const;

 private:
  /// Returns the JSON of an argument, or null.
  const LogJson& argument(std::size_t place, std::string_view name) const;

  const LogJson& node_;
};

/// Appends the ONNX nodes that stand for an aten node, at least one. Shapes are not computed here: the caller
/// puts those of the file into graph.values. Never throws; an unknown operator becomes "aten NAME".
void append_aten(const AtenNode& node, OnnxGraph& graph);

}  // namespace foretrain
