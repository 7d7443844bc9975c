// PyTorch's execution traces (ExecutionTraceObserver), schema 1.0 to 1.1.
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
  std::string shapes, types, values;  ///< lists in JSON
};

/// Sizes of the tensors among the arguments, "f32[4,3] f32[8,3]", out of a list of shapes and one of types.
std::string sizes_of(const ExecutionTensors& tensors);

/// Reads "nodes" of an execution trace. Nodes without a number are left out and counted.
class PytorchEtReader {
 public:
  PytorchEtReader(JsonStream& json, const TraceLimits& limits, ExecutionTrace& trace)
      : json_(json), limits_(limits), trace_(trace) {}

  void nodes();
  void schema();
  void finish();

 private:
  struct Attribute {
    std::string text;
    double number = 0;
    bool is_number = false;
  };
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

/// Adds a node that is complete: numbers its texts, and its collective.
void keep_node(ExecutionTrace& trace, const TraceLimits& limits, ExecutionNode node,
               const TraceCollective& collective);

}  // namespace foretrain
