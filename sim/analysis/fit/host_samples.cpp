// Predictions of samples about CUDA calls and about the host itself.
#include <algorithm>

#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/workload/device/device_constants.hpp"

namespace foretrain {

namespace {

/// A pass of the benchmark's Python loop (CPython 3.11.2 of Debian) and a small torch operator (torch 1.13)
/// on the reference CPU, in us.
constexpr double kPythonLoop = 0.0143, kTorchDispatch = 0.889;
/// Size from which a copy leaves a core's caches.
constexpr std::int64_t kMemoryBound = 16 << 20;

/// Returns the prediction of a sample about the CPU; single-threaded only, because host times are.
std::optional<double> cpu_sample(const Host& host, const Sample& sample) {
  if (number_of(sample, "threads", 1) != 1) return std::nullopt;
  if (sample.what == "memcpy" && sample.bytes >= kMemoryBound && sample.unit == SampleUnit::gigabytes_per_s &&
      host.memory_bandwidth.per_second > 0)
    return host.memory_bandwidth.per_second / 1e9;
  if (sample.what == "memcpy" && sample.bytes >= kMemoryBound && sample.unit == SampleUnit::us &&
      host.memory_bandwidth.per_second > 0)
    return static_cast<double>(sample.bytes) / host.memory_bandwidth.per_second * 1e6;
  if (sample.what == "python_loop" && sample.unit == SampleUnit::us) return kPythonLoop * host.slowdown;
  if (sample.what == "torch_dispatch" && sample.unit == SampleUnit::us) return kTorchDispatch * host.slowdown;
  return std::nullopt;
}

/// The constants that calls take, looked up once.
struct HostCalls {
  const Host& host;
  HostCalibration calls;
  KernelCalibration kernels;
};

/// Returns the time of a call by the name that foretrain-bench gives it; nothing for other names.
std::optional<Time> call_time(const HostCalls& known, const Sample& sample) {
  const HostCalibration& calls = known.calls;
  const auto here = [&](Time reference) { return on_host(reference, known.host, calls); };
  if (sample.what == "launch_latency") return calls.launch_latency;
  if (sample.what == "launch_gap") return known.kernels.launch_gap + known.kernels.minimum;
  if (sample.what == "enqueue") return here(calls.launch);
  if (sample.what == "sync_wake") return calls.sync_wake;
  if (sample.what == "event") return here(calls.event);
  if (sample.what == "copy_call") return here(calls.copy_call);
  if (sample.what == "graph_launch")
    return here(calls.graph_launch) + number_of(sample, "kernels", 1) * here(calls.graph_launch_node);
  return std::nullopt;
}

/// A copy without peer access measures the driver, which no constant describes.
SampleAnswer answer_of(const HostCalls& known, const Sample& sample) {
  if (setting_of(sample, "peer") == "0")
    return SampleAnswer::nothing("peer access was off: the driver copies through host memory");
  SampleAnswer answer;
  if (sample.kind == SampleKind::cpu) {
    answer.value = cpu_sample(known.host, sample);
  } else if (const std::optional<Time> time = call_time(known, sample);
             time && sample.unit == SampleUnit::us) {
    answer.value = to_seconds(*time) * 1e6;
  }
  if (!answer.value) answer.why = "no constant of the model is about " + sample.what;
  return answer;
}

bool is_of_host(const Sample& sample) {
  return sample.kind == SampleKind::host || sample.kind == SampleKind::cpu;
}

}  // namespace

/// The constants are read once for all samples.
void predict_host_samples(SampleRun& run) {
  if (std::ranges::none_of(run.samples, is_of_host)) return;
  HostCalls known{run.cluster.node.host, {}, kernel_calibration_of(run.cluster)};
  apply(run.cluster.calibration, host_call_constants(), known.calls);
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (is_of_host(run.samples[i])) run.take(i, answer_of(known, run.samples[i]));
  }
}

}  // namespace foretrain
