// DeepSpeed's engine around the script's model: hooks in backward, a reduction behind it, and its own step().
// Stage 3 also acts before and behind every module.
//
// The engine differs from FSDP in two points that matter for time. Gradients are reduced in buckets of a
// fixed size instead of units. The host waits for streams at several places in step(), which ends its lead
// over the GPU. Stage 1 shares optimizer states, stage 2 gradients as well, stage 3 parameters as well.
#include "sim/strategy/zero/zero.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/step/training_step.hpp"
#include "sim/strategy/zero/zero_options.hpp"
#include "sim/strategy/zero/zero_phases.hpp"
#include "sim/workload/device/host_update.hpp"

namespace foretrain {

namespace {

/// The engine of one process in one stage. The parts that a stage does not have are empty.
class ZeroEngine {
 public:
  ZeroEngine(Process& process, const ZeroSettings& settings)
      : process_(process),
        model_(*process.request().workload.model),
        settings_(settings),
        step_(process),
        reduction_(process, settings) {
    if (settings.stage == 3) fetch_.emplace(process, settings);
    if (settings.stage > 0 || settings.element_bytes == 2)
      update_.emplace(process, settings, fetch_ ? fetch_->persistent_sizes() : std::vector<std::int64_t>{});
  }

  /// Adds the tasks of one optimizer step and returns its last kernel.
  TaskId run_step(int micro_steps);
  const std::vector<Bytes>& messages() const { return reduction_.messages(); }
  const std::optional<ZeroFetch>& fetch() const { return fetch_; }

 private:
  void enter(const HostThread& thread, std::uint32_t layer, std::uint32_t& last);
  /// Adds a forward or a backward pass; `reduces` gradients are handed to the reduction.
  void forward();
  void backward(int micro, bool reduces);
  void reduce(int micro, bool boundary);
  TaskId update();

  Process& process_;
  const ExpandedModel& model_;
  ZeroSettings settings_;
  TrainingStep step_;
  ZeroReduction reduction_;
  std::optional<ZeroFetch> fetch_;
  std::optional<ZeroUpdate> update_;
};

/// Gathers a module's parameters before its first operator, in forward and again in backward (stage 3).
void ZeroEngine::enter(const HostThread& thread, std::uint32_t layer, std::uint32_t& last) {
  if (fetch_ && layer != last) fetch_->enter(thread, layer);
  last = layer;
}

void ZeroEngine::forward() {
  step_.begin_forward();
  if (fetch_) fetch_->begin_iteration();
  std::uint32_t last = kNone;
  // A module is entered at its first operator; consecutive operators of a layer are one visit.
  for (const Operator& op : model_.forward) {
    enter(process_.main_thread(), op.layer, last);
    step_.forward_operator(process_.main_thread(), op, process_.request().workload.batch_per_gpu);
  }
  if (fetch_) fetch_->leave(process_.main_thread());
  step_.end_forward();
}

void ZeroEngine::backward(int micro, bool reduces) {
  const HostThread thread = process_.autograd_thread();
  // A gradient of stage 2 or 3 is sent to its owner in every micro-step, so there is no sum to add to.
  const bool adds = settings_.stage < 2 && micro > 0;
  reduction_.begin_micro_step(settings_.stage < 2 || micro == 0,
                              micro + 1 == process_.request().knobs.accumulation);
  step_.begin_backward();
  std::uint32_t last = kNone;
  for (const BackwardStep& backward : model_.backward) {
    enter(thread, backward.op.layer, last);
    step_.backward_operator(thread, backward, process_.request().workload.batch_per_gpu);
    for (const std::uint32_t parameter : backward.ready) {
      step_.finish_gradient(thread, parameter, adds);
      if (reduces && settings_.hooks()) reduction_.on_gradient(thread, parameter);
    }
  }
  if (fetch_) fetch_->leave(thread);
  process_.hand_over(thread, process_.main_thread());
}

/// Adds engine.allreduce_gradients(), which runs after backward.
void ZeroEngine::reduce(int micro, bool boundary) {
  if (!boundary && settings_.stage < 2) return;
  if (!settings_.hooks()) {
    for (std::uint32_t i = 0; i < model_.parameters.size(); ++i)
      reduction_.on_gradient(process_.main_thread(), i);
  }
  reduction_.finish(process_.main_thread(), settings_.stage >= 2 && micro > 0);
}

/// Adds engine.step() and its zero_grad(), which frees the memory of every gradient whatever the script does.
TaskId ZeroEngine::update() {
  // Stage 0 in fp32 has no optimizer of DeepSpeed: the engine clips with a norm of its own.
  if (!update_ && process_.request().workload.loop.clip_grad_norm != GradientClipping::none) {
    process_.enter(StepPass::optimizer);
    const LabelId label = process_.graph().label("gradient norm");
    process_.stream_waits_for(process_.collective(process_.main_thread(), CollectiveOp::all_reduce,
                                                  {kFloatBytes}, label, WireType::fp32));
  }
  const TaskId last = update_ ? update_->apply(reduction_.offloaded()) : step_.optimize();
  const auto tensors = static_cast<std::int64_t>(model_.parameters.size());
  process_.host(process_.main_thread(),
                process_.calls().zero_grad + process_.calls().zero_grad_free * tensors, Account::host);
  return last;
}

TaskId ZeroEngine::run_step(int micro_steps) {
  // Stages 2 and 3 reduce in every micro-step, the others at the boundary alone.
  for (int micro = 0; micro < micro_steps; ++micro) {
    const bool boundary = micro + 1 == micro_steps;
    step_.load_batch();
    forward();
    backward(micro, boundary || settings_.stage >= 2);
    reduce(micro, boundary);
  }
  const TaskId last = update();
  step_.finish_step();
  return last;
}

// The decisions of a plan say in words what was chosen and why; reports print them.
void explain_reduction(const PlanRequest& request, const ZeroSettings& settings,
                       const std::vector<Bytes>& messages, Decisions& decisions) {
  std::string sizes;
  for (const Bytes& message : messages) sizes += (sizes.empty() ? "" : ", ") + to_string(message);
  const ZeroOptions& options = request.options<ZeroOptions>();
  const std::string after = settings.overlap   ? "beside backward (overlap_comm)"
                            : settings.hooks() ? "in the compute stream whenever the bucket is full"
                                               : "after backward";
  decisions.add("gradient messages", sizes,
                settings.stage == 0 ? "up to 500,000,000 elements each, after backward: nothing overlaps"
                                    : fmt::format("strategy.reduce_bucket_size = {} elements; {}",
                                                  options.reduce_bucket_size, after));
  const bool all_reduces = options.multi_rank_allreduce || !options.reduce_scatter;
  if ((settings.stage == 1 || settings.stage == 2) && all_reduces) {
    decisions.add("reduction", "all_reduce of the whole bucket",
                  "DeepSpeed's default for buckets of several ranks' slices "
                  "(use_multi_rank_bucket_allreduce), not a reduce_scatter");
  }
}

void explain_zero(const PlanRequest& request, const ZeroSettings& settings, const ZeroEngine& engine,
                  const std::vector<Bytes>& messages, Decisions& decisions) {
  constexpr std::string_view kSharded[] = {"nothing, which is the default of DeepSpeed's configuration",
                                           "the optimizer's state", "the optimizer's state and gradients",
                                           "the optimizer's state, gradients and parameters"};
  const auto stage = static_cast<std::size_t>(settings.stage);
  decisions.add("ZeRO", fmt::format("stage {}", stage),
                fmt::format("sharded over {}: {}", counted(settings.ranks, "GPU"), kSharded[stage]));
  if (is_half(request.workload.precision) && !has_half_weights(request.workload)) {
    decisions.add("weights", "fp32 under autocast",
                  "DeepSpeed's fp16 and bf16 sections make them 16-bit: model.half_weights = true");
  }
  explain_reduction(request, settings, messages, decisions);
  // Parameters are gathered in stage 3 alone.
  if (!engine.fetch()) return;
  decisions.add(
      "live parameters",
      fmt::format("{} at most, {} persistent", engine.fetch()->most_live(), engine.fetch()->persistent()),
      "gathered ahead by strategy.prefetch_bucket_size at every module up to strategy.max_live_parameters; "
      "kept for backward when "
      "it comes back within strategy.max_reuse_distance");
}

/// Explains what is moved to the host, and which resource bounds an update there.
void explain_offload(const PlanRequest& request, const ZeroSettings& settings, Decisions& decisions) {
  const char* drive = settings.on_nvme || settings.param_on_nvme ? assumed_drive(request) : "";
  if (settings.offload) {
    const HostUpdateTime update = zero_host_update(request, settings);
    decisions.add(
        "offload of the optimizer", settings.on_nvme ? "NVMe" : "host memory",
        fmt::format("the host updates {} parameters of each GPU in {:.2g} s, as fast as {} allows; {}{}{}",
                    settings.own(request.workload.model->parameter_elements()), update.seconds,
                    words_of(update.bound), basis_of_host(request.own_node().host), *drive == 0 ? "" : "; ",
                    drive));
  }
  if (settings.offload_param)
    decisions.add("offload of parameters", settings.param_on_nvme ? "NVMe" : "host memory",
                  fmt::format("every gather copies the GPU's shard first, and the host waits for it{}{}",
                              *drive == 0 ? "" : "; ", drive));
}

// The messages of the first step are those of every step.
Plan plan_zero(const PlanRequest& request, int stage) {
  Plan plan;
  Process process(request, plan.graph);
  const ZeroSettings settings = zero_settings(request, stage);
  ZeroEngine engine(process, settings);
  std::vector<Bytes> messages;
  for (int i = 0; i < request.steps; ++i) {
    plan.step_ends.push_back(engine.run_step(request.knobs.accumulation));
    if (i == 0) messages = engine.messages();
  }
  // A single rank sends nothing, whatever its buckets are.
  if (request.placement.size() > 1) plan.buckets = messages;
  const std::int64_t live = engine.fetch() ? engine.fetch()->most_live() + engine.fetch()->persistent() : 0;
  plan.memory = zero_memory(*request.workload.model, settings, request.options<ZeroOptions>(), live,
                            activation_peaks(request.workload));
  plan.memory.host = zero_host_memory(request.workload, settings);
  explain_zero(request, settings, engine, messages, process.decisions());
  explain_offload(request, settings, process.decisions());
  plan.decisions = process.decisions();
  return plan;
}

/// Returns an option that counts elements.
Knob elements(std::string_view name, KnobValue<std::int64_t> value, std::string_view example,
              std::string_view fallback, std::string_view meaning) {
  return {name, value, example, fallback, meaning, 1};
}

/// Returns the options of a stage under the keys of DeepSpeed's configuration, which ignores those of other
/// stages.
std::vector<Knob> stage_knobs(int stage) {
  std::vector<Knob> knobs{
      elements("reduce_bucket_size", option<&ZeroOptions::reduce_bucket_size>(), "50_000_000", "500,000,000",
               "elements of the gradient bucket"),
      {"overlap_comm", option<&ZeroOptions::overlap_comm>(), stage == 3 ? "false" : "true",
       stage == 3 ? "true" : "false", "gradients are reduced beside backward"},
      {"offload_optimizer", choice_of<&ZeroOptions::offload_optimizer>({"none", "cpu", "nvme"}), "\"cpu\"",
       "none", "where the optimizer's state is; cpu and nvme: the host updates"}};
  for (Knob& knob : offload_knobs()) knobs.push_back(std::move(knob));
  // Stages 1 and 2 have options for their slices, stage 3 has options for its gathers.
  if (stage < 3) {
    knobs.push_back({"use_multi_rank_bucket_allreduce", option<&ZeroOptions::multi_rank_allreduce>(), "false",
                     "true",
                     "slices of several ranks are all-reduced together; false: each is reduced to its "
                     "rank"});
    knobs.push_back({"reduce_scatter", option<&ZeroOptions::reduce_scatter>(), "false", "true",
                     "false: whole buckets are all-reduced"});
    knobs.push_back(elements("allgather_bucket_size", option<&ZeroOptions::allgather_bucket_size>(),
                             "50_000_000", "500,000,000",
                             "elements of one gather of new weights, before PyTorch 1.10"));
    return knobs;
  }
  knobs.push_back({"offload_param", choice_of<&ZeroOptions::offload_param>({"none", "cpu", "nvme"}),
                   "\"cpu\"", "none",
                   "where shards of the parameters are; they are copied for every gather"});
  knobs.push_back(elements("prefetch_bucket_size", option<&ZeroOptions::prefetch_bucket_size>(),
                           "100_000_000", "50,000,000", "elements gathered ahead at every module"));
  knobs.push_back({"param_persistence_threshold", option<&ZeroOptions::param_persistence_threshold>(),
                   "1_000_000", "100,000", "parameters of up to so many elements are not sharded"});
  knobs.push_back(elements("max_live_parameters", option<&ZeroOptions::max_live_parameters>(), "500_000_000",
                           "1,000,000,000", "no more elements are whole because of gathering ahead"));
  knobs.push_back({"max_reuse_distance", option<&ZeroOptions::max_reuse_distance>(), "0", "1,000,000,000",
                   "parameters needed again within so many elements are kept"});
  return knobs;
}

}  // namespace

ZeroSettings zero_settings(const PlanRequest& request, int stage) {
  const ZeroOptions& options = request.options<ZeroOptions>();
  ZeroSettings settings;
  settings.stage = stage;
  settings.ranks = request.placement.size();
  settings.element_bytes = gradient_element_bytes(request.workload);
  // The defaults of DeepSpeed's configuration depend on the stage.
  settings.overlap = stage > 0 && options.overlap_comm.value_or(stage == 3);
  settings.offload = stage > 0 && options.offload_optimizer != OffloadDevice::none;
  settings.on_nvme = settings.offload && options.offload_optimizer == OffloadDevice::nvme;
  settings.offload_param = stage == 3 && options.offload_param != OffloadDevice::none;
  settings.param_on_nvme = settings.offload_param && options.offload_param == OffloadDevice::nvme;
  settings.pinned = request.options<OffloadOptions>().pin_memory;
  const bool scales = request.workload.precision == Precision::amp_fp16;
  // bf16 is handled by the optimizer of stages 1 and 2, which looks for infinities in it as in fp16.
  settings.checks_overflow = scales || ((stage == 1 || stage == 2) && settings.element_bytes == 2);
  settings.sums_norm = stage > 0 || scales;
  return settings;
}

Plan plan_zero0(const PlanRequest& request) { return plan_zero(request, 0); }
Plan plan_zero1(const PlanRequest& request) { return plan_zero(request, 1); }
Plan plan_zero2(const PlanRequest& request) { return plan_zero(request, 2); }
Plan plan_zero3(const PlanRequest& request) { return plan_zero(request, 3); }

StrategyEntry zero0_strategy() {
  return {.name = "zero0",
          .summary = "DeepSpeed without ZeRO (stage 0, its default): gradients all-reduced after backward",
          .plan = plan_zero0,
          .starter = Starter::deepspeed,
          .framework = FrameworkKind::pytorch,
          .alias = "zero"};
}

StrategyEntry zero1_strategy() {
  return {.name = "zero1",
          .summary = "DeepSpeed ZeRO stage 1: the optimizer's state sharded",
          .plan = plan_zero1,
          .starter = Starter::deepspeed,
          .framework = FrameworkKind::pytorch,
          .knobs = stage_knobs(1)};
}

StrategyEntry zero2_strategy() {
  return {.name = "zero2",
          .summary = "DeepSpeed ZeRO stage 2: optimizer state and gradients sharded",
          .plan = plan_zero2,
          .starter = Starter::deepspeed,
          .framework = FrameworkKind::pytorch,
          .knobs = stage_knobs(2)};
}

StrategyEntry zero3_strategy() {
  return {.name = "zero3",
          .summary = "DeepSpeed ZeRO stage 3: parameters sharded, too, and gathered along a trace",
          .plan = plan_zero3,
          .starter = Starter::deepspeed,
          .framework = FrameworkKind::pytorch,
          .knobs = stage_knobs(3)};
}

}  // namespace foretrain
