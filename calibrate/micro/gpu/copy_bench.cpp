// Copies by the copy engines. A point is one or several lanes, each from one place to another on a stream of
// its own.
#include <algorithm>
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/kernels.hpp"
#include "calibrate/micro/gpu/timing.hpp"
#include "calibrate/micro/plan/verify.hpp"

namespace foretrain::micro {

namespace {

constexpr int kHost = -1;

/// "0+2" as {0, 2}; empty text as no GPU.
std::vector<int> gpus_in(std::string_view text) {
  std::vector<int> gpus;
  for (const char* at = text.data(); at < text.data() + text.size(); ++at) {
    int gpu = 0;
    at = std::from_chars(at, text.data() + text.size(), gpu).ptr;
    gpus.push_back(gpu);
  }
  return gpus;
}

/// Memory at a place: a GPU's, pinned or pageable of the host.
struct Place {
  Place(int where, std::size_t bytes, std::string_view memory) : gpu(where) {
    if (gpu != kHost) {
      const OnDevice current(gpu);
      device = DeviceBuffer(bytes);
    } else if (memory == "pageable") {
      pageable.resize(bytes);
    } else {
      pinned = std::make_unique<PinnedBuffer>(bytes);
    }
  }
  void* data() { return gpu != kHost ? device.data() : pinned ? pinned->as<void>() : pageable.data(); }

  int gpu;
  DeviceBuffer device;
  std::unique_ptr<PinnedBuffer> pinned;
  std::vector<char> pageable;
};

class Lane {
 public:
  Lane(int from, int to, std::size_t bytes, std::string_view memory)
      : bytes_(bytes), source_(from, bytes, memory), target_(to, bytes, memory) {
    const OnDevice current(from == kHost ? to : from);
    device_ = from == kHost ? to : from;
    stream_ = std::make_unique<Stream>();
  }

  /// Writes the source; `offset` tells lanes apart.
  void fill(std::uint32_t offset) {
    offset_ = offset;
    std::vector<std::uint32_t> words(bytes_ / 4);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = copied_word(i, offset);
    const OnDevice current(device_);
    FORETRAIN_CUDA(cudaMemcpy(source_.data(), words.data(), bytes_, cudaMemcpyDefault));
    std::fill(words.begin(), words.end(), 0);
    FORETRAIN_CUDA(cudaMemcpy(target_.data(), words.data(), bytes_, cudaMemcpyDefault));
  }

  void start() {
    const bool is_peer = source_.gpu != kHost && target_.gpu != kHost && source_.gpu != target_.gpu;
    if (is_peer)
      FORETRAIN_CUDA(cudaMemcpyPeerAsync(target_.data(), target_.gpu, source_.data(), source_.gpu, bytes_,
                                         stream_->get()));
    else
      FORETRAIN_CUDA(
          cudaMemcpyAsync(target_.data(), source_.data(), bytes_, cudaMemcpyDefault, stream_->get()));
  }

  void check() {
    std::vector<std::uint32_t> words(bytes_ / 4);
    FORETRAIN_CUDA(cudaMemcpy(words.data(), target_.data(), bytes_, cudaMemcpyDefault));
    if (const std::string wrong = first_wrong_word(words, offset_); !wrong.empty()) throw WrongResult(wrong);
  }

  const Stream& stream() const { return *stream_; }
  int device() const { return device_; }

 private:
  std::size_t bytes_;
  Place source_, target_;
  int device_ = 0;
  std::unique_ptr<Stream> stream_;
  std::uint32_t offset_ = 0;
};

std::vector<Lane> lanes_of(const Sample& sample) {
  const auto bytes = static_cast<std::size_t>(sample.bytes);
  const std::string_view memory = setting_of(sample, "memory");
  const auto sources = gpus_in(setting_of(sample, "src")), targets = gpus_in(setting_of(sample, "dst"));
  const bool both_ways = setting_of(sample, "both_ways") == "1";
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < std::max(sources.size(), targets.size()); ++i) {
    const int from = sources.empty() ? kHost : sources[i], to = targets.empty() ? kHost : targets[i];
    lanes.emplace_back(from, to, bytes, memory);
    if (both_ways) lanes.emplace_back(to, from, bytes, memory);
  }
  return lanes;
}

bool can_reach(int from, int to) {
  int can = 0;
  FORETRAIN_CUDA(cudaDeviceCanAccessPeer(&can, from, to));
  return can != 0;
}

/// Whether this call opened it; false when it was open already, as NCCL leaves it.
bool open_peer(int from, int to) {
  const OnDevice current(from);
  const cudaError_t code = cudaDeviceEnablePeerAccess(to, 0);
  if (code != cudaErrorPeerAccessAlreadyEnabled)
    check_cuda(code, "cudaDeviceEnablePeerAccess", __FILE__, __LINE__);
  if (code != cudaSuccess) (void)cudaGetLastError();
  return code == cudaSuccess;
}

/// One direction of peer access while it lives.
class PeerAccess {
 public:
  PeerAccess(int from, int to) : from_(from), to_(to) {
    if (!can_reach(from, to))
      throw PointSkipped(fmt::format(
          "GPU {} cannot reach GPU {}'s memory; peer=0 measures the way through the host", from, to));
    is_own_ = open_peer(from, to);
  }
  ~PeerAccess() {
    if (!is_own_) return;
    int before = 0;
    (void)cudaGetDevice(&before), (void)cudaSetDevice(from_);
    (void)cudaDeviceDisablePeerAccess(to_), (void)cudaSetDevice(before);
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;
  bool is_own() const { return is_own_; }

 private:
  int from_, to_;
  bool is_own_ = false;
};

/// Both directions, or none where the point asks for none.
std::vector<std::unique_ptr<PeerAccess>> access_for(const Sample& sample, int a, int b) {
  std::vector<std::unique_ptr<PeerAccess>> access;
  const bool wants_none = setting_of(sample, "peer") == "0";
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    if (wants_none && !can_reach(from, to)) continue;
    access.push_back(std::make_unique<PeerAccess>(from, to));
    if (wants_none && !access.back()->is_own())
      throw PointSkipped("NCCL has opened the peer path in this process");
  }
  if (wants_none) access.clear();
  return access;
}

/// All lanes at once, or a copy from or to pageable memory, which the call waits for: by the host's clock.
double seconds_of_all(std::vector<Lane>& lanes) {
  return host_seconds([&] {
    for (Lane& lane : lanes) {
      const OnDevice current(lane.device());
      lane.start();
    }
    for (const Lane& lane : lanes) lane.stream().wait();
  });
}

Measured measure_copy(const Point& point, const RepeatRule& rule) {
  const Sample& sample = point.sample;
  std::vector<std::unique_ptr<PeerAccess>> access;
  const auto sources = gpus_in(setting_of(sample, "src")), targets = gpus_in(setting_of(sample, "dst"));
  if (sample.what == "p2p") access = access_for(sample, sources.at(0), targets.at(0));
  std::vector<Lane> lanes = lanes_of(sample);
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i].fill(static_cast<std::uint32_t>(i + 1));
  const bool by_gpu = lanes.size() == 1 && setting_of(sample, "memory") != "pageable";
  Measured measured;
  if (by_gpu) {
    const OnDevice current(lanes[0].device());
    measured.summary = time_on_stream(
        lanes[0].stream(), [&] { lanes[0].start(); }, rule);
  } else {
    measured.summary = repeat([&] { return seconds_of_all(lanes); }, rule);
  }
  for (Lane& lane : lanes) lane.check();
  return measured;
}

}  // namespace

Measure copy_measure(const Session&) { return measure_copy; }

}  // namespace foretrain::micro
