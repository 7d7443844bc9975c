// Constants of the model as measured on one cluster, each with its spread and range, and its collectives as
// measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"

namespace foretrain {

/// A constant of the model that measurements may replace. Its value in SI units: seconds, bytes/s, FLOP/s, or
/// a plain number.
struct ConstantRange {
  std::string name;                    ///< "nccl.kernel", "gemm.half"
  std::optional<Dimension> dimension;  ///< how it is spelt in a file; none: a plain number
  double least = 0, most = 0;          ///< what physics allows
  double prior = 0.3;  ///< standard deviation of its logarithm among machines: what is known without samples
  std::string meaning;
  /// Of the value where nothing was measured; empty: the page of the layer's model has it.
  std::string source{};
};

/// The same with the way to it in the value that holds it.
template <class Holder>
struct ConstantOf {
  ConstantRange range;
  double (*get)(const Holder&);
  void (*set)(Holder&, double);
};

/// A constant that was fitted.
struct CalibratedConstant {
  std::string name;
  double value = 0;   ///< SI
  double spread = 0;  ///< standard deviation of its logarithm
  /// Bytes of the messages, copies or operands it was fitted on; both 0: does not depend on a size
  double least = 0, most = 0;
  int samples = 0;      ///< that it depends on
  double residual = 0;  ///< root mean square of log(fitted / measured) over them
  friend bool operator==(const CalibratedConstant&, const CalibratedConstant&) = default;
};

/// Between two message sizes time is latency + bytes x seconds_per_byte.
struct TimeSegment {
  double least = 0, most = 0;  ///< bytes
  double latency_s = 0, seconds_per_byte = 0;
  double spread = 0;  ///< standard deviation of log(measured / fitted)
  int samples = 0;
  friend bool operator==(const TimeSegment&, const TimeSegment&) = default;
};

/// One operation of one job, back to back as nccl-tests runs it; segments ascend and do not overlap.
struct CalibratedCollective {
  std::string op;  ///< as in nccl-tests
  int gpus = 1, nodes = 1;
  int processes_per_node = 0;       ///< 0: one per GPU
  std::string algorithm, protocol;  ///< that were forced, as in the scenario's keys; empty: NCCL's choice
  std::vector<TimeSegment> segments;
  friend bool operator==(const CalibratedCollective&, const CalibratedCollective&) = default;
};

/// What a cluster's file names with `calibration = "…"`.
struct Calibration {
  std::string name, description;
  /// Gpu, driver, cuda, nccl, host, date, sources ….
  std::vector<std::pair<std::string, std::string>> provenance;
  std::vector<CalibratedConstant> constants;
  std::vector<CalibratedCollective> collectives;
  bool empty() const { return constants.empty() && collectives.empty(); }
  const CalibratedConstant* find(std::string_view name) const;
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// Puts the fitted values of a table's constants into their holder.
template <class Holder, class Constants>
void apply(const Calibration& calibration, const Constants& constants, Holder& holder) {
  for (const auto& constant : constants) {
    if (const CalibratedConstant* fitted = calibration.find(constant.range.name))
      constant.set(holder, fitted->value);
  }
}

}  // namespace foretrain
