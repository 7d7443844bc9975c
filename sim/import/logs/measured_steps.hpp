// What `python -m foretrain measure` writes: training steps, their kernels and data loaders, a line of JSON
// each.
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

/// Weights in bfloat16 and no autocast; the precision "bf16" is autocast.
inline constexpr std::string_view kPureBf16 = "pure_bf16";

/// Bytes on the GPU; nothing: not measured.
struct MeasuredMemory {
  std::optional<double> parameters, gradients, optimizer, allocated_peak, reserved_peak;
};

/// One configuration of one network. Either `step_s` or `error` is there.
struct MeasuredStep {
  std::string network;    ///< letters, digits and "._-": also a file's name
  std::string kind;       ///< "cnn", "vit", "decoder", …
  std::string precision;  ///< a name of foretrain's, or kPureBf16
  std::int64_t batch = 1;
  bool compiled = false, channels_last = false;
  std::string optimizer;
  Settings settings;             ///< of a scenario, as in strategy.accumulation=4
  std::optional<double> step_s;  ///< the median
  double spread = 0;             ///< standard deviation over the median
  int steps = 0;
  std::optional<double> host_s;  ///< time the host needs to issue a step
  std::optional<std::int64_t> launches;
  MeasuredMemory memory;
  std::string error;  ///< a sentence or a clause: "out of memory"
  std::string when;   ///< UTC, ISO 8601
  int line = 0;
};

/// All calls of one operator with the same shapes in one step.
struct MeasuredKernel {
  std::string network, precision;
  std::int64_t batch = 1;
  bool compiled = false;
  std::string op, kind;
  double seconds = 0;  ///< of all calls, on the GPU; of training on a CPU there
  std::int64_t calls = 1;
  int line = 0;
};

/// A measured rate of a data loader.
struct MeasuredLoader {
  int workers = 0, cores = 0;
  double images_per_s = 0;
  std::string source;  ///< "jpeg 500x375"
  int line = 0;
};

/// The rows of a file in the order of its lines, and the lines that are none.
template <class Row>
struct MeasuredLines {
  std::vector<Row> rows;
  std::vector<SkippedLine> skipped;
};

// A last line without its end was cut off by a killed process: it counts as if it were not there.

MeasuredLines<MeasuredStep> read_measured_steps(const SourceText& source);
MeasuredLines<MeasuredKernel> read_measured_kernels(const SourceText& source);
MeasuredLines<MeasuredLoader> read_measured_loaders(const SourceText& source);

/// Keys and values of a JSON object whose values are texts, numbers, true, false or null (which is left out).
/// Nothing where the text is no such object.
std::optional<Settings> read_flat_object(std::string_view text);

/// How many bytes of the text are whole lines.
std::size_t whole_lines(std::string_view text);

}  // namespace foretrain
