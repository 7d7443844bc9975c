// The sentences of an answer. Each function depends on its arguments alone.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Returns the point on this number of GPUs; nullptr when it is not listed. The pointer is the prediction's.
const PredictionPoint* answered_point(const Prediction& prediction, int gpus);

/// Returns the question: "resnet50 on puhti with ddp, fp32, batch 32 per GPU, on 1, 4 and 8 GPUs".
std::string question_words(const Scenario& scenario, const Prediction& prediction,
                           const std::vector<int>& counts);

/// Sets quantity, value and interval: of the run where its length is known, else of an epoch, else of a step.
void set_quantity(Answer& answer, const PredictionPoint& p, const Scenario& scenario);

/// Returns the sentence on the removal that saves most of the step, and one on links where they save much
/// less than users expect.
std::string cause_words(const StepCauses& causes, const PredictionPoint& p);

// Verdicts.

/// Returns the verdict where a setting that decides is not modelled. Requires answer.not_understood.
std::string cannot_say_words(const Answer& answer, const Scenario& scenario);
/// Returns "This job uses 2 of its 4 GPUs."
std::string idle_words(int working, int gpus);
/// Returns the sentence on the GPUs without a process.
std::string idle_cause(int working, int gpus);
/// Returns the same sentence with the gain of `mended`, the job with one process for each GPU, if it is
/// known.
std::string idle_words(const Scenario& scenario, const PredictionPoint& p,
                       const std::optional<PredictionPoint>& mended);
/// Returns true if what is offloaded may exceed the node's memory, and that is at least as likely as a
/// shortage on the GPU.
bool lacks_host_memory(const PredictionPoint& p);
/// Returns the verdict for a training that does not fit, or probably does not.
std::string does_not_fit_words(const Scenario& scenario, const PredictionPoint& p);
/// Returns the verdict for GPUs that wait for data. Requires answer.causes.
std::string waits_words(const Answer& answer, const PredictionPoint& p);
/// Returns the verdict that `fewer` GPUs are faster than those of `p`.
std::string slower_words(const PredictionPoint& p, const PredictionPoint& fewer);
/// Returns the verdict on the duration. `fits` is the probability of fitting, which is stated unless nearly
/// sure.
std::string time_words(const Answer& answer, const PredictionPoint& p, const Scenario& scenario, double fits);
/// Returns "It may not fit: 34 GB of 42.5 GB are needed, and 7 % of such runs are out of memory."
std::string may_not_fit_words(const std::string& needed, const std::string& there, double fits);
/// Returns the verdict of a recommendation: the job to request, or why none keeps the limits.
std::string request_words(const Recommendation& recommendation);

/// Returns one or two sentences for each setting that decides on this many nodes and is not modelled.
std::vector<std::string> unmodelled_words(const Scenario& scenario, int nodes);

/// Turns an answer with not_understood into one that cannot say; its figures stay.
void say_what_is_unmodelled(Answer& answer, const Scenario& scenario);

/// Returns "8 GPUs" or "1, 4 and 8 GPUs". Requires at least one number.
std::string counted_list(const std::vector<int>& counts);

// Actions.

/// Action for an unmodelled setting.
inline constexpr std::string_view kLeaveOut =
    "Leave the setting out and ask again, or --ignore KEY to be answered as if it were not there.";

/// Returns the command that starts one process for each GPU.
std::string idle_action(int gpus, int nodes);
/// Returns a remedy for too little memory on the host or on the GPU.
std::string does_not_fit_action(PointPredictor& points, const PredictionPoint& p);
/// Returns the options of a change that fits.
std::string fitting_action(const FittingWay& way);
/// Returns the number of loader workers to set, or other remedies where workers do not help.
std::string waits_action(const Answer& answer, const Scenario& scenario);
/// A change with which as many GPUs are faster than fewer of them.
struct FasterChange {
  std::string what, option;
  /// Samples per second over those of the fewer GPUs, both with the change.
  double ratio = 1;
};
/// Returns the changes that make more GPUs pay, or the advice to stay with fewer.
std::string slower_action(const std::vector<FasterChange>& ways, const PredictionPoint& fewer);
/// Returns the sentence that the GPUs of `p` do not pay against those of `worth`.
std::string fewer_words(const PredictionPoint& p, const PredictionPoint& worth);
/// Returns the sentence on GPUs beyond those of `p`.
std::string more_words(const PredictionPoint& p, bool more_pay, const Prediction& prediction);

}  // namespace foretrain
