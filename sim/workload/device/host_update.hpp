// The optimizer's update on the host, from bytes, cores, vector width and sockets (docs/models/memory.md).
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

/// An update in which all ranks of a node step their shares on its cores at the same time.
struct HostUpdate {
  double elements = 0;           ///< elements of one rank
  double bytes_per_element = 0;  ///< bytes that its cores read and write
  int passes = 1;                ///< kernels over all elements; one is the fused Adam
  int ranks = 1;                 ///< ranks of the node
  int threads = 0;               ///< threads of one rank; 0: every rank starts one for each core of the node
};

/// The resource that an update on the host waits for.
enum class HostBound : std::uint8_t { memory, threads, arithmetic };
/// Returns the resource in words: "the memory of the host", "the threads of a rank", "the arithmetic of the
/// host's cores".
const char* words_of(HostBound bound);

/// Time of an optimizer update on the CPU, and the resource that bounds it.
struct HostUpdateTime {
  double seconds = 0;
  HostBound bound = HostBound::memory;
};

/// Returns the time of one rank. Ranks of a node share its memory; a rank's state lies in the memory of one
/// socket.
HostUpdateTime host_update_time(const HostUpdate& update, const Host& host);

/// Returns the basis of the host's rates: "2 x AMD EPYC 7742 of the catalog, …", or what is assumed.
std::string basis_of_host(const Host& host);

/// Returns the bytes that one pass of a vectorised update reads and writes for each element. The gradient is
/// read, weight and states are read and written, each of `width` bytes.
double fused_host_bytes(const Optimizer& optimizer, double width);
/// Returns the same for PyTorch's loop over tensors, which runs an operator for each term of the formula.
double unfused_host_bytes(const Optimizer& optimizer, double width);
/// Returns the number of operators of that loop.
int unfused_host_passes(const Optimizer& optimizer);

}  // namespace foretrain
