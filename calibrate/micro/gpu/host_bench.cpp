// Host work: how long launches, events, waits and copy calls keep the host, and how soon the GPU starts.
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/graph_bench.hpp"
#include "calibrate/micro/gpu/kernels.hpp"
#include "calibrate/micro/gpu/timing.hpp"

namespace foretrain::micro {

namespace {

constexpr int kCalls = 200;  ///< of one repeat; fewer than the launches a stream queues
constexpr std::int64_t kHoldNanoseconds = 4'000'000;

/// What the host measurements share.
struct HostBench {
  Stream stream;
  PinnedBuffer flag{sizeof(std::uint32_t)};
  DeviceBuffer device{4096};
  PinnedBuffer pinned{4096};
  std::uint32_t turn = 0;

  volatile std::uint32_t* word() const { return flag.as<volatile std::uint32_t>(); }
};

/// From the call to the moment the host sees what the kernel writes first: with the write's way over PCIe,
/// about half a microsecond.
double launch_latency(HostBench& bench) {
  const std::uint32_t turn = ++bench.turn;
  const double seconds = host_seconds([&] {
    FORETRAIN_CUDA(launch_flag(bench.word(), turn, 0, bench.stream.get()));
    wait_for_flag(bench.word(), turn);
  });
  bench.stream.wait();
  return seconds;
}

/// Host seconds of a call made many times while the GPU is held back.
double call_seconds(const HostBench& bench, const std::function<void()>& call) {
  FORETRAIN_CUDA(launch_spin(kHoldNanoseconds, bench.stream.get()));
  const double seconds = host_seconds([&] {
    for (int i = 0; i < kCalls; ++i) call();
  });
  bench.stream.wait();
  return seconds / kCalls;
}

/// A second thread that notes when a kernel has written its word. Where the kernel never does, as the wait
/// for it failed, the word is written here and the thread ends all the same.
class Watcher {
 public:
  Watcher(volatile std::uint32_t* word, std::uint32_t turn, std::chrono::steady_clock::time_point& seen)
      : word_(word), turn_(turn), thread_([word, turn, &seen] {
          wait_for_flag(word, turn);
          seen = std::chrono::steady_clock::now();
        }) {}
  ~Watcher() {
    if (!thread_.joinable()) return;
    *word_ = turn_;
    thread_.join();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  void join() { thread_.join(); }

 private:
  volatile std::uint32_t* word_;
  std::uint32_t turn_;
  std::thread thread_;
};

Summary sync_wake(HostBench& bench, std::string_view wait, const RepeatRule& rule) {
  constexpr std::int64_t kBusy = 200'000;  // long enough that a blocking wait sleeps
  const Event done(wait == "block" ? cudaEventDisableTiming | cudaEventBlockingSync : cudaEventDisableTiming);
  return repeat(
      [&] {
        const std::uint32_t turn = ++bench.turn;
        std::chrono::steady_clock::time_point seen;
        FORETRAIN_CUDA(launch_flag(bench.word(), turn, kBusy, bench.stream.get()));
        done.record(bench.stream);
        // The kernel's last write is seen first; the wait returns later.
        Watcher watcher(bench.word(), turn, seen);
        done.wait();
        const auto woken = std::chrono::steady_clock::now();
        watcher.join();
        return std::max(std::chrono::duration<double>(woken - seen).count(), 1e-9);
      },
      rule);
}

Measured measure_host(HostBench& bench, const Point& point, const RepeatRule& rule) {
  const std::string& what = point.sample.what;
  const cudaStream_t stream = bench.stream.get();
  if (what == "launch_latency") return {repeat([&] { return launch_latency(bench); }, rule), {}};
  if (what == "launch_gap")
    return {time_on_stream(
                bench.stream, [&] { FORETRAIN_CUDA(launch_empty(stream)); }, rule),
            {}};
  if (what == "enqueue")
    return {repeat([&] { return call_seconds(bench, [&] { FORETRAIN_CUDA(launch_empty(stream)); }); }, rule),
            {}};
  if (what == "event") {
    const Event event;
    return {repeat([&] { return call_seconds(bench, [&] { event.record(bench.stream); }); }, rule), {}};
  }
  if (what == "copy_call") {
    const auto copy = [&] {
      FORETRAIN_CUDA(cudaMemcpyAsync(bench.device.data(), bench.pinned.as<void>(), 4096,
                                     cudaMemcpyHostToDevice, stream));
    };
    return {repeat([&] { return call_seconds(bench, copy); }, rule), {}};
  }
  if (what == "sync_wake") return {sync_wake(bench, setting_of(point.sample, "wait"), rule), {}};
  return {time_graph(bench.stream, point, rule), {}};
}

}  // namespace

Measure host_measure(const Session& session) {
  const OnDevice current(session.device());
  const auto bench = std::make_shared<HostBench>();
  return [bench](const Point& point, const RepeatRule& rule) { return measure_host(*bench, point, rule); };
}

}  // namespace foretrain::micro
