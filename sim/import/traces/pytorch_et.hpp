// Declares the reader of PyTorch's execution traces (ExecutionTraceObserver), schema 1.0 to 1.1.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/traces/execution_trace.hpp"
#include "sim/import/traces/json_stream.hpp"

namespace foretrain {

/// Inputs or outputs of a call as the file has them.
struct ExecutionTensors {
  /// Lists in JSON: sizes, types such as "Tensor(float)", and values.
  std::string shapes, types, values;
};

/// Returns the sizes of the tensors among the arguments, "f32[4,3] f32[8,3]", of a list of shapes and one of
/// types. Throws InputError where a list is no JSON.
std::string sizes_of(const ExecutionTensors& tensors);

/// Reads the members of an execution trace, for example
///
///   {"schema": "1.1.1", "nodes": [{"id": 5, "name": "aten::addmm", "ctrl_deps": 4, "inputs": {...}, "attrs":
///   [...]}]}
///
/// Nodes without an id are left out and counted. Throws InputError for what is no JSON, and above the limits.
/// All references must outlive the object.
class PytorchEtReader {
 public:
  PytorchEtReader(JsonStream& json, const TraceLimits& limits, ExecutionTrace& trace)
      : json_(json), limits_(limits), trace_(trace) {}

  /// Reads the member "nodes".
  void nodes();
  /// Reads the member "schema".
  void schema();
  /// Sorts the nodes, and notes what was left out.
  void finish();

 private:
  struct Attribute {
    std::string text;
    double number = 0;
    bool is_number = false;
  };
  /// One node while it is read.
  struct RawNode {
    ExecutionNode node;
    std::string name;
    bool has_id = false;
    ExecutionTensors inputs, outputs;
    TraceCollective collective;
  };
  void node();
  void member(std::string_view key, RawNode& raw);
  void tensors(ExecutionTensors& out);
  void attribute(RawNode& raw);
  void keep(RawNode& raw);
  Attribute attribute_value();
  static void use(std::string_view name, const Attribute& value, RawNode& raw);

  JsonStream& json_;
  const TraceLimits& limits_;
  ExecutionTrace& trace_;
  std::size_t without_id_ = 0;
};

/// Adds a complete node, and its collective where it has one. Throws InputError above the limit of nodes.
void keep_node(ExecutionTrace& trace, const TraceLimits& limits, ExecutionNode node,
               const TraceCollective& collective);

}  // namespace foretrain
