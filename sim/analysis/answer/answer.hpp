// The answer to a question about a training: one verdict, one cause, one action, and the assumptions and
// confidence behind them. Every output prints this object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/causes/cause.hpp"
#include "sim/analysis/step/prediction_point.hpp"

namespace foretrain {

/// The sentence that answers; the first kind that holds is chosen, in this order.
enum class VerdictKind : std::uint8_t {
  /// A setting that decides is not modelled.
  cannot_say,
  /// The batch system or the strategy refuses the job.
  would_not_start,
  /// Some GPUs of the job have no process.
  idle_gpus,
  /// The memory is more likely too small than not.
  does_not_fit,
  /// A job was asked for: the verdict says which one to request.
  request,
  /// The GPUs wait for data much of the time.
  waits_for_input,
  /// The GPUs are slower than fewer GPUs.
  slower,
  /// The duration, and the speedup.
  time
};
/// Returns the key in JSON, such as "does_not_fit".
std::string_view key_of(VerdictKind kind);

/// A fact that was not stated and matters, with the option that states it.
struct Assumption {
  std::string text, option;
};

/// Most assumptions that an answer lists.
inline constexpr std::size_t kMostAssumptions = 4;

/// The number of loader workers that would shorten the wait for data.
struct InputRemedy {
  /// Workers for each `unit`, at present and proposed.
  int workers_before = 0, workers = 0;
  /// Seconds of a step with the proposed workers, for each of Answer::counts.
  std::vector<double> step_s{};
  /// "GPU", or "process" (DataSet::per_process).
  std::string unit = "GPU";
};

/// A change with which a training fits that does not fit as asked.
struct FittingWay {
  /// The change in words, "LoRA of rank 16 in bf16, micro-batches of 4", and the options to add to the
  /// command.
  std::string what, option;
  int gpus = 1;
  /// Memory needed on each GPU.
  Bytes memory{};
  /// Probability of fitting, from 0 to 1.
  double chance = 0;
  double step_s = 0;
};

/// The limits of a training on its GPUs, each with all else as asked. 0 or an empty list means that not even
/// the smallest value fits.
struct TrainingLimits {
  int gpus = 1;
  /// Batch as asked.
  std::int64_t batch_per_gpu = 0;
  /// Largest batch per GPU and micro-step.
  std::int64_t largest_batch = 0;
  /// Tokens of a sample as asked, and the most that fit; 0 for networks that read no tokens.
  std::int64_t tokens = 0, longest_samples = 0;
  /// Memory of a GPU that surely fits.
  Bytes least_memory{};
  /// Names of the catalog's GPUs with the least memory that fits.
  std::vector<std::string> smallest_cards{};
};

/// The verdict of a prediction with its cause, action, assumptions and confidence. A figure in its sentences
/// is also a figure of its table.
struct Answer {
  VerdictKind kind = VerdictKind::time;
  /// The question as it was understood.
  std::string question{};
  /// The one sentence that users repeat.
  std::string verdict{};
  /// Number of GPUs that verdict, cause and action are about.
  int gpus = 1;
  /// Meaning of `value_s`: "total", "epoch", "step", or the name of another goal.
  std::string quantity{};
  /// Value of `quantity`; seconds, except for other goals of tune.
  double value_s = 0;
  /// Interval of `value_s`; high_s is 0 where none is known.
  Interval interval{};
  /// Numbers of GPUs in the table: those asked for, or those that decide. `gpus` is one of them.
  std::vector<int> counts{};
  /// Points on them, fewest GPUs first; filled by predict.
  std::vector<PredictionPoint> rows{};
  /// True if one GPU can run the training, so that a speedup over it refers to a real run.
  bool one_gpu_fits = true;
  /// Causes of a step on `gpus`; absent where it does not run.
  std::optional<StepCauses> causes{};
  /// Sentences on the largest cause.
  std::string cause{};
  /// Sentences on the next action, with options to paste.
  std::string action{};
  /// True if `action` only states whether more GPUs pay and requests nothing.
  bool says_more_gpus = false;
  /// Assumptions, at most kMostAssumptions, largest effect first.
  std::vector<Assumption> assumptions{};
  /// Settings that decide and are not modelled, with their effect.
  std::vector<std::string> not_understood{};
  /// Figures that break a law of physics, one sentence each.
  std::vector<std::string> not_credible{};
  /// Measured runs behind the prediction, in words.
  std::string measured{};
  /// The measurement that would narrow the interval most.
  std::string next_measurement{};
  /// Sentences on points beyond all measured jobs.
  std::vector<std::string> extrapolated{};
  /// Present where more workers would help.
  std::optional<InputRemedy> remedy{};
  /// Changes with which a training fits that does not.
  std::vector<FittingWay> fits{};
  /// Present where the limits were asked for.
  std::optional<TrainingLimits> limits{};
};

}  // namespace foretrain
