// The sentences of an answer; each is a function of what it speaks of and nothing else.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// The point on so many GPUs; nullptr when it is not listed.
const PredictionPoint* answered_point(const Prediction& prediction, int gpus);

/// "resnet50 on puhti with ddp, fp32, batch 32 per GPU, on 1, 4 and 8 GPUs".
std::string question_words(const Scenario& scenario, const Prediction& prediction,
                           const std::vector<int>& counts);

/// What the answer is in: the run where its length is known, else an epoch, else a step.
void set_quantity(Answer& answer, const PredictionPoint& p, const Scenario& scenario);

/// Which removal saves most of the step, and that links do not where people would think so.
std::string cause_words(const StepCauses& causes, const PredictionPoint& p);

// Verdicts.

std::string cannot_say_words(const Answer& answer, const Scenario& scenario);
/// "This job uses 2 of its 4 GPUs."
std::string idle_words(int working, int gpus);
std::string idle_cause(int working, int gpus);
/// The same with what mending changes; `mended`: with one process for each GPU.
std::string idle_words(const Scenario& scenario, const PredictionPoint& p,
                       const std::optional<PredictionPoint>& mended);
/// Whether what is offloaded may not fit the node's memory, and that is likelier than the GPU's to be too
/// little.
bool lacks_host_memory(const PredictionPoint& p);
std::string does_not_fit_words(const Scenario& scenario, const PredictionPoint& p);
std::string waits_words(const Answer& answer, const PredictionPoint& p);
std::string slower_words(const PredictionPoint& p, const PredictionPoint& fewer);
/// `fits`: the chance of it; said where it is not nearly certain.
std::string time_words(const Answer& answer, const PredictionPoint& p, const Scenario& scenario, double fits);
/// "It may not fit: 34 GB of 42.5 GB are needed, and 7 % of such runs are out of memory."
std::string may_not_fit_words(const std::string& needed, const std::string& there, double fits);
std::string request_words(const Recommendation& recommendation);

/// Settings that decide on so many nodes and are not modelled, one or two sentences each.
std::vector<std::string> unmodelled_words(const Scenario& scenario, int nodes);

/// Where not_understood has something the answer is that nobody can say; its figures stay.
void say_what_is_unmodelled(Answer& answer, const Scenario& scenario);

/// "8 GPUs", "1, 4 and 8 GPUs".
std::string counted_list(const std::vector<int>& counts);

// Actions.

/// What to do about an unmodelled setting.
inline constexpr std::string_view kLeaveOut =
    "Leave the setting out and ask again, or --ignore KEY to be answered as if it were not there.";

std::string idle_action(int gpus, int nodes);
std::string does_not_fit_action(PointPredictor& points, const PredictionPoint& p);
std::string fitting_action(const FittingWay& way);
std::string waits_action(const Answer& answer, const Scenario& scenario);
/// A change with which as many GPUs are faster than fewer of them.
struct FasterChange {
  std::string what, option;
  double ratio = 1;  ///< of samples per second to those of the fewer GPUs, with the same change
};
std::string slower_action(const std::vector<FasterChange>& ways, const PredictionPoint& fewer);
std::string fewer_words(const PredictionPoint& p, const PredictionPoint& worth);
std::string more_words(const PredictionPoint& p, bool more_pay, const Prediction& prediction);

}  // namespace foretrain
