// How sure: intervals from many draws of the inputs, the same draws for every number of GPUs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

// How the time of a step follows each uncertain input, at one number of GPUs.

/// How far inputs are moved, in standard deviations: the 5 % and 95 % quantiles of a normal distribution.
inline constexpr double kReach = 1.6448536269514722;

/// Logarithm of the step's ratio when one input alone is kReach standard deviations up (slower) or down;
/// between and beyond on straight lines. Of `unmodelled`, `up` is the mean of the exponential distribution as
/// a share of the step, and `down` the most it can be below 0.
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

/// Part of the step's critical path that is the host's.
double host_share(const SimulatedStep& step);

/// Part of a GPU's throughput in the reference that a step of so many GPUs loses; negative where it gains.
double predicted_loss(const StepSimulator& simulator, int gpus, double step_s, const Reference& reference);

/// What is not modelled costs `mean` of the step, an exponential distribution of which the median is expected
/// already, as far as the prediction loses so much at all.
void set_unmodelled(StepResponse& response, double mean, double predicted_loss);

/// How far larger jobs scatter around the scaling of the measured one.
void set_scatter(StepResponse& response, double spread);

/// By derivatives alone: the critical path says which part of the step each input is. Costs nothing.
StepResponse linear_response(const StepSimulator& simulator, const DeviceModel& device,
                             const SimulatedStep& step, int gpus, const Spreads& spreads,
                             Reference reference);

/// What is hidden under something longer has no derivative, but shows when it gets slower: the upper sides of
/// kernels, host, input and links by one simulation each, where the spread is more than a few percent and the
/// step does not follow the input entirely.
StepResponse simulated_response(const StepSimulator& simulator, const DeviceModel& device,
                                const SimulatedStep& step, int gpus, const Spreads& spreads,
                                Reference reference);

/// The same for a model that was scaled to a measured step: what an input changes there, too, the scaling has
/// made up for. `there` is the response of the measured job; parts that were scaled are known already by
/// their spread. The measured run had its own noise.
StepResponse relative_to(const StepResponse& there, StepResponse here);

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
  /// Exponential with mean 1.
  double loss(int draw) const { return losses_[static_cast<std::size_t>(draw)]; }
  /// Standard normal, another one for each number of GPUs: what one run differs from the next.
  double of_run(int gpus, int draw) const;
  /// Standard normal, another one for each strategy by its place in the catalog: what its software differs
  /// by.
  double of_strategy(std::size_t place, int draw) const;

 private:
  int count_;
  std::uint64_t seed_;
  std::array<std::vector<double>, kUncertainCount> values_;
  std::vector<double> losses_;
};

/// By which factor the step is longer in each draw.
std::vector<double> step_factors(const StepResponse& response, const Draws& draws, int gpus);

/// The middle part `level` of the values; quantiles between two values on a straight line. Requires values.
Interval interval_of(std::vector<double> values, double level = 0.9);

/// Of the step that is so many times as long in each draw. Contains `step_s`.
Interval step_interval(double step_s, std::vector<double> factors);

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
