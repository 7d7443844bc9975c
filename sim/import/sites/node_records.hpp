// Declares the nodes that tables of batch systems list, and how they become the kinds of node of a site.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// One or several equal nodes, as a line or record lists them. 0 and empty: not given.
struct NodeRecord {
  /// Line of the source text, from 1.
  int line = 0;
  /// Names of the nodes.
  std::vector<std::string> hosts{};
  /// Number of nodes, where no name is given.
  std::int64_t count = 0;
  /// GPUs of each node.
  int gpus = 0;
  /// Type in a job's request, such as "a100" in --gres=gpu:a100:4.
  std::string gpu_type{};
  /// Name of the product; empty: the type is it.
  std::string gpu_product{};
  /// Sockets and cores of each node.
  int sockets = 0, cores = 0;
  /// Memory of each node.
  Bytes memory{};
  /// Words by which jobs choose nodes, such as Slurm's --constraint.
  std::vector<std::string> features{};
  /// Partitions or queues that hold the nodes.
  std::vector<Partition> partitions{};
};

/// Names of nodes that are kept, at most; further nodes are counted.
inline constexpr std::size_t kMostHostNames = 100'000;

/// Returns one machine for each kind: records with as many GPUs of the same type. The kind with most GPUs in
/// a node comes first; the others are in Machine::other_kinds, in the order of the text. Nodes without GPUs
/// are left out where others have some, with a remark. Requires at least one record.
Machine machine_of_records(std::vector<NodeRecord> records, const std::string& file, BatchSystem system);

/// Stores the names of the nodes in a list, or their number once `names_left` is used up. Lowers `names_left`
/// by the names stored.
void take_hosts(NodeRecord& record, std::string_view list, std::size_t& names_left);

/// Adds a partition unless its name is empty or known; the first description of a name stays.
void add_partition_once(std::vector<Partition>& partitions, const Partition& partition);

}  // namespace foretrain
