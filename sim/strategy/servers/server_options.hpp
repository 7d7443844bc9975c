// Options of strategies with servers.
#pragma once

#include "sim/base/units.hpp"

namespace foretrain {

/// Options of parameter_server and byteps.
struct ServerOptions {
  /// Number of server processes; 0: one per node.
  int servers = 0;
  /// Servers have machines of their own, not the workers' nodes.
  bool dedicated_servers = false;
};

/// Options of training with parameter servers.
struct ParameterServerOptions {
  /// Workers do not wait for each other.
  bool asynchronous = false;
  /// A node's gradients are summed on its GPUs, each tensor on one, not by the CPU.
  bool server_on_gpu = false;
};

/// Options of BytePS: the size of the partitions in which gradients travel.
struct BytepsOptions {
  /// BYTEPS_PARTITION_BYTES; larger gradients are cut.
  Bytes partition_bytes{4'096'000};
};

}  // namespace foretrain
