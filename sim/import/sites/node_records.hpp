// Nodes as the tables of batch systems list them, gathered into the kinds of node that a site has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// A line or record of one or several nodes that are alike. 0 and empty: not said.
struct NodeRecord {
  int line = 0;
  std::vector<std::string> hosts{};  ///< names of the nodes
  std::int64_t count = 0;            ///< of nodes, where no host is named
  int gpus = 0;                      ///< of each
  std::string gpu_type{};            ///< the word by which jobs ask for them
  std::string gpu_product{};         ///< what names the product; empty: the type does
  int sockets = 0, cores = 0;        ///< of each
  Bytes memory{};                    ///< of each
  std::vector<std::string> features{};
  std::vector<Partition> partitions{};
};

/// Most names of nodes that are told apart.
inline constexpr std::size_t kMostHostNames = 100'000;

/// One machine for each kind: records with as many GPUs of the same type. The first is the kind with most
/// GPUs in a node, with the others in Machine::other_kinds in the order of the text. Nodes without GPUs are
/// left out where others have some, with a remark. Requires a record.
Machine machine_of_records(std::vector<NodeRecord> records, const std::string& file, BatchSystem system);

/// Names the record's nodes, or counts them once `names_left` is used up.
void take_hosts(NodeRecord& record, std::string_view list, std::size_t& names_left);

/// Adds a partition by its name; a name that is known keeps what was said first.
void add_partition_once(std::vector<Partition>& partitions, const Partition& partition);

}  // namespace foretrain
