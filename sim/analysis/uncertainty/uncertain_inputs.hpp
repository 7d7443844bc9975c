// What a prediction rests on: each input with its spread, where that comes from, and which measurement would
// narrow it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/analysis/uncertainty/evidence.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

enum class Uncertain : std::uint8_t {
  kernels,
  host,
  input,
  node_links,
  network,
  stragglers,
  busy_node,
  startup,
  run_to_run,
  unmodelled,
  scaling
};
inline constexpr std::size_t kUncertainCount = 11;
constexpr std::size_t index_of(Uncertain input) { return static_cast<std::size_t>(input); }

/// What can be measured to know more. `none`: nothing narrows it.
enum class Narrowing : std::uint8_t { none, one_gpu, collectives, input_alone, many_gpus, whole_job };

/// A row of the table; docs/models/uncertainty.md has the residuals behind each spread.
struct UncertainInput {
  Uncertain which;
  std::string_view name;
  std::string_view origin;  ///< of the spread
  Narrowing narrowed_by;
  /// Standard deviation of the logarithm, 0.2: about 20 %. Of `unmodelled` the mean of an exponential
  /// distribution of lost time, for a job on one node. 0: by evidence, spreads_of().
  double spread;
};

/// Collectives at sizes between measured ones: nine of ten within 15 % (docs/accuracy_calibration.md), over
/// the normal quantile of 95 %.
inline constexpr double kMeasuredCollectives = 0.09;

/// Standard deviation of the logarithm between two runs of one job.
inline constexpr double kRunToRun = 0.02;

/// In the order of Uncertain.
const std::array<UncertainInput, kUncertainCount>& uncertain_inputs();
inline const UncertainInput& input_of(Uncertain which) { return uncertain_inputs()[index_of(which)]; }

/// "samples per second of this training on one GPU (measured.samples_per_s)".
std::string_view describe(Narrowing measurement);

/// By input.
using Spreads = std::array<double, kUncertainCount>;

/// The part of the model that a measured step has fixed, as in Anchored::scaled.
struct AnchoredParts {
  bool kernels = false, host = false, input = false;
};

/// What an anchor has fixed is known to the run-to-run spread; kernels by the kind of network, links by what
/// messages move over, what is not modelled by the framework (evidence.hpp). Machines that were measured are
/// known better.
Spreads spreads_of(const AnchoredParts& anchored, const Scenario& scenario);
/// Of any network on any machine that was not measured.
Spreads spreads_of(const AnchoredParts& anchored, FrameworkKind framework);

/// What a job of so many GPUs and nodes is known to on a cluster with this calibration. Collectives of the
/// very job were measured: to their held-out error. Constants alone narrow kernels and host; collectives of
/// other jobs are known no better than without (docs/accuracy_calibration.md).
Spreads with_calibration(Spreads spreads, const Calibration& calibration, int gpus, int nodes);

/// Mean share of a step that is lost to what the model does not know on so many nodes; `beyond_anchor`: the
/// job is larger than the measured one. Spreads[unmodelled] on one node, more on more (loss_growth()).
double unmodelled_loss(double of_one_node, int nodes, int anchor_nodes, bool beyond_anchor);

}  // namespace foretrain
