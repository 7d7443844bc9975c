// Measured points to which a calibration is fitted, independent of the tool that printed them: the quantity,
// the conditions, and the spread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

/// Largest samples file in bytes, and its largest number of rows.
inline constexpr std::size_t kLargestSamples = 64u << 20;
inline constexpr std::size_t kMostSamples = 1'000'000;

/// Kinds of samples; docs/models/uncertainty.md lists the quantities and settings of each kind.
enum class SampleKind : std::uint8_t {
  /// Quantities: launch_latency, launch_gap, enqueue, graph_launch, graph_kernel, sync_wake, event,
  /// copy_call.
  host,
  /// Quantities: h2d, d2h, d2d, p2p. Settings: memory=pinned|pageable, src, dst, both_ways=1, together=N,
  /// engine=ce|sm, peer=0.
  copy,
  /// Quantities: copy, add, reduce, each a kernel that reads and writes `bytes` in total.
  memory,
  /// Quantity: gemm. Settings: m, n, k, count, precision=fp32|tf32|fp16|bf16|fp8|fp64.
  gemm,
  /// Quantities: forward, data, weights. Settings: batch, channels, filters, size, kernel, stride, groups,
  /// precision.
  conv,
  /// Quantities: the operators of a network (resnet50, bert_base). Settings: batch, precision.
  mix,
  /// Quantities: all_reduce, …, with bytes as nccl-tests counts them. Settings: those of `validate`,
  /// in_place=1, type, redop, root.
  collective,
  /// Quantities: write, read, send, put, get, latency, all with host memory unless memory=device. Settings:
  /// both_ways=1, link, device.
  network,
  /// Quantities: gemm, memory, each the fraction by which compute is slower while a collective runs.
  /// Settings: channels, op.
  tax,
  /// Quantities: memcpy, decode, python_loop, torch_dispatch. Settings: threads.
  cpu,
  /// Quantities: samples_per_s, step. Settings: model, strategy, precision, batch.
  training,
};
inline constexpr std::size_t kSampleKinds = 11;
inline constexpr std::array<std::string_view, kSampleKinds> kSampleKindNames{
    "host", "copy", "memory", "gemm", "conv", "mix", "collective", "network", "tax", "cpu", "training"};

/// The unit of a sample's value. Each kind of sample has one.
enum class SampleUnit : std::uint8_t { us, gigabytes_per_s, teraflops, per_s, share };
inline constexpr std::array<std::string_view, 5> kSampleUnitNames{"us", "GBps", "TFLOPs", "per_s", "share"};

/// One point: the median of `repeats` measurements.
struct Sample {
  SampleKind kind = SampleKind::collective;
  /// Quantity of the kind, such as "h2d" or "all_reduce".
  std::string what;
  int gpus = 1, nodes = 1;
  /// Bytes of the message or the copy; 0: none, or not stated.
  std::int64_t bytes = 0;
  /// Value in `unit`; positive and finite except for shares.
  double value = 0;
  SampleUnit unit = SampleUnit::us;
  /// Standard deviation of the repeats, divided by the value; 0: unknown.
  double spread = 0;
  int repeats = 1;
  Settings settings;
  /// File or address where it was published.
  std::string source;
  /// Line in the file from which it was read.
  int line = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// Returns the value of a setting; empty when it is missing.
std::string_view setting_of(const Sample& sample, std::string_view key);

/// A line that looked like a measurement and was not used, and the reason.
struct SkippedLine {
  int line = 0;
  std::string why;
  friend bool operator==(const SkippedLine&, const SkippedLine&) = default;
};

/// The contents of one file.
struct SampleFile {
  std::string file;
  /// Format of the file: "samples CSV", "nccl-tests", "nvbandwidth", …
  std::string format;
  /// Facts such as gpu, driver, cuda, nccl, host, date, topology, if the file states them.
  Settings provenance;
  /// Lines of the file's tables that have measurements, including skipped ones.
  int rows = 0;
  /// Samples; one row may have several.
  std::vector<Sample> samples;
  std::vector<SkippedLine> skipped;
};

/// The header of a samples CSV; facts are above it in comments "# key: value".
inline constexpr std::string_view kSamplesHeader =
    "kind,what,gpus,nodes,bytes,value,unit,spread,repeats,settings,source";

/// Returns whether the first line that is no comment is such a header.
bool is_samples_csv(std::string_view text);

/// Reads a samples CSV (RFC 4180, columns in any order). Wrong headers are reported; a wrong row is skipped
/// with its reason, as in a log.
SampleFile read_samples_csv(const SourceText& source, Diagnostics& diagnostics);

/// Returns a text from which read_samples_csv() reads equal samples.
std::string write_samples_csv(const Settings& provenance, const std::vector<Sample>& samples);

}  // namespace foretrain
