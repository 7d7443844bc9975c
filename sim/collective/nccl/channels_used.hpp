// The channels and threads that NCCL runs for a message, and the pieces in which it sends it.
#pragma once

#include <cstdint>

#include "sim/collective/nccl/algorithm.hpp"
#include "sim/collective/nccl/version.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/collective/schedule.hpp"

namespace foretrain::nccl {

/// The facts that the rules depend on. Settings of 0 mean NCCL's own value.
struct RunSetting {
  Version version{};
  int ranks = 1, nodes = 1;
  /// Channels of the communicator.
  int channels = 1;
  int nvls_channels = 0;
  /// GPUs of a node that exchange data with the network or the switch: CollNetDirect, NVLS.
  int heads = 1;
  /// Search channels times speed inside a node of the ring graph, in GB/s.
  double ring_gbps = 0;
  /// Forecast of the NVLS all-reduce in GB/s.
  double nvls_algbw = 0;
  bool arm_host = false;
  /// The same as NCCL_NTHREADS.
  int simple_threads = 0;
  /// The same as NCCL_LL128_NTHREADS.
  int ll128_threads = 0;
  /// The same as NCCL_BUFFSIZE, in bytes.
  std::int64_t simple_buffer = 0;
  int ranks_per_node() const { return nodes > 0 ? ranks / nodes : ranks; }
};

/// Number of thread blocks, and threads of each.
struct RunShape {
  int channels = 1, threads = 512;
  friend bool operator==(const RunShape&, const RunShape&) = default;
};

/// Returns what runs for a message (src/enqueue.cc; docs/sources/nccl_tuning.md 2). `bytes` is the size as
/// nccl-tests prints it. Requires is_tuned(op) and bytes >= 0.
RunShape run_shape(const RunSetting& setting, CollectiveOp op, Algorithm algorithm, Protocol protocol,
                   std::int64_t bytes);

/// The pieces of one channel's work. A loop moves one chunk on every edge and step; the chunk of the last
/// loop is smaller.
struct ChunkShape {
  /// Bytes of data that move per step, as one unit of the pipeline.
  std::int64_t chunk = 0;
  /// Number of messages into which a chunk is cut.
  int slices = 1;
  /// Bytes of the message (as nccl-tests prints it) that one loop on all channels covers.
  std::int64_t loop_bytes = 0;
  std::int64_t loops = 1;
  /// Chunk of the last loop.
  std::int64_t last_chunk = 0;
  /// Sequential chunk steps of a loop.
  int steps = 1;
  std::int64_t slice() const { return slices > 0 ? chunk / slices : chunk; }
  friend bool operator==(const ChunkShape&, const ChunkShape&) = default;
};

/// Returns the pieces of a message (src/enqueue.cc and src/device; docs/sources/nccl_tuning.md 3).
ChunkShape chunk_shape(const RunSetting& setting, CollectiveOp op, Algorithm algorithm, Protocol protocol,
                       std::int64_t bytes, const RunShape& run);

/// Returns the bytes of data in one of the eight slots of a connection's buffer: Simple 512 KiB, LL 32 KiB,
/// LL128 576,000 B.
std::int64_t slot_bytes(const RunSetting& setting, Protocol protocol);

/// The kind of path to the other end of a send. It decides the chunk size and the limits of channels.
enum class PeerPath : std::uint8_t { nvlink, pcie, network };

/// Returns the size of a piece of a send to one peer.
std::int64_t send_chunk_bytes(PeerPath path, std::int64_t bytes);

}  // namespace foretrain::nccl
