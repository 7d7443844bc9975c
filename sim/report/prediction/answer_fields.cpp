// Declares the JSON fields of an answer: its sentences as they are printed, and its figures unrounded.
//
// Texts are rounded for people; figures in JSON have all their digits. Verdict, cause and action are the same
// sentences in every format.
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

template <>
const OutputObject<StepCause>& output_object<StepCause>();
template <>
const OutputObject<CausePart>& output_object<CausePart>();
template <>
const OutputObject<StepCauses>& output_object<StepCauses>();
template <>
const OutputObject<Assumption>& output_object<Assumption>();
template <>
const OutputObject<FittingWay>& output_object<FittingWay>();
template <>
const OutputObject<TrainingLimits>& output_object<TrainingLimits>();

namespace {

/// Returns the keys of all causes that can be removed.
OneOf removable_names() {
  OneOf out;
  for (const Removable what : kRemovable) out.names.emplace_back(key_of(what));
  return out;
}

/// Returns the keys of the causes that were removed together.
std::vector<std::string> keys_of(const StepCause& cause) {
  std::vector<std::string> out;
  for (const Removable what : cause.what) out.emplace_back(key_of(what));
  return out;
}

/// Returns the text, or nothing when it is empty.
std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

// answer.causes.removed[]: the step without this cause.
template <>
const OutputObject<StepCause>& output_object<StepCause>() {
  using C = StepCause;
  static const OutputObject<C> object{
      "RemovedCause",
      "A cause of a step's time, removed by itself",
      {{"what", "the cause, or two that hide each other", keys_of, removable_names()},
       {"name", "in words", &C::name},
       {"without", "the words for a step without it", &C::without},
       {"step_s", "the step without it", &C::step_s},
       {"saves_s", "what that saves of the step", &C::saves_s}}};
  return object;
}

// answer.causes.in_turn[]: the parts sum to step_s - kernels_s.
template <>
const OutputObject<CausePart>& output_object<CausePart>() {
  static const OutputObject<CausePart> object{
      "CausePart",
      "What a cause adds when causes are removed one after another",
      {{"what", "the cause", [](const CausePart& part) { return key_of(part.what); }, removable_names()},
       {"seconds", "of the step", &CausePart::seconds}}};
  return object;
}

// answer.causes.
template <>
const OutputObject<StepCauses>& output_object<StepCauses>() {
  using C = StepCauses;
  static const OutputObject<C> object{
      "StepCauses",
      "The causes of a step's time, each found by simulating the step without it",
      {{"gpus", "number of GPUs", &C::gpus},
       {"step_s", "the step as simulated", &C::step_s},
       {"removed",
        "each cause removed by itself, largest saving first; two that hide each other are removed as a pair",
        &C::alone},
       {"in_turn", "causes removed one after another: the seconds sum to step_s - kernels_s", &C::in_turn},
       {"kernels_s", "the step without any of them", &C::kernels_s}}};
  return object;
}

// answer.assumptions[].
template <>
const OutputObject<Assumption>& output_object<Assumption>() {
  static const OutputObject<Assumption> object{
      "Assumption",
      "Something that nobody stated and that carries weight",
      {{"text", "what is assumed", &Assumption::text},
       {"option", "the option that states it", &Assumption::option}}};
  return object;
}

// answer.what_fits[]: a change with which the training fits into memory.
template <>
const OutputObject<FittingWay>& output_object<FittingWay>() {
  using W = FittingWay;
  static const OutputObject<W> object{
      "FittingWay",
      "A change with which a training fits that does not as asked",
      {{"what", "the change, in words", &W::what},
       {"option", "what to add to the command", &W::option},
       {"gpus", "number of GPUs", &W::gpus},
       {"memory_bytes", "needed on each GPU", [](const W& w) { return w.memory.count; }},
       {"chance_of_fitting", "0 to 1", &W::chance},
       {"step_s", "the predicted step", &W::step_s}}};
  return object;
}

// answer.limits, with --limits.
template <>
const OutputObject<TrainingLimits>& output_object<TrainingLimits>() {
  using L = TrainingLimits;
  static const OutputObject<L> object{
      "TrainingLimits",
      "How far a training can be taken on its GPUs, each limit with all else as asked",
      {{"gpus", "number of GPUs", &L::gpus},
       {"batch_per_gpu", "as asked", &L::batch_per_gpu},
       {"largest_batch_per_gpu", "the largest batch of a micro-step that fits; 0: none", &L::largest_batch},
       {"tokens", "of a sample, as asked; 0: the network reads no tokens", &L::tokens},
       {"longest_tokens", "the longest samples that fit at that batch; 0: none", &L::longest_samples},
       {"least_memory_bytes", "of a card on which the training surely fits",
        [](const L& l) { return l.least_memory.count; }},
       {"smallest_cards", "those of the catalog with the least memory that is enough", &L::smallest_cards}}};
  return object;
}

// The answer itself, which most reports have.
template <>
const OutputObject<Answer>& output_object<Answer>() {
  using A = Answer;
  static const OutputObject<A> object{
      "Answer",
      "The one answer, as every output says it",
      {{"kind", "which sentence answers", [](const A& a) { return key_of(a.kind); },
        OneOf{{"cannot_say", "would_not_start", "idle_gpus", "does_not_fit", "request", "waits_for_input",
               "slower", "time"}}},
       {"question", "what was asked, as it was understood", &A::question},
       {"verdict", "the sentence to act on; headline is the same", &A::verdict},
       {"gpus", "the number of GPUs that verdict, cause and action are about", &A::gpus},
       {"quantity", "what value_s is, in seconds; of tune its goal, with the goal's unit", &A::quantity,
        OneOf{{"total", "epoch", "step", "total_s", "epoch_s", "step_s", "samples_per_s", "gpu_hours",
               "energy_kwh", "cost", "time"}}},
       {"value_s", "the predicted time", &A::value_s},
       {"interval", "where it lies at the level; null: unknown",
        [](const A& a) { return a.interval.high_s > 0 ? std::optional(a.interval) : std::nullopt; }},
       {"counts", "the numbers of GPUs of its table; no verdict speaks of another", &A::counts},
       {"cause", "the cause whose removal saves most of the step; empty where it does not run", &A::cause},
       {"causes", "the causes of a step on gpus; null: it does not run", &A::causes},
       {"action", "what to do, with the option or line to paste", &A::action},
       {"what_fits", "changes with which a training that does not fit does; largest change last", &A::fits},
       {"limits", "how far the training can be taken; null: not asked for", &A::limits},
       {"assumptions", "what nobody stated, largest effect first", &A::assumptions},
       {"not_understood", "settings that decide and are not modelled", &A::not_understood},
       {"not_credible", "figures that break a law of physics", &A::not_credible},
       {"measured", "measured runs that the prediction is calibrated to",
        [](const A& a) { return unless_empty(a.measured); }},
       {"extrapolated", "where nothing comparable was measured", &A::extrapolated},
       {"next_measurement", "what would narrow the interval most",
        [](const A& a) { return unless_empty(a.next_measurement); }}}};
  return object;
}

}  // namespace foretrain
