// NCCL's rule changed four times: whole steps of 2 MiB, then at least a step, then at least an eighth of a
// chunk in a node. Since 2.22 there are as few parts as that least size allows.
#include "sim/collective/nccl/peer_shape.hpp"

#include <algorithm>

namespace foretrain::nccl {

namespace {

constexpr std::int64_t kKib = 1024;
constexpr int kSlots = 8;
/// Limit of LL in bytes for each channel of a peer (NCCL_P2P_LL_THRESHOLD).
constexpr std::int64_t kLowLatencyLimit = 16 * kKib;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns the bytes of one of the eight slots of a buffer.
std::int64_t slot_of(const PeerSetting& setting) {
  return (setting.buffer > 0 ? setting.buffer : 4096 * kKib) / kSlots;
}

/// Returns the chunk size: NCCL_P2P_*_CHUNKSIZE, which exists since 2.14 (network) and 2.16; before that a
/// slot of the buffer.
std::int64_t full_chunk(const PeerSetting& setting) {
  const bool keyed = setting.version >= Version{2, setting.path == PeerPath::network ? 14 : 16, 0};
  return keyed && setting.path != PeerPath::nvlink ? 128 * kKib : slot_of(setting);
}

/// Cuts the message as NCCL up to 2.8 does: a part is whole steps of four slots.
PeerShape in_whole_steps(const PeerSetting& setting, std::int64_t bytes) {
  const std::int64_t step = 4 * slot_of(setting);
  PeerShape shape;
  shape.part = std::max<std::int64_t>(1, ceil_div(ceil_div(bytes, setting.per_peer), step)) * step;
  shape.parts = static_cast<int>(std::max<std::int64_t>(1, ceil_div(bytes, shape.part)));
  shape.part = std::min(shape.part, bytes);
  return shape;
}

/// Limits of a part's bytes, and of the number of parts.
struct PartLimits {
  std::int64_t least = 1, most = 1;
  int fewest = 1, most_parts = 1;
};

/// Returns the limits by version. Large jobs have fewer parts, because the channels are shared by all peers.
PartLimits limits_of(const PeerSetting& setting, std::int64_t chunk) {
  PartLimits limits{slot_of(setting), 4 * slot_of(setting), setting.per_peer, setting.per_peer};
  if (setting.version >= Version{2, 20, 0}) {
    limits.least = setting.nodes > 1 ? chunk / 2 : chunk / 8;
    limits.most = setting.nodes > 1 ? chunk : 32 * chunk;
  } else if (setting.version >= Version{2, 13, 0}) {
    limits.least = chunk / 8;
    limits.most = setting.nodes > 1 ? chunk : 32 * chunk;
  }
  const std::int64_t ranks = setting.ranks;
  while (limits.fewest * ranks > setting.channels && limits.fewest > 1) limits.fewest /= 2;
  // Until 2.20 a block spares a warp for synchronization.
  const bool spares = setting.version < Version{2, 20, 0};
  while (spares && limits.most_parts * ranks > 4 * std::int64_t{setting.channels} && limits.most_parts > 1)
    limits.most_parts /= 2;
  return limits;
}

/// Cuts the message into as many parts as the least size allows, then doubles them while a part is too large.
PeerShape in_parts(const PeerSetting& setting, std::int64_t bytes, std::int64_t chunk) {
  const PartLimits limits = limits_of(setting, chunk);
  const std::int64_t at_least = std::max<std::int64_t>(1, limits.least);
  PeerShape shape;
  shape.parts =
      static_cast<int>(std::clamp<std::int64_t>(ceil_div(bytes, at_least), 1, std::max(1, limits.fewest)));
  shape.part = ceil_div(bytes, shape.parts);
  while (shape.part > limits.most && shape.parts <= limits.most_parts / 2) {
    shape.parts *= 2;
    shape.part = ceil_div(bytes, shape.parts);
  }
  return shape;
}

/// Returns whether the message goes by LL.
bool goes_by_ll(const PeerSetting& setting, std::int64_t bytes) {
  return setting.version >= Version{2, 13, 0} && setting.path != PeerPath::network &&
         bytes <= kLowLatencyLimit * setting.per_peer;
}

}  // namespace

PeerShape peer_shape(const PeerSetting& setting, std::int64_t bytes) {
  const std::int64_t chunk = full_chunk(setting);
  PeerShape shape =
      setting.version < Version{2, 9, 0} ? in_whole_steps(setting, bytes) : in_parts(setting, bytes, chunk);
  shape.protocol = goes_by_ll(setting, bytes) ? Protocol::ll : Protocol::simple;
  shape.chunk = setting.path == PeerPath::network && setting.version >= Version{2, 14, 0}
                    ? send_chunk_bytes(setting.path, bytes)
                    : chunk;
  return shape;
}

}  // namespace foretrain::nccl
