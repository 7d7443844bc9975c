// The optimizer's update on the host: bytes, cores, vector width, sockets (docs/models/offload.md).
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

/// How the ranks of a node update their shares on its cores, all at the same time.
struct HostUpdate {
  double elements = 0;           ///< of one rank
  double bytes_per_element = 0;  ///< that its cores read and write
  int passes = 1;                ///< kernels over all elements; one is the fused Adam
  int ranks = 1;                 ///< of the node
  int threads = 0;               ///< of one rank; 0: every rank starts one for each core of the node
};

/// What an update on the host waits for.
enum class HostBound : std::uint8_t { memory, threads, arithmetic };
/// "the memory of the host", "the threads of a rank", "the arithmetic of its cores".
const char* words_of(HostBound bound);

/// Time of an optimizer update on the CPU, and the resource that bounds it.
struct HostUpdateTime {
  double seconds = 0;
  HostBound bound = HostBound::memory;
};

/// Of one rank; ranks of a node share its memory. A rank's state lies in the memory of one socket.
HostUpdateTime host_update_time(const HostUpdate& update, const Host& host);

/// What the rates of the host rest on: "the memory of 2 x AMD EPYC 7742", or what is assumed.
std::string basis_of_host(const Host& host);

/// Bytes that one pass of a vectorised update reads and writes for each element: gradient read, weight and
/// states read and written, each of `width` bytes.
double fused_host_bytes(const Optimizer& optimizer, double width);
/// The same of PyTorch's loop over tensors, which runs an operator for each term of the formula.
double unfused_host_bytes(const Optimizer& optimizer, double width);
/// Its operators.
int unfused_host_passes(const Optimizer& optimizer);

}  // namespace foretrain
