// Small messages do not fill all channels. NCCL removes channels one by one, then halves the threads, until
// every thread has enough bytes.
#include "sim/collective/nccl/channels_used.hpp"

#include <algorithm>

namespace foretrain::nccl {

namespace {

constexpr int kWarp = 32;
/// Rings of at most this rate, in GB/s, take half the threads.
constexpr double kPcieRing = 12;
constexpr int kMinTraffic = 512,
              kCell = 16;  ///< bytes of traffic per channel; unit of the split (2.22 and later)

bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
}
bool is_nvls(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
}

/// Returns the threads of a block for a message that is large enough.
int most_threads(const RunSetting& setting, Algorithm algorithm, Protocol protocol) {
  if (protocol == Protocol::ll128) return setting.ll128_threads > 0 ? setting.ll128_threads : 640;
  if (protocol == Protocol::ll) return 512;
  if (is_nvls(algorithm) || is_collnet(algorithm)) return 640;
  const int own = algorithm == Algorithm::ring && setting.ring_gbps <= kPcieRing ? 256 : 512;
  return setting.simple_threads > 0 ? setting.simple_threads : own;
}

/// Returns the bytes that every thread should have.
std::int64_t bytes_per_thread(const RunSetting& setting, Algorithm algorithm, Protocol protocol) {
  if (is_collnet(algorithm) && protocol == Protocol::simple) return 512;
  if (protocol == Protocol::simple) return 64;
  return protocol == Protocol::ll && algorithm == Algorithm::ring ? std::int64_t{8} * setting.ranks : 8;
}

/// Removes channels, then threads, until every thread has enough bytes.
RunShape with_enough_bytes(int channels, int threads, std::int64_t per_thread, std::int64_t bytes) {
  channels = static_cast<int>(std::clamp<std::int64_t>(bytes / (threads * per_thread), 1, channels));
  while (channels == 1 && bytes < threads * per_thread && threads % 128 == 0) threads /= 2;
  return {channels, threads};
}

/// Returns the channels of CollNetDirect, whose heads share the message. With fewer channels left, a thread
/// needs fewer bytes.
int collnet_channels(const RunSetting& setting, int threads, std::int64_t per_thread, std::int64_t bytes) {
  int channels = setting.channels;
  bool short_of_bytes = true;
  for (int stage = 16; stage >= 1 && short_of_bytes; stage /= 2) {
    const auto is_short = [&] {
      return bytes < std::int64_t{channels} * threads * std::max(1, setting.heads) * per_thread;
    };
    while ((short_of_bytes = is_short()) && channels > stage) {
      if (channels == stage + stage / 2) per_thread /= 2;
      --channels;
    }
  }
  return channels;
}

/// Returns the bytes on the bus per byte of the message.
std::int64_t traffic_per_byte(CollectiveOp op) { return op == CollectiveOp::all_reduce ? 2 : 1; }

/// Limits the channels so that each has at least one cell of the message (2.22 and later).
int channels_by_cells(const RunSetting& setting, CollectiveOp op, int channels, std::int64_t bytes) {
  if (setting.version < Version{2, 22, 0}) return channels;
  const std::int64_t traffic = traffic_per_byte(op);
  const std::int64_t cell = (kMinTraffic / traffic + kCell - 1) / kCell * kCell;
  return static_cast<int>(std::clamp<std::int64_t>((bytes + cell - 1) / cell, 1, channels));
}

/// Adds the warps that only synchronize.
int with_service_warps(const RunSetting& setting, Algorithm algorithm, Protocol protocol, int threads) {
  if (algorithm == Algorithm::tree && setting.version >= Version{2, 22, 0}) return 640;
  if (protocol == Protocol::simple && algorithm == Algorithm::ring) threads += kWarp;
  if (protocol == Protocol::simple && algorithm == Algorithm::tree) threads += 4 * kWarp;
  return std::max(threads, 3 * kWarp);
}

}  // namespace

RunShape run_shape(const RunSetting& setting, CollectiveOp op, Algorithm algorithm, Protocol protocol,
                   std::int64_t bytes) {
  const int threads = most_threads(setting, algorithm, protocol);
  const std::int64_t per_thread = bytes_per_thread(setting, algorithm, protocol);
  RunShape run{std::max(1, setting.channels), threads};
  if (is_nvls(algorithm)) {
    run.channels = std::max(1, setting.nvls_channels);
  } else if (algorithm == Algorithm::collnet_direct) {
    run.channels = collnet_channels(setting, threads, per_thread, bytes);
  } else {
    run = with_enough_bytes(run.channels, threads, per_thread, bytes);
  }
  run.channels = channels_by_cells(setting, op, run.channels, bytes);
  run.threads = with_service_warps(setting, algorithm, protocol, run.threads);
  return run;
}

}  // namespace foretrain::nccl
