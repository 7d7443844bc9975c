// Grouping of recorded operators as the framework issues them: what one call, or one node of autograd,
// launches becomes one operator of the model, where the table of host calls knows it as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/workload/recorded/recorded_work.hpp"

namespace foretrain {

/// Times that a trace gives for one operator of the model; the flags say which of them were measured.
struct MeasuredTimes {
  double kernels_s = 0, host_s = 0;
  bool has_kernels = false, has_host = false;

  void add(const MeasuredTimes& other) {
    kernels_s += other.kernels_s, host_s += other.host_s;
    has_kernels = has_kernels || other.has_kernels, has_host = has_host || other.has_host;
  }
};

/// The operators of a step, and the place where each recorded one went.
struct GroupedStep {
  std::vector<MeasuredTimes> measured_forward, measured_backward;
  std::vector<Operator> forward;
  std::vector<BackwardStep> backward;
  /// Moment of each recorded operator: forward operators first, then backward steps.
  std::vector<std::uint32_t> moment_of;
  std::vector<std::uint32_t> source_of_forward, source_of_backward;  ///< the recorded operator that began it
  /// True by recorded operator where it makes a dropout's mask.
  std::vector<bool> is_mask;
  // Facts for Recording.
  std::int64_t unknown_launches = 0;
  Amount unknown_bytes;
  std::vector<std::string> unknown, beyond_linear;
};

/// Groups the recorded operators of a network into those of the model. `layer_of` maps the id of a module's
/// name to its layer. Linear in recorded operators.
GroupedStep group_calls(const RecordedNetwork& network, const std::vector<std::uint32_t>& layer_of,
                        RecordedTypes types);

}  // namespace foretrain
