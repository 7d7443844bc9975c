// Declares what NCCL itself tells in a log with NCCL_DEBUG=INFO: version, ranks, nodes, adapters, transports,
// and channels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// An adapter as "[0]mlx5_0:1/IB" names it.
struct NcclAdapter {
  std::string name;
  /// The port runs RoCE.
  bool is_ethernet = false;
  friend bool operator==(const NcclAdapter&, const NcclAdapter&) = default;
};

/// The facts of a log. Empty and 0: the log does not have them.
struct NcclLog {
  /// First line of NCCL in the text.
  FactPlace place;
  /// Version, such as "2.7.8".
  std::string version;
  /// Ranks of the largest communicator.
  int ranks = 0;
  /// Ranks on one node.
  int gpus_per_node = 0;
  /// Reason for gpus_per_node, for users.
  std::string gpus_because;
  /// Channels of the largest communicator.
  int channels = 0;
  /// Network as NCCL names it: "Socket", "IB", "AWS Libfabric".
  std::string network;
  int network_line = 0;
  /// Interface of the sockets, such as "ens5".
  std::string interface;
  bool has_no_infiniband = false;
  std::vector<NcclAdapter> adapters;
  /// A channel runs through P2P.
  bool has_peer_access = false;
  friend bool operator==(const NcclLog&, const NcclLog&) = default;
};

/// Returns the facts of a log; all empty where a text has no line of NCCL.
NcclLog nccl_log_of(const SourceText& source);

/// Returns the machine that the log tells of: the ranks of a node are its GPUs; adapters, or the interface
/// where NCCL fell back to sockets.
Machine machine_of_nccl_log(const SourceText& source);

/// Returns one sentence with the facts; empty where there are none.
std::string in_words(const NcclLog& log);

}  // namespace foretrain
