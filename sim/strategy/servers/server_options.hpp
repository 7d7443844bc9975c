// The options of strategies with servers.
#pragma once

#include "sim/base/units.hpp"

namespace foretrain {

/// parameter_server and byteps.
struct ServerOptions {
  int servers = 0;                 ///< 0: one per node
  bool dedicated_servers = false;  ///< machines of their own, not the workers' nodes
};

/// Options of training with parameter servers.
struct ParameterServerOptions {
  bool asynchronous = false;  ///< no barrier between workers
  /// A node's gradients are summed on its GPUs, each tensor on one, not by the CPU
  bool server_on_gpu = false;
};

/// Options of BytePS: the size of the partitions in which gradients travel.
struct BytepsOptions {
  Bytes partition_bytes{4'096'000};
};

}  // namespace foretrain
