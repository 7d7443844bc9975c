// What NCCL itself says in a log of NCCL_DEBUG=INFO: version, ranks, nodes, adapters, transports, channels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// An adapter as "[0]mlx5_0:1/IB" names it.
struct NcclAdapter {
  std::string name;
  bool is_ethernet = false;
  friend bool operator==(const NcclAdapter&, const NcclAdapter&) = default;
};

/// Empty and 0: the log does not say it.
struct NcclLog {
  FactPlace place;
  std::string version;    ///< "2.7.8"
  int ranks = 0;          ///< of the largest communicator
  int gpus_per_node = 0;  ///< ranks on a node
  std::string gpus_because;
  int channels = 0;
  std::string network;  ///< "Socket", "IB", "AWS Libfabric"
  int network_line = 0;
  std::string interface;  ///< of the sockets: "ens5"
  bool has_no_infiniband = false;
  std::vector<NcclAdapter> adapters;
  bool has_peer_access = false;  ///< a channel runs through P2P
  friend bool operator==(const NcclLog&, const NcclLog&) = default;
};

NcclLog nccl_log_of(const SourceText& source);

/// Ranks of a node are its GPUs; NCCL names its adapters, and whether it fell back to sockets.
Machine machine_of_nccl_log(const SourceText& source);

/// One sentence of what the log says; empty where it says nothing.
std::string in_words(const NcclLog& log);

}  // namespace foretrain
