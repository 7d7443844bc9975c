// FSDP is four hooks around every unit: before and after its forward and its backward pass. Everything else
// is the plain step.
//
// Fully sharded data parallelism keeps a shard of every parameter and gathers a unit (usually a layer) just
// before it is used. The order of three streams decides its speed: computation, all-gather and
// reduce-scatter. The next unit is gathered while the present one computes. A rate limiter lets the host run
// at most two units ahead, so that memory stays bounded.
#include "sim/strategy/fsdp/fsdp.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "sim/strategy/process/offload_options.hpp"
#include "sim/strategy/step/training_step.hpp"
#include "sim/workload/lowering/weight_shapes.hpp"

namespace foretrain {

namespace {

/// Returns the units that the options ask for: by size, by block, or with units for both ends.
ModelUnits make_units(const PlanRequest& request) {
  const ExpandedModel& model = *request.workload.model;
  const FsdpOptions& options = request.options<FsdpOptions>();
  if (options.unit_parameters > 0) return units_by_size(model, options.unit_parameters);
  if (options.units == UnitChoice::blocks) return units_by_block(model);
  return units_with_ends(model, options.units == UnitChoice::chunked_loss);
}

/// Returns the sizes of the tensors that the optimizer updates: the flat shard of every unit, or of every
/// parameter.
std::vector<std::int64_t> shard_sizes(const ExpandedModel& model, const ModelUnits& units,
                                      const FsdpSettings& settings) {
  std::vector<std::int64_t> sizes;
  if (settings.per_parameter) {
    const std::vector<MatrixShape> shapes = matrix_shapes(model);
    for (std::size_t i = 0; i < shapes.size(); ++i)
      sizes.push_back(settings.padded(model.parameters[i].elements, shapes[i].rows) / settings.shards);
    return sizes;
  }
  for (const ModelUnit& unit : units.units) {
    if (unit.reduced > 0) sizes.push_back(unit.reduced / settings.shards);
  }
  return sizes;
}

/// The wrapped model of one process. Holds references to its arguments.
class ShardedModel {
 public:
  ShardedModel(Process& process, const FsdpSettings& settings, const ModelUnits& units)
      : process_(process),
        model_(*process.request().workload.model),
        units_(units),
        settings_(settings),
        step_(process, InputPipeline(process), shard_sizes(model_, units, settings)),
        gathering_(process, units, settings),
        reduction_(process, units, settings) {}

  /// Adds the tasks of one optimizer step and returns its last kernel.
  TaskId run_step(const StrategyOptions& knobs);
  const std::vector<Bytes>& messages() const { return reduction_.messages(); }

 private:
  void forward();
  void enter_forward(std::uint32_t unit);
  void backward(const GradientState& state);
  void sum_over_shards();
  TaskId update_on_host();
  void sum(Bytes size, Group among, WireType type);

  Process& process_;
  const ExpandedModel& model_;
  const ModelUnits& units_;
  FsdpSettings settings_;
  TrainingStep step_;
  FsdpGathering gathering_;
  FsdpReduction reduction_;
  std::uint32_t current_ = 0;
};

/// Enters a unit and leaves the one before. The root is entered before all others and left after them.
void ShardedModel::enter_forward(std::uint32_t unit) {
  if (unit == current_) return;
  if (current_ != 0) gathering_.post_forward(current_);
  if (unit != 0) gathering_.pre_forward(unit);
  current_ = unit;
}

void ShardedModel::forward() {
  step_.begin_forward();
  gathering_.begin_iteration();
  gathering_.pre_forward(0);
  for (const Operator& op : model_.forward) {
    enter_forward(units_.of_layer[op.layer]);
    step_.forward_operator(process_.main_thread(), op, process_.request().workload.batch_per_gpu);
  }
  enter_forward(0);
  gathering_.post_forward(0);
  step_.end_forward();
}

// A unit is reduced when the gradients of all its parameters are complete; `pending` counts those that are
// missing.
void ShardedModel::backward(const GradientState& state) {
  std::vector<std::size_t> pending;
  for (const ModelUnit& unit : units_.units) pending.push_back(unit.parameters.size());
  step_.begin_backward();
  if (state.synchronises) reduction_.begin_exchange();
  gathering_.pre_backward(0);
  // A unit of frozen parameters alone has no gradient to reduce; it is sharded again behind its last kernel
  // (_register_post_backward_reshard_only_hook of FSDP1, RegisterPostBackwardFunction of FSDP2).
  std::uint32_t left = 0;
  const auto leave_frozen = [&](std::uint32_t entered) {
    if (left != 0 && left != entered && units_.units[left].parameters.empty())
      gathering_.post_backward(left, state.synchronises);
    left = entered;
  };
  for (const BackwardStep& backward : model_.backward) {
    leave_frozen(units_.of_layer[backward.op.layer]);
    gathering_.pre_backward(units_.of_layer[backward.op.layer]);
    step_.backward_operator(process_.autograd_thread(), backward, process_.request().workload.batch_per_gpu);
    for (const std::uint32_t parameter : backward.ready) {
      step_.finish_gradient(process_.autograd_thread(), parameter, false);
      const std::uint32_t unit = units_.of_parameter[parameter];
      if (--pending[unit] > 0) continue;
      reduction_.post_backward(unit, state);
      gathering_.post_backward(unit, state.synchronises);
    }
  }
  leave_frozen(0);
  if (state.synchronises) reduction_.finish();
  process_.hand_over(process_.autograd_thread(), process_.main_thread());
}

void ShardedModel::sum(Bytes size, Group among, WireType type) {
  const LabelId label = process_.graph().label("sum of norms");
  process_.enter(StepPass::optimizer);
  process_.stream_waits_for(process_.collective({.thread = process_.main_thread(),
                                                 .op = CollectiveOp::all_reduce,
                                                 .size = size,
                                                 .label = label,
                                                 .among = among,
                                                 .type = type}));
}

/// Adds the sums over shards. A check for infinite gradients, and the norm of all gradients, need them. FSDP2
/// sums the norms of all tensors, in the type of the shards and among the ranks that hold one copy. FSDP1
/// sums one number.
void ShardedModel::sum_over_shards() {
  const Workload& workload = process_.request().workload;
  const bool scales = workload.precision == Precision::amp_fp16;
  const bool clips = workload.loop.clip_grad_norm != GradientClipping::none;
  if (scales || (clips && !settings_.per_parameter)) sum({kFloatBytes}, Group::world, WireType::fp32);
  if (!clips || !settings_.per_parameter || settings_.shards == 1) return;
  const auto tensors = static_cast<std::int64_t>(model_.parameters.size());
  sum({settings_.shard_bytes * tensors}, settings_.group,
      settings_.shard_bytes == kFloatBytes ? WireType::fp32 : WireType::half);
}

/// Updates on the host: the main thread waits for the gradients and steps, then the compute stream goes on.
TaskId ShardedModel::update_on_host() {
  process_.enter(StepPass::optimizer);
  process_.synchronize(process_.main_thread());
  const LabelId label = process_.graph().label("update on the host");
  process_.host_for(process_.main_thread().labelled(label),
                    seconds(fsdp_host_update(process_.request(), settings_).seconds), Account::optimizer);
  return process_.launch_copy(process_.main_thread(), {1}, process_.calls().scalar, Account::optimizer,
                              label);
}

TaskId ShardedModel::run_step(const StrategyOptions& knobs) {
  for (int micro = 0; micro < knobs.accumulation; ++micro) {
    step_.load_batch();
    if (micro == 0) step_.zero_gradients();
    forward();
    // After an exchange there is no whole gradient to add to, only its shards.
    const bool was_exchanged = micro > 0 && knobs.exchanges_in(micro - 1);
    backward({micro > 0 && !was_exchanged, knobs.exchanges_in(micro), was_exchanged});
  }
  sum_over_shards();
  const TaskId last = settings_.offloads ? update_on_host() : step_.optimize();
  step_.finish_step();
  return last;
}

// Words of the decisions that reports print.
std::string_view name_of(Sharding sharding) {
  constexpr std::string_view names[] = {"full_shard", "shard_grad_op", "hybrid_shard", "no_shard"};
  return names[static_cast<std::size_t>(sharding)];
}

void explain_host(const PlanRequest& request, const FsdpSettings& settings, Decisions& decisions) {
  if (!settings.offloads) return;
  const HostUpdateTime update = fsdp_host_update(request, settings);
  decisions.add("offload", "shards, their gradients and the optimizer in host memory",
                fmt::format("the host updates a GPU's shards in {:.2g} s, as fast as {} allows; {}",
                            update.seconds, words_of(update.bound), basis_of_host(request.own_node().host)));
}

void explain_fsdp(const PlanRequest& request, const ModelUnits& units, const FsdpSettings& settings,
                  Decisions& decisions) {
  decisions.add(
      "units", fmt::format("{} and the root", units.units.size() - 1),
      fmt::format("the largest has {} parameters, the root {}; strategy.unit_parameters makes them by size",
                  units.largest(), units.units.front().elements));
  if (request.placement.size() == 1) {
    explain_host(request, settings, decisions);
    decisions.add("one GPU", "nothing is sharded",
                  "there is nobody to share with; the hooks and copies of FSDP remain");
    return;
  }
  decisions.add("sharding", std::string(name_of(settings.sharding)),
                fmt::format("{} {} one copy of the model together, {}", counted(settings.shards, "GPU"),
                            settings.shards == 1 ? "holds" : "hold", counted(settings.replicas, "group")));
  if (settings.sharding == Sharding::hybrid_shard && settings.shards * settings.replicas != settings.ranks) {
    decisions.add("hybrid_shard", "nodes are not filled alike",
                  "PyTorch refuses groups of different sizes; every node counts as the first");
  }
  explain_host(request, settings, decisions);
  if (settings.per_parameter) return;
  decisions.add(
      "backward prefetch",
      settings.backward_prefetch == BackwardPrefetch::pre    ? "before a unit's backward pass"
      : settings.backward_prefetch == BackwardPrefetch::post ? "after a unit's backward pass"
                                                             : "none",
      fmt::format("{}; all gathers and reductions share one NCCL stream in the order they were issued",
                  title_of(request.workload.framework)));
  decisions.add("rate limiter", settings.limit_all_gathers ? "at most two units in flight" : "off",
                fmt::format("default of {} unless strategy.limit_all_gathers says so",
                            title_of(request.workload.framework)));
}

// Both versions share the plan; `per_parameter` is FSDP2.
Plan plan(const PlanRequest& request, bool per_parameter) {
  Plan plan;
  Process process(request, plan.graph);
  const FsdpSettings settings = fsdp_settings(request, per_parameter);
  ModelUnits units = make_units(request);
  pad_units(units, *request.workload.model, settings);
  ShardedModel model(process, settings, units);
  for (int i = 0; i < request.steps; ++i) {
    plan.step_ends.push_back(model.run_step(request.knobs));
    if (i == 0 && request.placement.size() > 1) plan.buckets = model.messages();
  }
  plan.memory = fsdp_memory(request, units, settings);
  explain_fsdp(request, units, settings, process.decisions());
  plan.decisions = process.decisions();
  return plan;
}

Knob sharding_knob(std::vector<std::string_view> names) {
  return {"sharding", choice_of<&FsdpOptions::sharding>(std::move(names)), "\"shard_grad_op\"", "full_shard",
          "full_shard: all; shard_grad_op: parameters stay whole from forward to backward; hybrid_shard: "
          "full_shard inside a node, copies "
          "between nodes"};
}

Knob unit_knob() {
  return {"unit_parameters",
          option<&FsdpOptions::unit_parameters>(),
          "100_000_000",
          "one unit per block of the model file",
          "least number of parameters of a unit, as in size_based_auto_wrap_policy",
          1};
}

Knob units_knob() {
  return {"units", choice_of<&FsdpOptions::units>({"blocks", "ends", "chunked_loss"}), "\"ends\"", "blocks",
          "blocks: every block and the root (plain PyTorch); ends: embedding, blocks, norm with head "
          "(accelerate, transformers, torchtitan); chunked_loss: the same with torchtitan's chunked loss"};
}

/// Returns the options of the optimizer's place, and of the use of its host.
std::vector<Knob> host_knobs() {
  std::vector<Knob> knobs{{"offload_params", option<&FsdpOptions::offload_params>(), "true", "false",
                           "shards, their gradients and the optimizer are in host memory (CPUOffload, "
                           "CPUOffloadPolicy)"}};
  for (Knob& knob : offload_knobs()) knobs.push_back(std::move(knob));
  return knobs;
}

/// Returns the options of MixedPrecision (FSDP1) and MixedPrecisionPolicy (FSDP2).
std::vector<Knob> policy_knobs() {
  return {{"param_dtype", choice_of<&FsdpOptions::param_dtype>({"weights", "fp32", "bf16", "fp16"}),
           "\"bf16\"", "weights, the type of the weights (model.half_weights)",
           "in which type parameters are gathered and computed with (MixedPrecision, MixedPrecisionPolicy); "
           "shards stay fp32"},
          {"reduce_dtype", choice_of<&FsdpOptions::reduce_dtype>({"param", "fp32", "bf16", "fp16"}),
           "\"fp32\"", "param, the type of the gathered parameters",
           "in which type ranks sum gradients (MixedPrecision, MixedPrecisionPolicy)"}};
}

std::vector<Knob> with_shared(std::vector<Knob> knobs) {
  for (Knob& knob : policy_knobs()) knobs.push_back(std::move(knob));
  for (Knob& knob : host_knobs()) knobs.push_back(std::move(knob));
  return knobs;
}

}  // namespace

Plan plan_fsdp(const PlanRequest& request) { return plan(request, false); }
Plan plan_fsdp2(const PlanRequest& request) { return plan(request, true); }

StrategyEntry fsdp_strategy() {
  return {.name = "fsdp",
          .summary = "PyTorch FullyShardedDataParallel: parameters gathered unit by unit",
          .plan = plan_fsdp,
          .framework = FrameworkKind::pytorch,
          .knobs = with_shared(
              {sharding_knob({"full_shard", "shard_grad_op", "hybrid_shard", "no_shard"}),
               {"backward_prefetch", choice_of<&FsdpOptions::backward_prefetch>({"none", "pre", "post"}),
                "\"post\"", "pre, none before PyTorch 2.0", "when the next unit is gathered in backward"},
               {"forward_prefetch", option<&FsdpOptions::forward_prefetch>(), "true", "false",
                "the next unit is gathered before the host comes to it"},
               {"limit_all_gathers", option<&FsdpOptions::limit_all_gathers>(), "false",
                "true, false before PyTorch 2.0", "the host waits until at most two units are in flight"},
               no_sync_knob(),
               unit_knob()})};
}

StrategyEntry fsdp2_strategy() {
  return {.name = "fsdp2",
          .summary = "PyTorch fully_shard (FSDP2): every parameter sharded, gathered unit by unit",
          .plan = plan_fsdp2,
          .framework = FrameworkKind::pytorch,
          .knobs = with_shared({sharding_knob({"full_shard", "shard_grad_op", "hybrid_shard", "no_shard"}),
                                no_sync_knob(), unit_knob(), units_knob()})};
}

}  // namespace foretrain
