// The uncertainty of a step: responses to uncertain inputs, cases of the table of spreads, and draws that all
// numbers of GPUs share.
//
// The path of a computation is: a simulated step gives a StepResponse to unit moves (linear_response,
// simulated_response); that gives a SpreadCase (step_case, ratio_case, layout_case); the fitted table gives
// the reach of the case, divided among inputs again (response_of). Independent parts are joined, and
// reach_of() is the width of the interval.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/spreads/spread_table.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

// The response of a step's time to each uncertain input, at one number of GPUs.

/// Standard deviations by which inputs are moved: the 5 % and 95 % quantiles of a normal distribution.
inline constexpr double kReach = 1.6448536269514722;

/// The change of the step's logarithm when one input alone is at its 95 % quantile (up, slower) or its 5 %
/// quantile (down). Values in between and beyond lie on straight lines.
struct StepResponse {
  std::array<double, kUncertainCount> up{}, down{};
};

/// The job that a ratio refers to: the measured job, or one GPU.
struct Reference {
  int gpus = 1, nodes = 1;
  /// Samples per second and GPU. A larger job is no faster per GPU, except for noise; 0 if unknown.
  double samples_per_gpu_s = 0;
};
/// Returns the reference on this number of GPUs, whose step takes `step_s`.
Reference reference_at(const StepSimulator& simulator, int gpus, double step_s);

/// Returns the part of a GPU's throughput in the reference that a step on `gpus` loses; negative where it
/// gains.
double predicted_loss(const StepSimulator& simulator, int gpus, double step_s, const Reference& reference);

// Responses of the step when each input alone moves by kReach times its spread.

/// Returns the response by derivatives alone: the critical path gives the share of each input. Costs no
/// simulation.
StepResponse linear_response(const StepSimulator& simulator, const SimulatedStep& step, int gpus,
                             const Spreads& spreads);

/// Returns the response with simulated upper sides. A part that something longer hides has no derivative, but
/// shows when it gets slower. One simulation each for kernels, host, input and links, where the spread is
/// more than a few percent and the step does not follow the input entirely.
StepResponse simulated_response(const StepSimulator& simulator, const DeviceModel& device,
                                const SimulatedStep& step, int gpus, const Spreads& spreads);

/// Returns the response relative to a step that is known: an input that moves both alike leaves nothing.
StepResponse relative_to(const StepResponse& there, StepResponse here);

// Conversion of these responses to a case of the table of spreads, and back to the part of each input.

/// Returns the case of a simulated step; of a network with a layout the case of a cut_step.
SpreadCase step_case(const Scenario& scenario, const Placement& ranks, const StepResponse& moves);
/// Returns the case of the step over that of a smaller job whose step is known. `moves` are relative to that
/// step.
SpreadCase ratio_case(const Scenario& scenario, const Placement& ranks, const Reference& reference,
                      const StepResponse& moves, double lost);
/// Shares of a step on its critical path, each from 0 to 1.
struct StepShares {
  double kernels = 0, host = 0, input = 0, communication = 0;
};
/// Returns the case of a step of a network with a layout, from shares instead of a simulation.
SpreadCase layout_case(const ClusterSpec& cluster, const Placement& ranks, KernelPrecision precision,
                       const StepShares& shares);

/// Returns the part of each input in the reach of the case; the squares of all parts add up to its square.
StepResponse response_of(const SpreadCase& known);
/// Returns both responses together: squares add up, input by input.
StepResponse joined(const StepResponse& a, const StepResponse& b);
/// Returns the response of a run relative to another run of the same job: the noise of two runs.
StepResponse run_to_run();
/// Returns the reach of all inputs together.
Reach reach_of(const StepResponse& response);
/// Returns the interval around the value.
Interval around(double value, const Reach& reach);
/// Returns the interval of the run: its steps with their reach, and the time around them with its own spread.
Interval total_around(const PredictionPoint& point, const Reach& step, double startup_spread);

/// Returns `device` with an input's logarithm moved by `by`. Requires kernels, host, input, node_links or
/// network.
DeviceModel moved(DeviceModel device, Uncertain input, double by);

/// Standard normal values of every input, stratified so that few draws have exact quantiles. The same seed
/// gives the same draws. Immutable after construction.
class Draws {
 public:
  /// The seed of all predictions, so that equal questions have equal answers.
  static constexpr std::uint64_t kSeed = 20231;
  explicit Draws(int count = 1000, std::uint64_t seed = kSeed);
  int count() const { return count_; }
  /// Returns the value of an input in one draw.
  double normal(Uncertain input, int draw) const {
    return values_[index_of(input)][static_cast<std::size_t>(draw)];
  }
  /// Returns a standard normal value of its own for each number of GPUs: the noise between two runs.
  double of_run(int gpus, int draw) const;
  /// Returns a standard normal value of its own for each strategy, by its index: the noise of its software.
  double of_strategy(std::size_t place, int draw) const;

 private:
  int count_;
  std::uint64_t seed_;
  /// Values by input, then by draw.
  std::array<std::vector<double>, kUncertainCount> values_;
};

/// Returns the factor on the step in each draw. The inputs' values, weighted by their parts in the reach,
/// combine into one standard normal value; the reach on its side converts that into a factor.
std::vector<double> step_factors(const StepResponse& response, const Draws& draws, int gpus);

/// Returns the interval that holds the middle part `level` of the values; quantiles are interpolated.
/// Requires at least one value.
Interval interval_of(std::vector<double> values, double level = 0.9);

// Predictions beyond the jobs that constants and spreads come from.

/// The size of the largest measured jobs of a strategy in docs/measured/scaling.csv.
struct MeasuredJobs {
  std::string_view strategy;
  int gpus = 0, nodes = 0;
};
/// Returns the table of all strategies with measured jobs on several GPUs.
const std::vector<MeasuredJobs>& measured_jobs();

/// Returns sentences on what goes beyond measured jobs; empty where such jobs have been measured.
std::vector<std::string> extrapolations(const Scenario& scenario, const std::vector<PredictionPoint>& points);

}  // namespace foretrain
