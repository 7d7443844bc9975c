// Writes Chakra traces. Protocol Buffers are encoded here: a field is its number and wire type, followed by a
// varint or by a length and bytes.
//
// Chakra has collectives as nodes, so they stay whole, and the other simulator decides how they run.
#include "sim/report/simulators/chakra.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

// Field numbers of et_def.proto (MLCommons Chakra, schema 0.0.4).
enum MetadataField : std::uint32_t { kMetadataVersion = 1, kMetadataAttribute = 2 };
enum NodeField : std::uint32_t {
  kNodeId = 1,
  kNodeName = 2,
  kNodeType = 3,
  kNodeDataDeps = 5,
  kNodeStart = 6,
  kNodeDuration = 7,
  kNodeAttribute = 10
};
enum AttributeField : std::uint32_t { kName = 1, kInt64 = 9, kBool = 27, kString = 29 };
enum NodeType : std::uint64_t { kComputation = 4, kCollective = 7 };

// Encodes one message of Protocol Buffers.
class ProtoWriter {
 public:
  /// Adds a field with a varint (wire type 0).
  void number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  /// Adds a field with bytes (wire type 2).
  void bytes(std::uint32_t field, std::string_view text) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(text.size());
    out_ += text;
  }
  /// Adds a message that stands alone, with its length before it.
  void message(const std::string& text) {
    varint(text.size());
    out_ += text;
  }
  /// Adds a number in groups of 7 bits, lowest first; the high bit of a byte means that more follow.
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>((value & 0x7f) | 0x80);
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// Returns an AttributeProto with a number.
std::string attribute(std::string_view name, std::uint32_t field, std::uint64_t value) {
  ProtoWriter out;
  out.bytes(kName, name);
  out.number(field, value);
  return out.take();
}

/// Returns an AttributeProto with a text.
std::string text_attribute(std::string_view name, std::string_view value) {
  ProtoWriter out;
  out.bytes(kName, name);
  out.bytes(kString, value);
  return out.take();
}

/// Returns the CollectiveCommType of Chakra. Sends and receives between neighbours become an all-to-all.
std::uint64_t comm_type(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return 0;
    case CollectiveOp::reduce:
      return 1;
    case CollectiveOp::all_gather:
      return 2;
    case CollectiveOp::gather:
      return 3;
    case CollectiveOp::scatter:
      return 4;
    case CollectiveOp::broadcast:
      return 5;
    case CollectiveOp::alltoall:
    case CollectiveOp::sendrecv:
      return 6;
    case CollectiveOp::reduce_scatter:
      return 7;
  }
  return 0;
}

/// Returns the size of a message in Chakra's sense, which is what one rank contributes. The size here counts
/// the parts of all ranks of a gather.
std::int64_t comm_size(const ExportedMessage& message, std::size_t ranks) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, ranks));
  const bool of_parts = message.op == CollectiveOp::all_gather || message.op == CollectiveOp::gather;
  return of_parts ? message.size.count / count : message.size.count;
}

/// Returns the number of a rank's group. Groups are numbered from 1: first those within nodes, then those
/// across nodes, in the order of their first ranks.
int number_of_group(const ExportedSteps& steps, Group group, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  if (group == Group::node) return steps.node_of_rank[at] + 1;
  return *std::ranges::max_element(steps.node_of_rank) + steps.place_of_rank[at] + 2;
}

// Writes the file of one rank.
class ChakraWriter {
 public:
  ChakraWriter(const ExportedSteps& steps, int rank) : steps_(steps), rank_(rank) {
    rest_.assign(steps.queues.size(), 0);
  }

  /// Returns the file: metadata, then all nodes.
  std::string write() {
    ProtoWriter metadata;
    metadata.bytes(kMetadataVersion, "0.0.4");
    metadata.bytes(kMetadataAttribute, text_attribute("schema", "1.1.0-chakra.0.0.4"));
    metadata.bytes(kMetadataAttribute, text_attribute("workload", printable(steps_.name)));
    ProtoWriter out;
    out.message(metadata.take());
    for (std::size_t id = 0; id < steps_.nodes.size(); ++id) out.message(node(id));
    return out.take();
  }

 private:
  /// Returns one node. Ids count from 1; start and duration are in microseconds.
  std::string node(std::size_t id) {
    const ExportedNode& node = steps_.nodes[id];
    ProtoWriter out;
    out.number(kNodeId, id + 1);
    out.bytes(kNodeName, name_of_node(node));
    out.number(kNodeType, node.message ? kCollective : kComputation);
    if (!node.after.empty()) {
      ProtoWriter before;
      for (const ExportedDependency& task : node.after) before.varint(std::uint64_t{task.node} + 1);
      out.bytes(kNodeDataDeps, before.take());
    }
    out.number(kNodeStart, static_cast<std::uint64_t>(node.start.count() / 1'000'000));
    out.number(kNodeDuration, static_cast<std::uint64_t>(microseconds(node)));
    out.bytes(kNodeAttribute,
              attribute("is_cpu_op", kBool, node.kind == TaskKind::host || node.kind == TaskKind::wait));
    if (node.message) add_message(*node.message, out);
    return out.take();
  }

  /// Adds the attributes of a collective. The group is named unless it is all ranks.
  void add_message(const ExportedMessage& message, ProtoWriter& out) const {
    const std::size_t ranks = group_of(steps_, message.among, rank_).size();
    out.bytes(kNodeAttribute, attribute("comm_type", kInt64, comm_type(message.op)));
    out.bytes(kNodeAttribute,
              attribute("comm_size", kInt64, static_cast<std::uint64_t>(comm_size(message, ranks))));
    if (message.among != Group::world)
      out.bytes(kNodeAttribute,
                text_attribute("pg_name", std::to_string(number_of_group(steps_, message.among, rank_))));
  }

  /// Returns the label of the node, or the name of its queue.
  std::string name_of_node(const ExportedNode& node) const {
    const std::string label = printable(node.label);
    return label.empty() ? printable(steps_.queues[node.queue]) : label;
  }

  /// Returns the duration in whole microseconds. The rest is carried over, so that the sum over a queue is
  /// right to one microsecond.
  std::int64_t microseconds(const ExportedNode& node) {
    std::int64_t& rest = rest_[node.queue];
    rest += node.duration.count();
    const std::int64_t whole = rest / 1'000'000;
    rest -= whole * 1'000'000;
    return whole;
  }

  const ExportedSteps& steps_;
  int rank_;
  std::vector<std::int64_t> rest_;
};

}  // namespace

std::string write_chakra(const ExportedSteps& steps, int rank) { return ChakraWriter(steps, rank).write(); }

std::string write_chakra_groups(const ExportedSteps& steps) {
  std::map<int, std::vector<int>> groups;
  for (const Group group : {Group::node, Group::across}) {
    const auto is_used = [group](const ExportedNode& node) {
      return node.message && node.message->among == group;
    };
    if (std::ranges::none_of(steps.nodes, is_used)) continue;
    for (int rank = 0; rank < steps.ranks(); ++rank)
      groups[number_of_group(steps, group, rank)].push_back(rank);
  }
  std::vector<std::string> rows;
  for (const auto& [number, ranks] : groups)
    rows.push_back(fmt::format("  \"{}\": [{}]", number, fmt::join(ranks, ", ")));
  return rows.empty() ? "" : fmt::format("{{\n{}\n}}\n", fmt::join(rows, ",\n"));
}

}  // namespace foretrain
