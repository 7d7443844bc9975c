// How sure: intervals from many draws of the inputs, the same draws for every number of GPUs.
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

// How the time of a step follows each uncertain input, at one number of GPUs.

/// How far inputs are moved, in standard deviations: the 5 % and 95 % quantiles of a normal distribution.
inline constexpr double kReach = 1.6448536269514722;

/// Logarithm of the step's ratio when one input alone is at its 95 % quantile (up, slower) or its 5 %
/// quantile (down); between and beyond on straight lines.
struct StepResponse {
  std::array<double, kUncertainCount> up{}, down{};
  double at(Uncertain input, double z) const;
};

/// What the answers refer to: the job that was measured, or one GPU.
struct Reference {
  int gpus = 1, nodes = 1;
  double samples_per_gpu_s = 0;  ///< a larger job is no faster per GPU, but for noise; 0: unknown
};
Reference reference_at(const StepSimulator& simulator, int gpus, double step_s);

/// Part of a GPU's throughput in the reference that a step of so many GPUs loses; negative where it gains.
double predicted_loss(const StepSimulator& simulator, int gpus, double step_s, const Reference& reference);

// What the step makes of its inputs when each alone moves by kReach times its spread.

/// By derivatives alone: the critical path says which part of the step each input is. Costs nothing.
StepResponse linear_response(const StepSimulator& simulator, const SimulatedStep& step, int gpus,
                             const Spreads& spreads);

/// What is hidden under something longer has no derivative, but shows when it gets slower: the upper sides of
/// kernels, host, input and links by one simulation each, where the spread is more than a few percent and the
/// step does not follow the input entirely.
StepResponse simulated_response(const StepSimulator& simulator, const DeviceModel& device,
                                const SimulatedStep& step, int gpus, const Spreads& spreads);

/// The response relative to a step that is known: an input that moves both steps alike leaves nothing.
StepResponse relative_to(const StepResponse& there, StepResponse here);

// From these to a case of the table of spreads, and back to what each input adds to the interval.

/// A step as simulated; of a network with a layout one of cut_step.
SpreadCase step_case(const Scenario& scenario, const Placement& ranks, const StepResponse& moves);
/// The step over that of a smaller job whose step is known. `moves`: relative to that one's.
SpreadCase ratio_case(const Scenario& scenario, const Placement& ranks, const Reference& reference,
                      const StepResponse& moves, double lost);
/// Shares of a step on its critical path.
struct StepShares {
  double kernels = 0, host = 0, input = 0, communication = 0;
};
/// A step of a network with a layout, by its shares.
SpreadCase layout_case(const ClusterSpec& cluster, const Placement& ranks, KernelPrecision precision,
                       const StepShares& shares);

/// What each input adds to the reach of the case; the squares of all add up to its square.
StepResponse response_of(const SpreadCase& known);
/// The squares of both, input by input.
StepResponse joined(const StepResponse& a, const StepResponse& b);
/// Of a run beside another one of the same job.
StepResponse run_to_run();
/// All inputs together.
Reach reach_of(const StepResponse& response);
/// Around the step.
Interval around(double value, const Reach& reach);
/// Of the run: its steps, and what comes around them to a spread of its own.
Interval total_around(const PredictionPoint& point, const Reach& step, double startup_spread);

/// `device` with an input's logarithm moved by `by`. Requires kernels, host, input, node_links or network.
DeviceModel moved(DeviceModel device, Uncertain input, double by);

/// Standard normal values of every input, stratified, so that few draws have exact quantiles. The same seed
/// gives the same draws.
class Draws {
 public:
  static constexpr std::uint64_t kSeed = 20231;
  explicit Draws(int count = 1000, std::uint64_t seed = kSeed);
  int count() const { return count_; }
  double normal(Uncertain input, int draw) const {
    return values_[index_of(input)][static_cast<std::size_t>(draw)];
  }
  /// Standard normal, another one for each number of GPUs: what one run differs from the next.
  double of_run(int gpus, int draw) const;
  /// Standard normal, another one for each strategy by its place in the catalog: what its software differs
  /// by.
  double of_strategy(std::size_t place, int draw) const;

 private:
  int count_;
  std::uint64_t seed_;
  std::array<std::vector<double>, kUncertainCount> values_;
};

/// By which factor the step is longer in each draw: the inputs' values, weighted by what each adds to the
/// reach, are one standard normal value, and the reach on its side says what that is worth.
std::vector<double> step_factors(const StepResponse& response, const Draws& draws, int gpus);

/// The middle part `level` of the values; quantiles between two values on a straight line. Requires values.
Interval interval_of(std::vector<double> values, double level = 0.9);

// What a prediction says beyond the jobs that its constants and spreads come from.

/// The largest measured jobs of a strategy in docs/measured/scaling.csv.
struct MeasuredJobs {
  std::string_view strategy;
  int gpus = 0, nodes = 0;
};
const std::vector<MeasuredJobs>& measured_jobs();

/// In sentences; empty when such jobs have been measured.
std::vector<std::string> extrapolations(const Scenario& scenario, const std::vector<PredictionPoint>& points);

}  // namespace foretrain
