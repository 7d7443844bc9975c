// From a prediction to its answer.
#pragma once

#include "sim/analysis/answer/answer_words.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// The points and the crossover of `prediction` are complete; `one_gpu` is the point that speedups count
/// from. Simulates the step of the answered number of GPUs again without each of its causes.
Answer answer_of(PointPredictor& points, const Prediction& prediction, const PredictionPoint& one_gpu);

/// The same answer with the job that was recommended in the first line.
Answer with_recommendation(Answer answer, const Recommendation& recommendation, const Scenario& scenario,
                           const EvidenceUse& use = {});

// Parts of an answer, each in its own file.

/// Changes with which `gpus` are at least a tenth faster than `fewer`, each simulated: another strategy for
/// one process that drives all GPUs, and the first larger batch that fits.
std::vector<FasterChange> faster_changes(const PointPredictor& points, int gpus, int fewer);

/// What nobody stated, largest effect first.
std::vector<Assumption> assumptions_of(const Scenario& scenario);

/// Whether the user sets a number of worker processes: of PyTorch's DataLoader. tf.data and DALI have threads
/// of their own choosing, and without a loader nothing is loaded.
bool has_workers_to_set(const Workload& workload);

/// A step has to become this much shorter before anybody is told to change the workers; predict and
/// --recommend have no other bar.
inline constexpr double kWorthWorkers = 0.95;

/// The fewest workers beyond the scenario's with which a step on `gpus` is clearly faster; none when more do
/// not help, or when the loader has no workers of the user's.
std::optional<InputRemedy> input_remedy(const PointPredictor& points, int gpus,
                                        const std::vector<int>& counts);

/// Why N GPUs may be more than N times as fast as one: its memory does not hold the training, or a part of
/// its step shrinks with more GPUs. Empty where they are not, or nothing explains it.
std::string why_more_than_linear(const PointPredictor& points, const Prediction& prediction,
                                 const PredictionPoint& many);

/// Figures that cannot be: faster than the GPU's peak, or more than N times as fast on N GPUs without a
/// reason. One sentence each.
std::vector<std::string> not_credible(const PointPredictor& points, const Prediction& prediction);
/// One of them: `mfu` above 1.
std::string faster_than_peak(int gpus, double mfu);

}  // namespace foretrain
