// Reader of what `python -m foretrain measure` writes: training steps, their kernels, and data loaders, as
// one JSON object in each line:
// {"network": "resnet50", "precision": "bf16", "batch": 64, "step_s": 0.123, "spread": 0.01, "steps": 20}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// The precision of weights in bfloat16 without autocast; the name "bf16" means autocast.
inline constexpr std::string_view kPureBf16 = "pure_bf16";

/// Memory on the GPU in bytes; no value where it was not measured.
struct MeasuredMemory {
  std::optional<double> parameters, gradients, optimizer, allocated_peak, reserved_peak;
};

/// A measurement of one configuration of one network. Exactly one of `step_s` and `error` is present.
struct MeasuredStep {
  /// Name of letters, digits and "._-", as it is also part of a file's name.
  std::string network;
  /// Kind of network, such as "cnn", "vit" or "decoder".
  std::string kind;
  /// Name of a precision of foretrain, or kPureBf16.
  std::string precision;
  /// Samples of one step.
  std::int64_t batch = 1;
  bool compiled = false, channels_last = false;
  std::string optimizer;
  /// Further keys of a scenario, such as strategy.accumulation=4.
  Settings settings;
  /// Median time of a step in seconds.
  std::optional<double> step_s;
  /// Standard deviation of the step divided by the median.
  double spread = 0;
  /// Number of steps that were timed.
  int steps = 0;
  /// Time that the host needs to issue a step, in seconds.
  std::optional<double> host_s;
  /// Kernel launches in a step.
  std::optional<std::int64_t> launches;
  MeasuredMemory memory;
  /// Reason why it could not be measured, such as "out of memory".
  std::string error;
  /// Moment of the measurement in UTC, as ISO 8601.
  std::string when;
  /// Line in the file, from 1.
  int line = 0;
};

/// The calls of one operator with the same shapes in one step.
struct MeasuredKernel {
  std::string network, precision;
  std::int64_t batch = 1;
  bool compiled = false;
  std::string op, kind;
  /// Seconds of all calls together, on the GPU; for training on a CPU, on the CPU.
  double seconds = 0;
  std::int64_t calls = 1;
  int line = 0;
};

/// A measured rate of a data loader: worker processes, CPU cores, and images a second.
struct MeasuredLoader {
  int workers = 0, cores = 0;
  double images_per_s = 0;
  /// Data that was loaded, such as "jpeg 500x375".
  std::string source;
  int line = 0;
};

/// The rows of a file in the order of its lines, and the lines that were left out.
template <class Row>
struct MeasuredLines {
  std::vector<Row> rows;
  std::vector<SkippedLine> skipped;
};

// The readers throw nothing: a line that is wrong is in `skipped` with the reason. A last line without its
// end was cut off by a killed process and is ignored.

/// These functions read one kind of file each.
MeasuredLines<MeasuredStep> read_measured_steps(const SourceText& source);
MeasuredLines<MeasuredKernel> read_measured_kernels(const SourceText& source);
MeasuredLines<MeasuredLoader> read_measured_loaders(const SourceText& source);

/// Reads a JSON object whose values are texts, numbers, true or false; other values are left out. Returns no
/// value for other texts.
std::optional<Settings> read_flat_object(std::string_view text);

/// Returns the number of bytes up to the end of the last whole line.
std::size_t whole_lines(std::string_view text);

}  // namespace foretrain
