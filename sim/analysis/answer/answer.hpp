// The answer to a question about a training: one verdict, one cause, one thing to do, and what it rests on.
// Every output says this object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/causes/cause.hpp"
#include "sim/analysis/step/prediction_point.hpp"

namespace foretrain {

/// Which sentence answers; the first that holds, in this order.
enum class VerdictKind : std::uint8_t {
  cannot_say,       ///< a setting that decides is not modelled
  would_not_start,  ///< the batch system or the strategy refuses it
  idle_gpus,        ///< GPUs of the job have no process
  does_not_fit,     ///< it is more likely than not that the memory is not enough
  request,          ///< a job was asked for: which to request
  waits_for_input,  ///< GPUs wait for data much of the time
  slower,           ///< than fewer GPUs
  time              ///< how long, and how much faster
};
/// "does_not_fit": the key in JSON.
std::string_view key_of(VerdictKind kind);

/// Something that nobody stated and that carries weight, with the option that states it.
struct Assumption {
  std::string text, option;
};

inline constexpr std::size_t kMostAssumptions = 4;

/// What would help against waiting for data.
struct InputRemedy {
  int workers_before = 0, workers = 0;  ///< loader workers for each `unit`
  std::vector<double> step_s{};         ///< with so many workers, for each of Answer::counts
  std::string unit = "GPU";             ///< or "process" (DataSet::per_process)
};

/// A change with which a training fits that does not as asked.
struct FittingWay {
  std::string what, option;  ///< "LoRA of rank 16 in bf16, micro-batches of 4"; what to add to the command
  int gpus = 1;
  Bytes memory{};     ///< needed on each GPU
  double chance = 0;  ///< of fitting, 0 to 1
  double step_s = 0;
};

/// How far a training can be taken on its GPUs, each with all else as asked; 0 or empty: not even the least.
struct TrainingLimits {
  int gpus = 1;
  std::int64_t batch_per_gpu = 0;                ///< as asked
  std::int64_t largest_batch = 0;                ///< per GPU and micro-step
  std::int64_t tokens = 0, longest_samples = 0;  ///< as asked, and the most; 0: the network reads no tokens
  Bytes least_memory{};                          ///< of a card that surely fits
  std::vector<std::string> smallest_cards{};     ///< of the catalog, those with the least memory that fits
};

/// The one verdict of a prediction with its cause, action, assumptions and confidence. Every output prints
/// this object; a figure in it is also a figure of its table.
struct Answer {
  VerdictKind kind = VerdictKind::time;
  std::string question{};  ///< what was asked, as it was understood
  std::string verdict{};   ///< the sentence that a person repeats
  int gpus = 1;            ///< that the verdict, the cause and the action are about
  std::string quantity{};  ///< what `value_s` is: "total", "epoch" or "step"
  double value_s = 0;
  Interval interval{};        ///< of it; high_s = 0: none is known
  std::vector<int> counts{};  ///< rows of its table: what was asked, or what decides; `gpus` is among them
  std::vector<PredictionPoint> rows{};    ///< the points on them, fewest GPUs first; of predict
  bool one_gpu_fits = true;               ///< so that a speedup over one GPU is one over a real run
  std::optional<StepCauses> causes{};     ///< of a step on `gpus`; none where it does not run
  std::string cause{};                    ///< a sentence
  std::string action{};                   ///< a sentence, and what to paste
  bool says_more_gpus = false;            ///< `action` says whether more GPUs pay, and asks for nothing
  std::vector<Assumption> assumptions{};  ///< at most four, largest effect first
  /// Settings that decide and are not modelled, with their effect.
  std::vector<std::string> not_understood{};
  std::vector<std::string> not_credible{};  ///< figures that break a law of physics, with what is wrong
  std::string measured{};                   ///< measured runs behind the prediction
  std::string next_measurement{};           ///< what would narrow the interval most
  std::vector<std::string> extrapolated{};  ///< where no measured job stands behind the interval
  std::optional<InputRemedy> remedy{};      ///< where workers would help
  std::vector<FittingWay> fits{};           ///< of a training that does not fit
  std::optional<TrainingLimits> limits{};   ///< where they were asked for
};

}  // namespace foretrain
