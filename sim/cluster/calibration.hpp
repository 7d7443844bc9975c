// Constants of the model as measured on one cluster, each with its uncertainty and range, and its measured
// collectives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"

namespace foretrain {

/// A constant of the model that measurements may replace. Its value is in SI units: s, bytes/s, FLOP/s, or a
/// plain number.
struct ConstantRange {
  /// Name in calibration files: "nccl.kernel", "gemm.half".
  std::string name;
  /// The dimension in which a file writes it; none: a plain number.
  std::optional<Dimension> dimension;
  /// Limits that physics sets.
  double least = 0, most = 0;
  /// Standard deviation of its logarithm among machines: the uncertainty without any sample.
  double prior = 0.3;
  std::string meaning;
  /// Source of the value that holds without a measurement; empty: the model's page in the docs has it.
  std::string source{};
};

/// A constant with access to it in the object that holds it.
template <class Holder>
struct ConstantOf {
  ConstantRange range;
  double (*get)(const Holder&);
  void (*set)(Holder&, double);
};

/// A constant that was fitted to measurements.
struct CalibratedConstant {
  std::string name;
  /// Value in SI units.
  double value = 0;
  /// Standard deviation of its logarithm.
  double spread = 0;
  /// Smallest and largest size in bytes of the messages, copies or operands of the fit; both 0: it does not
  /// depend on a size.
  double least = 0, most = 0;
  /// Number of samples that depend on it.
  int samples = 0;
  /// Root mean square of log(fitted / measured) over these samples.
  double residual = 0;
  friend bool operator==(const CalibratedConstant&, const CalibratedConstant&) = default;
};

/// A range of message sizes in which the time is latency + bytes × seconds_per_byte.
struct TimeSegment {
  /// Limits of the range in bytes.
  double least = 0, most = 0;
  double latency_s = 0, seconds_per_byte = 0;
  /// Standard deviation of log(measured / fitted).
  double spread = 0;
  int samples = 0;
  friend bool operator==(const TimeSegment&, const TimeSegment&) = default;
};

/// The measured times of one operation on one group of GPUs, called back to back as in nccl-tests. Segments
/// ascend and do not overlap.
struct CalibratedCollective {
  /// Name of the operation in nccl-tests.
  std::string op;
  int gpus = 1, nodes = 1;
  /// Processes per node; 0: one per GPU.
  int processes_per_node = 0;
  /// Forced algorithm and protocol, spelt as in scenarios; empty: NCCL's choice.
  std::string algorithm, protocol;
  std::vector<TimeSegment> segments;
  friend bool operator==(const CalibratedCollective&, const CalibratedCollective&) = default;
};

/// A calibration, which a cluster's file names by `calibration = "…"`.
struct Calibration {
  std::string name, description;
  /// Keys and values that describe the measurement: gpu, driver, cuda, nccl, host, date, sources, …
  std::vector<std::pair<std::string, std::string>> provenance;
  std::vector<CalibratedConstant> constants;
  std::vector<CalibratedCollective> collectives;
  bool empty() const { return constants.empty() && collectives.empty(); }
  /// Returns the fitted constant of this name, or nullptr.
  const CalibratedConstant* find(std::string_view name) const;
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// Writes the fitted values of a table's constants into their holder. Constants without a fit keep their
/// value.
template <class Holder, class Constants>
void apply(const Calibration& calibration, const Constants& constants, Holder& holder) {
  for (const auto& constant : constants) {
    if (const CalibratedConstant* fitted = calibration.find(constant.range.name))
      constant.set(holder, fitted->value);
  }
}

}  // namespace foretrain
