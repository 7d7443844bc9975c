// How many of its channels and threads NCCL really runs for a message, and in what pieces it sends it.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain::nccl {

/// What the rules depend on. Settings of 0 mean NCCL's own value.
struct RunSetting {
  Version version{};
  int ranks = 1, nodes = 1;
  int channels = 1;  ///< the communicator's
  int nvls_channels = 0;
  int heads = 1;          ///< GPUs of a node that talk to the network or the switch: CollNetDirect, NVLS
  double ring_gbps = 0;   ///< search channels x speed inside a node, of the ring graph
  double nvls_algbw = 0;  ///< forecast of NVLS all-reduce, GB/s
  bool arm_host = false;
  int simple_threads = 0;          ///< NCCL_NTHREADS
  int ll128_threads = 0;           ///< NCCL_LL128_NTHREADS
  std::int64_t simple_buffer = 0;  ///< NCCL_BUFFSIZE
  int ranks_per_node() const { return nodes > 0 ? ranks / nodes : ranks; }
};

/// Thread blocks and threads of each.
struct RunShape {
  int channels = 1, threads = 512;
  friend bool operator==(const RunShape&, const RunShape&) = default;
};

/// src/enqueue.cc; docs/sources/nccl_tuning.md 2. `bytes` as nccl-tests prints them. Requires is_tuned(op),
/// bytes >= 0.
RunShape run_shape(const RunSetting& setting, CollectiveOp op, Algorithm algorithm, Protocol protocol,
                   std::int64_t bytes);

/// Pieces of one channel's work. A loop moves one chunk on every edge and step; the last loop's chunk is
/// smaller.
struct ChunkShape {
  std::int64_t chunk = 0;  ///< data bytes moved per step, as one unit of the pipeline
  int slices = 1;          ///< a chunk is sent in so many messages
  /// Of the message (as nccl-tests prints it), covered by one loop on all channels.
  std::int64_t loop_bytes = 0;
  std::int64_t loops = 1;
  std::int64_t last_chunk = 0;  ///< of the last loop
  int steps = 1;                ///< chunk steps one after the other in a loop
  std::int64_t slice() const { return slices > 0 ? chunk / slices : chunk; }
  friend bool operator==(const ChunkShape&, const ChunkShape&) = default;
};

/// src/enqueue.cc and src/device; docs/sources/nccl_tuning.md 3.
ChunkShape chunk_shape(const RunSetting& setting, CollectiveOp op, Algorithm algorithm, Protocol protocol,
                       std::int64_t bytes, const RunShape& run);

/// Data bytes in one of the eight slots of a connection's buffer: Simple 512 KiB, LL 32 KiB, LL128 576,000 B.
std::int64_t slot_bytes(const RunSetting& setting, Protocol protocol);

/// The kind of path to the other end of a send: it decides chunk size and the limits of channels.
enum class PeerPath : std::uint8_t { nvlink, pcie, network };

/// Pieces of a send to one peer.
std::int64_t send_chunk_bytes(PeerPath path, std::int64_t bytes);

}  // namespace foretrain::nccl
