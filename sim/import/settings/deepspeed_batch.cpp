// Reads the batch of DeepSpeed: a total, samples of a GPU, and micro-steps. Two of them give the third, and
// all three must agree (docs/_pages/config-json.md):
//
//   train_batch_size = train_micro_batch_size_per_gpu * gradient_accumulation_steps * number of GPUs
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

/// Largest numbers that the scenario takes.
constexpr std::int64_t kMostBatch = 1'000'000, kMostGlobalBatch = 100'000'000, kMostAccumulation = 4096;

/// Returns one count of the batch. For "auto" it is what the program's argument says; nothing where that is
/// not known.
std::optional<std::int64_t> batch_part(SettingsReading& reading, const char* path, const char* argument,
                                       std::int64_t most) {
  if (!reading.is_auto(path)) return reading.integer({path}, 1, most);
  const auto told = number_in(reading.argument(argument));
  if (told && *told >= 1 && *told <= static_cast<double>(most)) return static_cast<std::int64_t>(*told);
  return std::nullopt;
}

/// Reads the three counts. Each case below is a set of counts that are known.
class BatchReader {
 public:
  explicit BatchReader(SettingsReading& reading)
      : reading_(reading),
        all_(batch_part(reading, kAll, "global_batch", kMostGlobalBatch)),
        micro_(batch_part(reading, kMicro, "batch_per_gpu", kMostBatch)),
        steps_(batch_part(reading, kSteps, "accumulation", kMostAccumulation)),
        gpus_(reading.context().gpus) {}

  /// Reads the batch by whichever counts are known.
  void read() {
    if (!micro_ && reading_.is_auto(kMicro) && !reading_.has(kAll)) ask(kMicro, "model.batch_per_gpu");
    // Hugging Face's Trainer has one micro-step unless it is told otherwise.
    if (reading_.is_auto(kSteps) && !steps_ && reading_.context().arguments != nullptr) steps_ = 1;
    if (all_ && micro_ && steps_) return all_three();
    if (micro_ && !all_) return without_all();
    if (all_ && !micro_) return without_micro();
    if (all_ && micro_) return without_steps();
    put_rest();
  }

 private:
  static constexpr const char *kAll = "train_batch_size", *kMicro = "train_micro_batch_size_per_gpu",
                              *kSteps = "gradient_accumulation_steps";

  /// Notes that the program's arguments decide a count.
  void ask(const char* path, const char* key) {
    reading_.fate_of(
        path, KeyFate::open,
        fmt::format("\"auto\" is filled in by the program's arguments; --set {}=N says it", key));
  }
  /// Tells the samples of a GPU, or the micro-steps.
  void put_micro() { reading_.effect_of(kMicro, {{"model.batch_per_gpu", std::to_string(*micro_)}}); }
  void put_steps(std::int64_t steps) {
    if (steps_) reading_.effect_of(kSteps, {{"strategy.accumulation", std::to_string(steps)}});
  }
  /// Handles what remains: "auto" that nothing resolves stays open, and a total that follows from the others
  /// needs no effect.
  void put_rest() {
    if (reading_.is_auto(kAll) && !all_) reading_.fate_of(kAll, KeyFate::usual, "follows from the others");
    if (reading_.is_auto(kMicro) && !micro_ && !all_) ask(kMicro, "model.batch_per_gpu");
    if (reading_.is_auto(kSteps) && !steps_) ask(kSteps, "strategy.accumulation");
    if (steps_) put_steps(*steps_);
  }

  /// All three counts are known, so the number of GPUs follows.
  void all_three() {
    // Samples of one GPU in a step of the optimizer.
    const std::int64_t of_one = *micro_ * *steps_;
    if (*all_ % of_one != 0)
      return reading_.mistake_at(
          kAll,
          fmt::format("train_batch_size = {} is no multiple of {} samples per GPU x {} micro-steps", *all_,
                      *micro_, *steps_),
          fmt::format("train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x "
                      "number of GPUs, as in {}",
                      of_one * std::max<std::int64_t>(1, *all_ / of_one)));
    const std::int64_t gpus = *all_ / of_one;
    if (gpus_ > 0 && gpus != gpus_)
      return reading_.mistake_at(
          kAll,
          fmt::format("train_batch_size = {} asks for {} GPUs ({} x {} samples each); there are {}", *all_,
                      gpus, *micro_, *steps_, gpus_),
          fmt::format("DeepSpeed stops at that; {} is that of {} GPUs", of_one * gpus_, gpus_));
    put_micro();
    put_steps(*steps_);
    reading_.effect_of(
        kAll, {{"run.gpus", gpu_list(gpus)}},
        fmt::format("{} samples of {} x {} on each GPU: {} GPUs", *all_, *micro_, *steps_, gpus));
    reading_.out().processes = static_cast<int>(std::min<std::int64_t>(gpus, 1'000'000));
  }

  /// The total is not given, so it follows.
  void without_all() {
    put_micro();
    put_rest();
  }

  /// The samples of a GPU are not given: DeepSpeed divides the total. model.global_batch are the samples of
  /// one micro-step on all GPUs.
  void without_micro() {
    const std::int64_t steps = steps_.value_or(1);
    if (*all_ % steps != 0)
      return reading_.mistake_at(
          kAll, fmt::format("train_batch_size = {} is no multiple of {} micro-steps", *all_, steps));
    if (gpus_ > 0 && *all_ % (steps * gpus_) != 0)
      return reading_.mistake_at(
          kAll, fmt::format("train_batch_size = {} is no multiple of {} GPUs x {} micro-steps", *all_, gpus_,
                            steps));
    put_steps(steps);
    if (reading_.is_auto(kMicro)) reading_.fate_of(kMicro, KeyFate::usual, "follows from the total");
    reading_.effect_of(kAll, {{"model.global_batch", std::to_string(*all_ / steps)}},
                       steps > 1 ? "samples of a micro-step on all GPUs" : "");
    if (reading_.is_auto(kSteps) && !steps_) reading_.fate_of(kSteps, KeyFate::usual, "1");
  }

  /// The micro-steps are not given: they follow once the number of GPUs is known.
  void without_steps() {
    put_micro();
    if (gpus_ == 0)
      return reading_.fate_of(kAll, KeyFate::open,
                              "with train_micro_batch_size_per_gpu it says the micro-steps once the number "
                              "of GPUs is known (--gpus N)");
    if (*all_ % (*micro_ * gpus_) != 0 || *all_ / (*micro_ * gpus_) > kMostAccumulation)
      return reading_.mistake_at(
          kAll,
          fmt::format("train_batch_size = {} is no multiple of {} samples x {} GPUs", *all_, *micro_, gpus_));
    reading_.effect_of(kAll, {{"strategy.accumulation", std::to_string(*all_ / (*micro_ * gpus_))}},
                       fmt::format("{} samples of {} on each of {} GPUs", *all_, *micro_, gpus_));
    if (reading_.is_auto(kSteps)) reading_.fate_of(kSteps, KeyFate::usual, "follows from the total");
  }

  SettingsReading& reading_;
  std::optional<std::int64_t> all_, micro_, steps_;
  int gpus_;
};

}  // namespace

/// The constructor looks the counts up, so the order of its members is that of the look-ups.
void read_deepspeed_batch(SettingsReading& reading) { BatchReader(reading).read(); }

}  // namespace foretrain
