// Declares the JSON fields of a prediction: the question, one point for each number of GPUs, and what follows
// from them.
//
// Names end in their unit: _s is seconds, _bytes is bytes, and a name without an ending is a count, a share
// or a text.
#include <algorithm>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/report/fields/shared_fields.hpp"
#include "sim/report/prediction/crossover_fields.hpp"

namespace foretrain {

template <>
const OutputObject<LargeModelPoint>& output_object<LargeModelPoint>();
template <>
const OutputObject<TornadoBar>& output_object<TornadoBar>();
template <>
const OutputObject<NarrowedBy>& output_object<NarrowedBy>();

namespace {

// Fields that belong to an option or to some points only are absent, not null.
constexpr WhenUnknown kWhenThere = WhenUnknown::is_absent;

// Memory of a GPU as a total with its parts, which sum to it.
struct WholeMemory {
  const PredictionPoint& point;
};
struct WholeHostMemory {
  const PredictionPoint& point;
};
struct RequestedSensitivity {
  const Sensitivity& found;
  const Prediction& of;
};

/// Returns the getter of one part of the memory.
auto memory_part(Bytes MemoryUse::*part) {
  return [part](const WholeMemory& m) { return m.point.memory.*part; };
}

/// Returns the getter of one part of the run's overhead.
auto overhead(double RunOverhead::*part) {
  return [part](const PredictionPoint& p) { return p.overhead.*part; };
}

}  // namespace

// points[].memory.ledger.rows[].
template <>
const OutputObject<MemoryRow>& output_object<MemoryRow>() {
  const auto in_phase = [](std::size_t phase) {
    return [phase](const MemoryRow& row) { return row.held[phase]; };
  };
  static const OutputObject<MemoryRow> object{
      "MemoryRow",
      "What a class of tensors takes when the GPU is fullest in each phase of a step",
      {{"tensors", "the class", [](const MemoryRow& row) { return std::string(row.tensors); }},
       {"forward_bytes", "in the forward pass", in_phase(0)},
       {"backward_bytes", "in the backward pass", in_phase(1)},
       {"optimizer_bytes", "in the optimizer's step", in_phase(2)}}};
  return object;
}

// points[].memory.ledger.
template <>
const OutputObject<MemoryLedger>& output_object<MemoryLedger>() {
  using L = MemoryLedger;
  static const OutputObject<L> object{
      "MemoryLedger",
      "The memory by class of tensors and phase",
      {{"rows", "classes that take something in a phase", &L::rows},
       {"allocated_bytes", "the fullest phase: torch.cuda.max_memory_allocated()",
        [](const L& l) { return *std::ranges::max_element(l.allocated); }},
       {"reserved_bytes", "with what the allocator rounds up: max_memory_reserved()", &L::reserved},
       {"shown_bytes", "with context, libraries and NCCL: nvidia-smi", &L::shown}}};
  return object;
}

// points[].memory.
template <>
const OutputObject<WholeMemory>& output_object<WholeMemory>() {
  using M = WholeMemory;
  static const OutputFields<M> parts{
      {"parameters_bytes", "weights", memory_part(&MemoryUse::parameters)},
      {"gradients_bytes", "gradients", memory_part(&MemoryUse::gradients)},
      {"optimizer_bytes", "the optimizer's state", memory_part(&MemoryUse::optimizer)},
      {"buckets_bytes", "buckets of gradients that are exchanged", memory_part(&MemoryUse::buckets)},
      {"activations_bytes", "what forward keeps for backward", memory_part(&MemoryUse::activations)},
      {"workspace_bytes", "scratch memory of convolutions", memory_part(&MemoryUse::workspace)},
      {"framework_bytes", "of framework, libraries and driver", memory_part(&MemoryUse::framework)},
      {"kind", "of unlike nodes those with the least to spare, whose memory this is",
       [](const M& m) { return m.point.unlike.empty() ? std::nullopt : std::optional(m.point.memory_kind); },
       kWhenThere},
      {"ledger", "by class of tensors and phase; of networks that are not cut, on ranks that are alike",
       [](const M& m) { return m.point.ledger; }, kWhenThere}};
  static const OutputFields<M> whole{
      {"bytes", "what it holds, with as much scratch memory of convolutions as the GPU has room for",
       [](const M& m) { return m.point.memory.total(); }},
      {"capacity_bytes", "what the GPU has", [](const M& m) { return m.point.memory_capacity; }},
      {"fits", "whether it fits: bytes is no more than capacity_bytes",
       [](const M& m) { return m.point.memory.total() <= m.point.memory_capacity; }},
      {"fits_tightly", "whether it fits only with less scratch memory than the fastest convolutions take",
       [](const M& m) { return m.point.fits_tightly(); }},
      {"chance_of_fitting",
       "the chance that the training runs in this memory and, with offload, in the node's, from the error of "
       "predicted memory",
       [](const M& m) { return chance_of_fitting(m.point); }},
      {"largest_batch_per_gpu",
       "the largest batch of a micro-step that fits with all the scratch memory the fastest convolutions "
       "take, whatever batch was asked for: one sample more fits tightly or not at all; at most 1,000,000, "
       "0: none",
       [](const M& m) { return m.point.largest_batch; }}};
  static const OutputObject<M> object{"Memory", "Memory of the GPU that needs most", whole + parts};
  return object;
}

// points[].host_memory.
template <>
const OutputObject<WholeHostMemory>& output_object<WholeHostMemory>() {
  using M = WholeHostMemory;
  const auto part = [](Bytes HostMemoryUse::*of) {
    return [of](const M& m) { return m.point.host_memory.*of; };
  };
  static const OutputObject<M> object{
      "HostMemory",
      "What is offloaded to the memory of the fullest node",
      {{"bytes", "of all ranks of the node", [](const M& m) { return m.point.host_memory.total(); }},
       {"capacity_bytes", "what the node has; null: the cluster does not state it",
        [](const M& m) {
          return m.point.knows_host() ? std::optional(m.point.host_capacity) : std::nullopt;
        }},
       {"chance_of_fitting", "the chance that the node's memory holds it; null as capacity_bytes",
        [](const M& m) {
          return m.point.knows_host() ? std::optional(chance_of_host(m.point)) : std::nullopt;
        }},
       {"masters_bytes", "weights that the optimizer steps on", part(&HostMemoryUse::masters)},
       {"moments_bytes", "the optimizer's state", part(&HostMemoryUse::moments)},
       {"gradients_bytes", "as the optimizer reads them", part(&HostMemoryUse::gradients)},
       {"weights_bytes", "weights that are copied to GPUs", part(&HostMemoryUse::weights)},
       {"activations_bytes", "activations that wait for backward", part(&HostMemoryUse::activations)},
       {"buffers_bytes", "page-locked buffers, and what allocations are rounded up by",
        part(&HostMemoryUse::buffers)},
       {"processes_bytes", "Python and CUDA", part(&HostMemoryUse::processes)},
       {"on_drive_bytes", "on NVMe, besides", part(&HostMemoryUse::on_drive)}}};
  return object;
}

// points[].parallel.
template <>
const OutputObject<LargeModelPoint>& output_object<LargeModelPoint>() {
  using L = LargeModelPoint;
  static const OutputObject<L> object{
      "ParallelPoint",
      "The layout of [parallel], and what large models are compared by",
      {{"layout", "degrees above 1, as in TP 8 x PP 4 x DP 2", &L::layout},
       {"micro_batches", "of an optimizer step", &L::micro_batches},
       {"tokens_per_s_per_gpu", "training rate of a GPU", &L::tokens_per_s_per_gpu},
       {"model_tflops_per_gpu", "3 x forward with the causal half of attention, nothing recomputed",
        &L::model_tflops},
       {"mfu", "over the peak of the products' precision", &L::mfu},
       {"bubble", "share of the step in which the busiest stage has nothing to do", &L::bubble},
       {"fullest_stage", "whose memory decides, from 0", &L::fullest_stage}}};
  return object;
}

namespace {

/// Returns the fields of times and rates.
const OutputFields<PredictionPoint>& time_fields() {
  using P = PredictionPoint;
  static const OutputFields<P> fields{
      {"gpus", "number of GPUs", &P::gpus},
      {"nodes", "nodes they are on", &P::nodes},
      {"batch_per_gpu", "samples per GPU and micro-step", &P::batch_per_gpu},
      {"global_batch",
       "samples that an optimizer step trains, of all ranks; with a global batch that does not divide more "
       "than it",
       &P::global_batch},
      {"steps_per_epoch", "null: the number of samples is unknown", known(&KnownFigures::steps_per_epoch)},
      {"step_s", "a step", &P::step_s},
      {"epoch_s", "an epoch; null: the number of samples is unknown, or drop_last leaves no step",
       known(&KnownFigures::epoch_s)},
      {"total_s", "the whole run; null as epoch_s", known(&KnownFigures::total_s)},
      {"samples_per_s", "training rate over all GPUs", &P::samples_per_s},
      {"speedup", kSpeedupMeaning, known(&KnownFigures::speedup)},
      {"efficiency", "speedup / GPUs; null as speedup", known(&KnownFigures::efficiency)},
      {"gpu_hours", "GPUs times hours; null as total_s", known(&KnownFigures::gpu_hours)}};
  return fields;
}

/// Returns the fields of the run's time that is no training step.
const OutputFields<PredictionPoint>& overhead_fields() {
  static const OutputFields<PredictionPoint> fields{
      {"other_s", "of the run that is no training step", [](const auto& p) { return p.overhead.total_s(); }},
      {"startup_s", "of the run before its first step", overhead(&RunOverhead::startup_s)},
      {"loader_restart_s", "of the run for loaders at the start of epochs",
       overhead(&RunOverhead::loader_restart_s)},
      {"validation_s", "of the run for validation", overhead(&RunOverhead::validation_s)},
      {"checkpoint_s", "of the run for checkpoints", overhead(&RunOverhead::checkpoint_s)},
      {"periodic_s", "of the run for other work of a given duration", overhead(&RunOverhead::periodic_s)}};
  return fields;
}

/// Returns intervals, memory and the breakdown of the step.
const OutputFields<PredictionPoint>& certainty_fields() {
  using P = PredictionPoint;
  static const OutputFields<P> fields{
      {"interval", "where step_s lies at the level; null: unknown", known(&KnownFigures::interval)},
      {"epoch_interval", "the same of epoch_s", known(&KnownFigures::epoch_interval)},
      {"total_interval", "the same of total_s", known(&KnownFigures::total_interval)},
      {"speedup_interval", "the same of speedup",
       [](const P& p) {
         const std::optional<Range> range = known_figures(p).speedup_range;
         return range ? std::optional(LevelRange{range->low, range->high, p.interval.level}) : std::nullopt;
       }},
      {"chance_of_gain", "probability that it is faster than one GPU", known(&KnownFigures::chance_of_gain)},
      {"memory", "of the GPU that needs most", [](const P& p) { return WholeMemory{p}; }},
      {"breakdown", "of a step; the parts sum to it", &P::breakdown},
      {"buckets_bytes", "gradients that are exchanged together, first to last", &P::buckets}};
  return fields;
}

/// Returns fields that only some trainings have.
const OutputFields<PredictionPoint>& special_fields() {
  using P = PredictionPoint;
  static const OutputFields<P> fields{
      {"host_memory", "with offload: of the node that needs most",
       [](const P& p) { return p.host_memory.is_used() ? std::optional(WholeHostMemory{p}) : std::nullopt; },
       kWhenThere},
      {"parallel", "with [parallel]: the layout and what large models are compared by", &P::large,
       kWhenThere},
      {"unlike_ranks", "ranks of one machine, batch and clock each, in the order of their first ranks",
       [](const P& p) { return p.unlike.empty() ? std::nullopt : std::optional(p.unlike); }, kWhenThere},
      {"waits_for_slower_s",
       "part of rank 0's exposed communication: slower ranks are not ready; only with unlike_ranks",
       [](const P& p) { return p.unlike.empty() ? std::nullopt : std::optional(p.waits_for_slower_s); },
       kWhenThere}};
  return fields;
}

}  // namespace

// points[].
template <>
const OutputObject<PredictionPoint>& output_object<PredictionPoint>() {
  static const OutputObject<PredictionPoint> object{
      "PredictionPoint", "One number of GPUs",
      time_fields() + overhead_fields() + certainty_fields() + special_fields()};
  return object;
}

// sensitivity.inputs[].
template <>
const OutputObject<TornadoBar>& output_object<TornadoBar>() {
  using T = TornadoBar;
  static const OutputObject<T> object{
      "UncertainInput",
      "What one uncertain input alone does to the time, the others as predicted",
      {{"input", "which, in words", &T::input},
       {"origin", "where its value comes from", &T::origin},
       {"low_s", "lower end", &T::low_s},
       {"high_s", "upper end", &T::high_s},
       {"share", "of the variance that the inputs make together", &T::share}}};
  return object;
}

// sensitivity.measure[].
template <>
const OutputObject<NarrowedBy>& output_object<NarrowedBy>() {
  using N = NarrowedBy;
  static const OutputObject<N> object{"NarrowedBy",
                                      "The interval of the time once something has been measured",
                                      {{"what", "the measurement, in words", &N::measurement},
                                       {"low_s", "lower end", &N::low_s},
                                       {"high_s", "upper end", &N::high_s}}};
  return object;
}

// sensitivity.
template <>
const OutputObject<RequestedSensitivity>& output_object<RequestedSensitivity>() {
  using A = RequestedSensitivity;
  static const OutputObject<A> object{
      "Sensitivity",
      "Which inputs matter, largest first, and which measurement would narrow the answer most",
      {{"gpus", "number of GPUs", [](const A& a) { return a.found.gpus; }},
       {"total_s", "the whole run; null: the number of samples is unknown",
        [](const A& a) { return a.found.is_of_step ? std::nullopt : std::optional(a.found.total_s); }},
       {"step_s", "a step, which inputs and measure are then about; null: total_s is known",
        [](const A& a) { return a.found.is_of_step ? std::optional(a.found.total_s) : std::nullopt; }},
       {"interval", "where that lies at the level", [](const A& a) { return a.found.interval; }},
       {"inputs", "uncertain inputs", [](const A& a) { return a.found.bars; }},
       {"measure", "measurements, best first", [](const A& a) { return a.found.narrowed; }},
       {"runs",
        "short runs of one's own, those that leave least of the uncertainty of the largest step first",
        [](const A& a) { return a.of.evidence ? std::optional(a.of.evidence->runs) : std::nullopt; },
        kWhenThere}}};
  return object;
}

namespace {

/// Returns the getter of something that exists only for a training that can run.
template <class Found>
auto if_it_runs(Found Prediction::*found) {
  return [found](const Prediction& p) { return p.cannot_run ? std::nullopt : std::optional(p.*found); };
}

/// Returns the evidence when it changed the points.
std::optional<AppliedEvidence> shown_evidence(const Prediction& p) {
  const bool is_shown = p.evidence && !p.evidence->raw.empty() && p.evidence->is_applied();
  return is_shown ? p.evidence : std::nullopt;
}

std::optional<RequestedSensitivity> asked_sensitivity(const Prediction& p) {
  if (!p.sensitivity) return std::nullopt;
  return RequestedSensitivity{*p.sensitivity, p};
}

/// Returns the fields of the question, its points and its answer.
const OutputFields<Prediction>& question_fields() {
  using P = Prediction;
  static const OutputFields<P> fields{
      {"scenario", "its name: the file without folder and ending, or \"model on cluster\"", &P::scenario},
      {"model", "the network", &P::model},
      {"cluster", "the cluster", &P::cluster},
      {"strategy", "how the work is divided", &P::strategy},
      {"precision", "as model.precision of a scenario; \"as recorded\" of a recorded program", &P::precision},
      {"scaling", "weak: the batch per GPU stays; strong: the global batch does",
       [](const P& p) { return scaling_name(p.strong_scaling); }, kScalings},
      {"headline", "the answer in a sentence", [](const P& p) { return p.answer.verdict; }},
      {"points", "one for each number of GPUs or size", &P::points},
      {"answer", "the one answer, as every output says it", &P::answer},
      {"cannot_run", "no number of GPUs has the memory", &P::cannot_run}};
  return fields;
}

/// Returns the fields that follow from the points.
const OutputFields<Prediction>& crossover_fields() {
  using P = Prediction;
  static const OutputFields<P> fields{
      {"crossover", "where more GPUs stop paying; null: it cannot run", if_it_runs(&P::crossover)},
      {"crossover_interval", "the 90 % interval of its answers", if_it_runs(&P::crossover_spread)},
      {"to_narrow", "of a wide interval what makes it so and what to measure; null where none is wide",
       [](const P& p) { return p.to_narrow.empty() ? std::nullopt : std::optional(p.to_narrow); }},
      {"recommendation", "with --recommend", &P::recommendation, kWhenThere},
      {"sensitivity", "with --sensitivity", asked_sensitivity, kWhenThere},
      {"evidence", "where measured runs corrected the points; --evidence off: never", shown_evidence,
       kWhenThere},
      {"mixing", "where ranks are not alike: what that costs on the most GPUs that are listed", &P::mixing,
       kWhenThere},
      {"break_even", "with --break-even", &P::break_even, kWhenThere},
      {"decisions", "what the model chose, and why", [](const P& p) { return p.decisions.list(); }},
      {"warnings", "what the user should know, in sentences", &P::warnings},
      {"extrapolated", "where nothing comparable was measured", &P::extrapolated}};
  return fields;
}

}  // namespace

// foretrain.prediction/1: the whole report.
template <>
const OutputObject<Prediction>& output_object<Prediction>() {
  static const OutputObject<Prediction> object{
      "Prediction", "A scaling table",
      schema_of_report<Prediction>("prediction") + question_fields() + crossover_fields(), "prediction"};
  return object;
}

// foretrain.predictions/1.
template <>
const OutputObject<SeveralPredictions>& output_object<SeveralPredictions>() {
  using S = SeveralPredictions;
  static const OutputObject<S> object{
      "Predictions", "Several predictions",
      schema_of_report<S>("predictions") + OutputFields<S>{{"predictions", "one for each scenario or scaling",
                                                            [](const S& s) { return s.predictions; }}}};
  return object;
}

}  // namespace foretrain
