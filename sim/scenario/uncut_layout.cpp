// Layouts that cut nothing. A table tells which strategy a framework runs with which sharding. The network is
// expanded anew if the layout changes its sequence or its attention.
#include "sim/scenario/uncut_layout.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/lowering/lowering.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

namespace {

/// The strategy of a framework when nothing is cut, with the options that it sets.
struct UncutRow {
  LlmFramework framework;
  ModelSharding sharding;
  std::string_view strategy;
  // Weights are kept or gathered in 16 bits; false: autocast.
  bool half_weights = true;
  // Gradients are exchanged in the last micro-step only.
  bool no_sync = true;
  Sharding fsdp = Sharding::full_shard;
  /// Blocks and loss run under torch.compile, the update as one fused kernel (torchtitan's
  /// OptimizersContainer).
  bool is_compiled = false;
  ReduceType reduce = ReduceType::param;
  UnitChoice units = UnitChoice::blocks;
  // Cross entropy is one kernel in each direction, flash_attn's.
  bool fuses_loss = false;
};

/// Plain PyTorch wraps the network in DDP under autocast, or in FSDP with 16-bit parameters. DeepSpeed's
/// engine keeps 16-bit weights. llm-foundry (Composer) runs eager modules under FSDP, which exchanges in
/// every micro-step, with flash_attn's cross entropy (modeling_mpt.py: loss_fn is fused_crossentropy).
/// torchtitan compiles blocks and loss, gathers in 16 bits and reduces in fp32 (torchtitan/distributed,
/// fsdp.py and config's mixed_precision_reduce).
constexpr UncutRow kUncutRows[] = {
    {.framework = LlmFramework::pytorch,
     .sharding = ModelSharding::none,
     .strategy = "ddp",
     .half_weights = false},
    {.framework = LlmFramework::pytorch,
     .sharding = ModelSharding::gradients,
     .strategy = "fsdp",
     .fsdp = Sharding::shard_grad_op},
    {.framework = LlmFramework::pytorch, .sharding = ModelSharding::parameters, .strategy = "fsdp"},
    {.framework = LlmFramework::deepspeed, .sharding = ModelSharding::none, .strategy = "zero0"},
    {.framework = LlmFramework::deepspeed, .sharding = ModelSharding::optimizer, .strategy = "zero1"},
    {.framework = LlmFramework::deepspeed, .sharding = ModelSharding::gradients, .strategy = "zero2"},
    {.framework = LlmFramework::deepspeed, .sharding = ModelSharding::parameters, .strategy = "zero3"},
    {.framework = LlmFramework::llm_foundry,
     .sharding = ModelSharding::gradients,
     .strategy = "fsdp",
     .no_sync = false,
     .fsdp = Sharding::shard_grad_op,
     .fuses_loss = true},
    {.framework = LlmFramework::llm_foundry,
     .sharding = ModelSharding::parameters,
     .strategy = "fsdp",
     .no_sync = false,
     .fuses_loss = true},
    {.framework = LlmFramework::torchtitan,
     .sharding = ModelSharding::none,
     .strategy = "ddp",
     .half_weights = false,
     .is_compiled = true},
    {.framework = LlmFramework::torchtitan,
     .sharding = ModelSharding::parameters,
     .strategy = "fsdp2",
     .no_sync = false,
     .is_compiled = true,
     .reduce = ReduceType::fp32,
     .units = UnitChoice::ends},
};

const UncutRow* row_of(const LargeModelRun& layout) {
  const auto found = std::ranges::find_if(kUncutRows, [&](const UncutRow& row) {
    return row.framework == layout.framework && row.sharding == layout.sharding;
  });
  return found == std::end(kUncutRows) ? nullptr : &*found;
}

/// Returns whether every degree but the data degree is 1.
bool cuts_nothing(const Degrees& degrees) {
  Degrees uncut;
  uncut.data = degrees.data;
  return degrees == uncut;
}

/// Returns whether every key of [parallel] that is set has a counterpart in a strategy.
bool has_strategy_keys_only(const LargeModelRun& layout) {
  const bool recomputes_blocks = layout.recompute == Recompute::none ||
                                 (layout.recompute == Recompute::full && !layout.recomputes_some());
  return recomputes_blocks && !layout.shape.experts && layout.next_tokens == 0 && layout.shard_group == 0 &&
         layout.offload == Offload::none && !layout.cuda_graphs && !layout.overlaps_gradients &&
         layout.gradient_bytes == 0 && layout.moment_bytes == 4 && layout.master_bytes == 4 &&
         layout.precision != KernelPrecision::fp4;
}

Precision precision_of(KernelPrecision precision) {
  if (precision == KernelPrecision::fp8) return Precision::fp8;
  return precision == KernelPrecision::fp16 ? Precision::amp_fp16 : Precision::bf16;
}

/// Sets a flag of every layer whose type has it, including those in branches.
void set_flag(std::vector<Layer>& layers, std::string_view name, bool value) {
  for (Layer& layer : layers) {
    for (std::vector<Layer>& branch : layer.branches) set_flag(branch, name, value);
    for (const LayerKey& key : layer.type->keys) {
      if (const auto* flag = key.name == name ? std::get_if<LayerFlag>(&key.value) : nullptr)
        flag->at(layer) = value;
    }
  }
}

/// Puts the network into `work` as it is trained: with recomputed blocks, and lowered by its framework.
void expand_into(ExpandedModel expanded, Workload& work) {
  work.model = std::make_shared<const ExpandedModel>(as_trained(std::move(expanded), work));
}

/// Expands the network with the layout's sequence and attention; returns false if it cannot have them.
bool expand_for(const LargeModelRun& layout, Scenario& scenario) {
  Model& model = scenario.model;
  if (layout.sequence != layout.shape.sequence) model.input = {layout.sequence};
  if (layout.attention) set_flag(model.layers, "fused", *layout.attention != AttentionKernel::unfused);
  ExpansionResult expansion = expand(model);
  if (!expansion.faults.empty()) return false;
  expand_into(std::move(expansion.model), scenario.workload);
  return true;
}

/// Returns whether the scenario's network is the layout's already.
bool is_expanded_for(const LargeModelRun& layout, const Workload& before, const Workload& after) {
  return layout.sequence == layout.shape.sequence && !layout.attention &&
         before.recompute == after.recompute && before.framework.execution == after.framework.execution;
}

/// Bytes per element of an optimizer with two fp32 moments.
constexpr std::int64_t kTwoMoments = 8;

/// Returns the kind of positions; llm-foundry's models have slopes by distance (ALiBi).
Positions positions_of(const LargeModelRun& layout) {
  return layout.framework == LlmFramework::llm_foundry ? Positions::alibi : Positions::rotary;
}

StrategyOptions options_of(const UncutRow& row) {
  StrategyOptions options;
  options.no_sync = row.no_sync;
  if (!row.strategy.starts_with("fsdp")) return options;
  FsdpOptions& own = options.edit<FsdpOptions>();
  own.sharding = row.fsdp, own.reduce_dtype = row.reduce, own.units = row.units;
  return options;
}

}  // namespace

bool runs_as_strategy(const LargeModelRun& layout) {
  return cuts_nothing(layout.degrees) && row_of(layout) != nullptr && has_strategy_keys_only(layout);
}

std::optional<Scenario> as_strategy(const Scenario& scenario, int gpus) {
  if (!scenario.parallel || !runs_as_strategy(*scenario.parallel)) return std::nullopt;
  const LargeModelRun layout = job_on(*scenario.parallel, gpus);
  const UncutRow& row = *row_of(layout);
  Scenario out = scenario;
  out.parallel.reset();
  out.global_batch.reset();
  out.strategy = row.strategy;
  out.knobs = options_of(row);
  out.knobs.accumulation = static_cast<int>(layout.micro_batches());
  Workload& work = out.workload;
  work.batch_per_gpu = layout.micro_batch;
  work.precision = precision_of(layout.precision);
  work.half_weights = row.half_weights;
  work.recompute = layout.recompute == Recompute::full;
  if (row.is_compiled) {
    work.framework.execution = Execution::compiled;
    out.model.tuning.is_compiled = true;
  }
  if (row.fuses_loss) out.model.tuning.fused.add(FusedKernel::cross_entropy);
  if (layout.attention && *layout.attention != AttentionKernel::unfused)
    work.framework.attention = *layout.attention;
  // A layout's optimizer has two moments, so an optimizer with fewer is replaced.
  if (state_bytes_per_element(work.optimizer) < kTwoMoments) {
    work.optimizer.kind = OptimizerKind::adamw;
    work.optimizer.form = forms_of(work.optimizer.kind, work.framework).front();
  }
  if (row.is_compiled) work.optimizer.form = OptimizerForm::fused;
  const bool is_as_asked = !row.fuses_loss && is_expanded_for(layout, scenario.workload, work);
  if (!is_as_asked && !expand_for(layout, out)) return std::nullopt;
  return out;
}

std::optional<Scenario> scenario_of(const LargeModelRun& layout, const ClusterSpec& cluster) {
  Scenario out;
  std::optional<Model> network = network_of(layout.shape, layout.sequence, positions_of(layout));
  if (!network) return std::nullopt;
  ExpansionResult expansion = expand(*network);
  if (!expansion.faults.empty()) return std::nullopt;
  out.name = "layout";
  out.model = std::move(*network);
  out.cluster = cluster;
  out.parallel = layout;
  out.gpus = {layout.gpus()};
  out.parallel->shape.sequence = layout.sequence;
  out.workload.data.loader = LoaderKind::none;
  expand_into(std::move(expansion.model), out.workload);
  return out;
}

}  // namespace foretrain
