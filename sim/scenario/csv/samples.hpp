// Measured points that a calibration is fitted to, whichever tool printed them: what was measured under which
// conditions, and its spread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

/// Largest samples file and its largest number of rows.
inline constexpr std::size_t kLargestSamples = 64u << 20;
inline constexpr std::size_t kMostSamples = 1'000'000;

/// What a sample is about; docs/models/calibration.md lists what each kind measures and under which settings.
enum class SampleKind : std::uint8_t {
  host,  ///< launch_latency, launch_gap, enqueue, graph_launch, graph_kernel, sync_wake, event, copy_call
  /// H2d, d2h, d2d, p2p: settings memory=pinned|pageable, src, dst, both_ways=1, together=N, engine=ce|sm,
  /// peer=0
  copy,
  memory,  ///< copy, add, reduce: a kernel that reads and writes `bytes` in all
  gemm,    ///< gemm: settings m, n, k, count, precision=fp32|tf32|fp16|bf16|fp8|fp64
  /// Forward, data, weights: settings batch, channels, filters, size, kernel, stride, groups, precision
  conv,
  mix,  ///< the operators of a network (resnet50, bert_base): settings batch, precision
  /// All_reduce, …: bytes as nccl-tests counts; settings as of `validate`, in_place=1, type, redop, root
  collective,
  /// Write, read, send, put, get, latency, all with host memory unless memory=device; both_ways=1; link,
  /// device
  network,
  /// Gemm, memory: how much longer compute takes while a collective runs, as a share; settings channels, op
  tax,
  cpu,       ///< memcpy, decode, python_loop, torch_dispatch: settings threads
  training,  ///< samples_per_s, step: settings model, strategy, precision, batch
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
  std::string what;  ///< of the kind: "h2d", "all_reduce"
  int gpus = 1, nodes = 1;
  std::int64_t bytes = 0;  ///< of the message or the copy; 0: none, or not stated
  double value = 0;        ///< in `unit`; positive and finite but for shares
  SampleUnit unit = SampleUnit::us;
  double spread = 0;  ///< standard deviation of the repeats / value; 0: unknown
  int repeats = 1;
  Settings settings;
  std::string source;  ///< file or address it was published at
  int line = 0;        ///< in the file it was read from
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// The value of a setting; empty when it is not there.
std::string_view setting_of(const Sample& sample, std::string_view key);

/// A line that looked like a measurement and was left out, and why.
struct SkippedLine {
  int line = 0;
  std::string why;
  friend bool operator==(const SkippedLine&, const SkippedLine&) = default;
};

/// What one file holds.
struct SampleFile {
  std::string file;
  std::string format;   ///< "samples CSV", "nccl-tests", "nvbandwidth", …
  Settings provenance;  ///< gpu, driver, cuda, nccl, host, date, topology, …: as far as the file says
  int rows = 0;         ///< lines of the file's tables that hold measurements, skipped ones included
  std::vector<Sample> samples;  ///< one row may hold several
  std::vector<SkippedLine> skipped;
};

/// The header of a samples CSV; provenance stands above it in comments "# key: value".
inline constexpr std::string_view kSamplesHeader =
    "kind,what,gpus,nodes,bytes,value,unit,spread,repeats,settings,source";

/// Whether the first line that is no comment is that header.
bool is_samples_csv(std::string_view text);

/// Reads a samples CSV (RFC 4180, columns in any order). Wrong headers are reported; a wrong row is skipped
/// with its reason, as in a log.
SampleFile read_samples_csv(const SourceText& source, Diagnostics& diagnostics);

/// The same text again: what read_samples_csv() reads back as equal samples.
std::string write_samples_csv(const Settings& provenance, const std::vector<Sample>& samples);

}  // namespace foretrain
