// Chunk sizes. A connection's buffer has eight slots. Rings move four slots at a time in two messages. Trees
// and switches move smaller chunks if the message is too small to fill their pipeline
// (docs/sources/nccl_tuning.md 3).
#include <algorithm>
#include <bit>

#include "sim/collective/nccl/channels_used.hpp"

namespace foretrain::nccl {

namespace {

constexpr std::int64_t kKib = 1024, kMib = 1024 * kKib;
constexpr int kSlots = 8;
constexpr std::int64_t kLlLineBytes = 16, kLlThreads = 512, kLl128Words = 120, kLl128Threads = 640;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return b > 0 ? (a + b - 1) / b : a; }
std::int64_t round_up(std::int64_t value, std::int64_t grain) {
  return grain > 0 ? ceil_div(value, grain) * grain : value;
}

/// Halves the chunk until the share is large enough or the floor is reached. The rules below compare a
/// channel's share with the chunk in this way.
std::int64_t halved(std::int64_t chunk, std::int64_t floor, double share, double enough) {
  while (chunk > floor && share < enough * static_cast<double>(chunk)) chunk /= 2;
  return chunk;
}

/// A message with all that the rules need.
struct Message {
  const RunSetting& setting;
  CollectiveOp op;
  Protocol protocol;
  const RunShape& run;
  /// Bytes per channel.
  double share;
  int local() const { return setting.ranks_per_node(); }
  int log_nodes() const { return floor_log2(setting.nodes); }
};

std::int64_t tree_chunk(const Message& m, std::int64_t slot) {
  if (m.protocol == Protocol::simple) {
    if (m.setting.version >= Version{2, 20, 0}) return slot;
    const double depth = m.local() - 1 + m.log_nodes();
    slot = halved(slot, 128 * kKib, m.share, 8 * depth);
    slot = halved(slot, 64 * kKib, m.share, 4 * depth);
    return halved(slot, 32 * kKib, m.share, depth);
  }
  if (m.protocol == Protocol::ll) return slot;
  const double steps = 1 + m.log_nodes() + 0.1 * m.local(), per_rank = steps / std::max(1, m.local());
  slot = halved(slot, 128 * kKib, m.share, 64 * per_rank);
  return halved(slot, 32 * kKib, m.share, 16 * per_rank);
}

std::int64_t collnet_direct_chunk(const Message& m, std::int64_t slot) {
  const double share = m.share / std::max(1, m.setting.heads), depth = m.local() > 1 ? 2 : 1;
  slot = halved(slot, 128 * kKib, share, 64 * depth);
  slot = halved(slot, 64 * kKib, share, 8 * depth);
  return halved(slot, 32 * kKib, share, 8 * depth);
}

std::int64_t collnet_chain_chunk(const Message& m, std::int64_t slot) {
  const double depth = m.local();
  slot = std::min(slot, 256 * kKib);
  slot = halved(slot, 128 * kKib, m.share, 64 * depth);
  slot = halved(slot, 64 * kKib, m.share, 8 * depth);
  return halved(slot, 32 * kKib, m.share, depth);
}

std::int64_t nvls_chunk(const Message& m) {
  const bool slow =
      m.setting.version >= Version{2, 19, 0} && m.setting.nodes > 1 && m.setting.nvls_algbw < 150;
  std::int64_t chunk = slow ? 32 * kKib : 128 * kKib;
  const double unit = m.share / std::max(1, m.setting.heads);
  const auto below = [&](double factor) { return unit < factor * static_cast<double>(chunk); };
  if (chunk > 64 * kKib && below(64)) chunk = 64 * kKib;
  if (chunk > 32 * kKib && below(8)) chunk = 32 * kKib;
  if (chunk > 16 * kKib && below(2)) chunk = 16 * kKib;
  return chunk;
}

std::int64_t nvls_tree_chunk(const Message& m, std::int64_t slot) {
  std::int64_t chunk = m.setting.version >= Version{2, 21, 0} ? 128 * kKib : slot;
  if (m.setting.version >= Version{2, 19, 0} && m.setting.nodes >= 4) chunk = std::min(chunk, 64 * kKib);
  const double unit = m.share / std::max(1, m.setting.heads);
  const std::int64_t limits[][2] = {{32, 256 * kKib}, {16, 128 * kKib}, {4, 64 * kKib}, {1, 32 * kKib}};
  for (const auto& [factor, smaller] : limits) {
    if (chunk > smaller && unit < static_cast<double>(factor * chunk)) chunk = smaller;
  }
  return chunk;
}

std::int64_t pat_chunk(const Message& m, std::int64_t slot) {
  return halved(slot, 64 * kKib, m.share, m.op == CollectiveOp::all_gather ? 32 : 16);
}

/// Returns the chunk of a loop that is not the last one. `slots` is the number of slots that a ring moves at
/// a time.
std::int64_t full_chunk(const Message& m, Algorithm algorithm, int slots) {
  const std::int64_t slot = slot_bytes(m.setting, m.protocol);
  switch (algorithm) {
    case Algorithm::ring:
      return slot * slots;
    case Algorithm::tree:
      return tree_chunk(m, slot);
    case Algorithm::collnet_direct:
      return collnet_direct_chunk(m, slot);
    case Algorithm::collnet_chain:
      return collnet_chain_chunk(m, slot);
    case Algorithm::nvls:
      return nvls_chunk(m);
    case Algorithm::nvls_tree:
      return nvls_tree_chunk(m, slot);
    case Algorithm::pat:
      return pat_chunk(m, slot);
  }
  return slot;
}

/// Returns the chunks of the message that one channel takes in one loop.
int chunks_per_loop(const RunSetting& setting, CollectiveOp op, Algorithm algorithm) {
  const bool everyone = op == CollectiveOp::all_gather || op == CollectiveOp::reduce_scatter;
  if (algorithm == Algorithm::ring) return everyone || op == CollectiveOp::all_reduce ? setting.ranks : 1;
  if (everyone) return setting.ranks;
  return algorithm == Algorithm::tree || algorithm == Algorithm::collnet_chain ? 1
                                                                               : std::max(1, setting.heads);
}

/// Returns the sequential chunk steps of a loop.
int steps_of(const RunSetting& setting, CollectiveOp op, Algorithm algorithm) {
  if (algorithm == Algorithm::ring)
    return op == CollectiveOp::all_reduce ? 2 * (setting.ranks - 1) : setting.ranks - 1;
  const int inside = setting.ranks_per_node() - 1, across = floor_log2(setting.nodes);
  if (algorithm == Algorithm::tree) return 2 * (inside + across);
  if (algorithm == Algorithm::collnet_chain) return 2 * inside + 1;
  return algorithm == Algorithm::nvls_tree ? 2 + 2 * across : 2;
}

/// Returns the bytes that all threads move at once; the chunk of the last loop is rounded up to them.
std::int64_t grain(Protocol protocol, const RunShape& run) {
  switch (protocol) {
    case Protocol::ll:
      return std::int64_t{8} * run.threads;
    case Protocol::ll128:
      return std::int64_t{30} * run.threads;
    case Protocol::simple:
      return std::int64_t{8} * std::max(32, run.threads - 32);
  }
  return 1;
}

}  // namespace

std::int64_t slot_bytes(const RunSetting& setting, Protocol protocol) {
  // Half of a line of LL is flags.
  if (protocol == Protocol::ll) return 8 * kLlThreads * kLlLineBytes / 2;
  // LL128 has one word of flags in 16.
  if (protocol == Protocol::ll128) return kLl128Words * kLl128Threads * 8 * 15 / 16;
  if (setting.simple_buffer > 0) return setting.simple_buffer / kSlots;
  const bool small = setting.arm_host && setting.version < Version{2, 19, 0};
  return (small ? kMib : 4 * kMib) / kSlots;
}

ChunkShape chunk_shape(const RunSetting& setting, CollectiveOp op, Algorithm algorithm, Protocol protocol,
                       std::int64_t bytes, const RunShape& run) {
  const bool rooted = op == CollectiveOp::broadcast || op == CollectiveOp::reduce;
  const bool sliced = algorithm == Algorithm::ring && protocol == Protocol::simple && !rooted;
  const Message message{setting, op, protocol, run, static_cast<double>(bytes) / run.channels};
  ChunkShape shape;
  shape.chunk = full_chunk(message, algorithm, sliced ? 4 : 1);
  shape.slices = sliced ? 2 : 1;
  const std::int64_t parts = std::int64_t{run.channels} * chunks_per_loop(setting, op, algorithm);
  shape.loop_bytes = parts * shape.chunk;
  shape.loops = std::max<std::int64_t>(1, ceil_div(bytes, shape.loop_bytes));
  const std::int64_t rest = bytes - (shape.loops - 1) * shape.loop_bytes;
  shape.last_chunk = std::min(shape.chunk, round_up(ceil_div(rest, parts), grain(protocol, run)));
  shape.steps = std::max(0, steps_of(setting, op, algorithm));
  return shape;
}

std::int64_t send_chunk_bytes(PeerPath path, std::int64_t bytes) {
  if (path == PeerPath::nvlink) return 512 * kKib;
  const std::int64_t chunk = 128 * kKib;
  if (path == PeerPath::pcie) return chunk;
  if (bytes < chunk) return chunk / 4;
  return bytes < 8 * chunk ? chunk / 2 : chunk;
}

}  // namespace foretrain::nccl
