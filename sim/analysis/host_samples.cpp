// Calls of CUDA on this host, and what the host itself does.
#include "sim/analysis/sample_prediction.hpp"
#include "sim/workload/device/device_constants.hpp"

namespace foretrain {

namespace {

/// A pass of the benchmark's Python loop (CPython 3.11.2 of Debian) and a small torch operator (torch 1.13) on the reference CPU, us.
constexpr double kPythonLoop = 0.0143, kTorchDispatch = 0.889;
/// Below it copies stay in a core's caches.
constexpr std::int64_t kMemoryBound = 16 << 20;

std::optional<double> cpu_sample(const Host& host, const Sample& sample) {
  if (number_of(sample, "threads", 1) != 1) return std::nullopt;
  if (sample.what == "memcpy" && sample.bytes >= kMemoryBound && sample.unit == SampleUnit::gigabytes_per_s &&
      host.memory_bandwidth.per_second > 0)
    return host.memory_bandwidth.per_second / 1e9;
  if (sample.what == "memcpy" && sample.bytes >= kMemoryBound && sample.unit == SampleUnit::us && host.memory_bandwidth.per_second > 0)
    return static_cast<double>(sample.bytes) / host.memory_bandwidth.per_second * 1e6;
  if (sample.what == "python_loop" && sample.unit == SampleUnit::us) return kPythonLoop * host.slowdown;
  if (sample.what == "torch_dispatch" && sample.unit == SampleUnit::us) return kTorchDispatch * host.slowdown;
  return std::nullopt;
}

std::optional<Time> call_time(const ClusterSpec& cluster, const Sample& sample) {
  HostCalibration calls;
  apply(cluster.calibration, host_call_constants(), calls);
  const Host& host = cluster.node.host;
  const auto here = [&](Time reference) { return on_host(reference, host, calls); };
  const KernelCalibration kernels = kernel_calibration_of(cluster);
  if (sample.what == "launch_latency") return calls.launch_latency;
  if (sample.what == "launch_gap") return kernels.launch_gap + kernels.minimum;
  if (sample.what == "enqueue") return here(calls.launch);
  if (sample.what == "sync_wake") return calls.sync_wake;
  if (sample.what == "event") return here(calls.event);
  if (sample.what == "copy_call") return here(calls.copy_call);
  if (sample.what == "graph_launch") return here(calls.graph_launch) + number_of(sample, "nodes", 1) * here(calls.graph_launch_node);
  return std::nullopt;
}

}  // namespace

std::optional<double> predict_host_sample(const ClusterSpec& cluster, const Sample& sample, Why why) {
  if (setting_of(sample, "peer") == "0") {
    if (why != nullptr) *why = "peer access was off: the driver copies through host memory";
    return std::nullopt;
  }
  std::optional<double> predicted;
  if (sample.kind == SampleKind::cpu) {
    predicted = cpu_sample(cluster.node.host, sample);
  } else if (const std::optional<Time> time = call_time(cluster, sample); time && sample.unit == SampleUnit::us) {
    predicted = to_seconds(*time) * 1e6;
  }
  if (!predicted && why != nullptr) *why = "no constant of the model is about " + sample.what;
  return predicted;
}

}  // namespace foretrain
