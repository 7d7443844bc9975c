// A node of an exported program (torch.export): an operator of aten with its arguments by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/logs/json_value.hpp"
#include "sim/import/models/onnx_graph.hpp"

namespace foretrain {

/// The name of a tensor that stands for a number in an argument.
inline constexpr const char* kAtenScalar = "a number";

/// A node of an exported PyTorch graph, with typed access to its arguments.
class AtenNode {
 public:
  explicit AtenNode(const LogJson& node) : node_(node) {}

  /// "conv2d" of "torch.ops.aten.conv2d.default"; other libraries as they are called.
  std::string operator_name() const;
  std::vector<std::string> outputs() const;
  /// All tensors that it takes, lists flattened.
  std::vector<std::string> tensors() const;
  /// By place or by name; empty, or nothing, where it is not given. A number is kAtenScalar.
  std::string tensor(std::size_t place, std::string_view name) const;
  std::vector<std::int64_t> numbers(std::size_t place, std::string_view name) const;
  std::int64_t number(std::size_t place, std::string_view name, std::int64_t otherwise) const;
  std::string text(std::size_t place, std::string_view name) const;
  bool flag(std::size_t place, std::string_view name) const;

 private:
  const LogJson& argument(std::size_t place, std::string_view name) const;

  const LogJson& node_;
};

/// Appends what stands for the node in a graph of ONNX's operators; shapes of its results are in
/// graph.values.
void append_aten(const AtenNode& node, OnnxGraph& graph);

}  // namespace foretrain
