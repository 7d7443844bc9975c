// Functions that derive an answer from a prediction.
#pragma once

#include "sim/analysis/answer/answer_words.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Returns the answer to a prediction whose points and crossover are complete. `one_gpu` is the point that
/// speedups count from. Simulates the step of the answered number of GPUs again without each of its causes.
Answer answer_of(PointPredictor& points, const Prediction& prediction, const PredictionPoint& one_gpu);

/// Returns the same answer with the recommended job as its verdict. `use` calibrates the step whose causes
/// are named.
Answer with_recommendation(Answer answer, const Recommendation& recommendation, const Scenario& scenario,
                           const EvidenceUse& use = {});

// Parts of an answer, each in its own file.

/// Returns changes with which `gpus` are at least a tenth faster than `fewer`, each simulated: another
/// strategy in place of one process that drives all GPUs, and the first larger batch that fits.
std::vector<FasterChange> faster_changes(const PointPredictor& points, int gpus, int fewer);

/// Returns the facts that nobody stated, largest effect first, at most kMostAssumptions.
std::vector<Assumption> assumptions_of(const Scenario& scenario);

/// Returns true if the user sets the number of worker processes, as for PyTorch's DataLoader. tf.data and
/// DALI choose their threads themselves.
bool has_workers_to_set(const Workload& workload);

/// Ratio of step times below which more workers are recommended, in predict and in --recommend.
inline constexpr double kWorthWorkers = 0.95;

/// Returns the fewest workers beyond the scenario's with which a step on `gpus` is clearly faster. Nothing if
/// more do not help or the user does not set them. Each doubling is simulated.
std::optional<InputRemedy> input_remedy(const PointPredictor& points, int gpus,
                                        const std::vector<int>& counts);

/// Returns the reason why N GPUs may be more than N times as fast as one: one GPU cannot hold the training,
/// or a part of the step shrinks with more GPUs. Empty if they are not so fast, or nothing explains it.
std::string why_more_than_linear(const PointPredictor& points, const Prediction& prediction,
                                 const PredictionPoint& many);

/// Returns one sentence for each impossible figure: faster than the GPU's peak, or more than N times as fast
/// on N GPUs without a reason.
std::vector<std::string> not_credible(const PointPredictor& points, const Prediction& prediction);
/// Returns the sentence on a model FLOPs utilization (`mfu`) above 1.
std::string faster_than_peak(int gpus, double mfu);

}  // namespace foretrain
