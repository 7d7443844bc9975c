// Names of a run's choices, and the values that follow from its degrees.
#include "sim/strategy/parallel/job.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace foretrain {

/// The batch is rounded up to whole turns: interleaved schedules need a multiple of the stages, DualPipe an
/// even number of micro-batches.
LargeModelRun job_on(const LargeModelRun& asked, int gpus) {
  // Micro-batches per stage where no batch is stated.
  constexpr int kTurnsOfBatch = 4;
  LargeModelRun job = asked;
  Degrees& d = job.degrees;
  if (d.data == 0) d.data = std::max(1, gpus / std::max(1, d.model()));
  const std::int64_t turn = job.micro_batch * d.data;
  if (job.global_batch == 0) job.global_batch = turn * (d.pipeline > 1 ? kTurnsOfBatch * d.pipeline : 1);
  const std::int64_t group = turn * (job.schedule == PipelineSchedule::interleaved ? d.pipeline : job.ways());
  job.global_batch = std::max<std::int64_t>(1, (job.global_batch + group - 1) / group) * group;
  return job;
}

std::string_view name_of(PipelineSchedule schedule) {
  constexpr std::string_view kNames[] = {"afab", "1f1b", "interleaved", "zb-h1", "zbv", "dualpipe"};
  return kNames[static_cast<std::size_t>(schedule)];
}

std::string_view name_of(ModelSharding sharding) {
  constexpr std::string_view kNames[] = {"none", "optimizer", "gradients", "parameters"};
  return kNames[static_cast<std::size_t>(sharding)];
}

std::string_view name_of(Recompute recompute) {
  constexpr std::string_view kNames[] = {"none", "selective", "full", "save_qkv"};
  return kNames[static_cast<std::size_t>(recompute)];
}

/// Abbreviations are those of the literature: tensor, context, pipeline, virtual pipeline, expert, expert
/// tensor, data.
std::string to_string(const Degrees& d) {
  std::string text;
  const auto add = [&](std::string_view name, int degree, bool always = false) {
    if (degree == 1 && !always) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", name, degree);
  };
  add("TP", d.tensor), add("CP", d.context), add("PP", d.pipeline), add("VP", d.virtual_stages);
  add("EP", d.expert), add("ETP", d.expert_tensor), add("DP", d.data, text.empty());
  return text;
}

int LargeModelRun::first_wide_layer() const {
  // Megatron-Bridge's NVFP4 example sets num_layers_at_end_in_bf16 to this value.
  constexpr int kUsual = 4;
  if (precision != KernelPrecision::fp4) return shape.layers;
  return std::max(0, shape.layers - wide_layers.value_or(kUsual));
}

bool has_expert_join(const LargeModelRun& job) { return has_experts(job.shape, job.shape.layers - 1); }

/// MaxText overlaps pieces of a product, torchtitan and DeepSpeed nothing, the others the exchanges of
/// backward.
TensorOverlap LargeModelRun::overlap() const {
  if (tensor_overlap) return *tensor_overlap;
  if (framework == LlmFramework::maxtext) return TensorOverlap::pieces;
  if (framework == LlmFramework::torchtitan || framework == LlmFramework::deepspeed ||
      framework == LlmFramework::megatron_deepspeed)
    return TensorOverlap::none;
  return TensorOverlap::backward;
}

int LargeModelRun::recomputed_of(int layers) const {
  if (recomputed_layers > 0) return std::min(recomputed_layers, layers);
  return static_cast<int>(std::lround(recomputed_share * layers));
}

/// Gradients accumulate in place unless parameters are sharded.
LayerSlice LargeModelRun::slice() const {
  LayerSlice slice;
  slice.micro_batch = micro_batch, slice.sequence = sequence;
  slice.tensor = degrees.tensor, slice.context = degrees.context;
  slice.expert = degrees.expert, slice.expert_tensor = degrees.expert_tensor;
  slice.sequence_parallel = sequence_parallel && degrees.tensor > 1;
  slice.precision = precision, slice.recompute = recompute, slice.recompute_modules = recompute_modules;
  slice.context_exchange = context_exchange, slice.dispatch = dispatch, slice.overlap = overlap();
  slice.attention = attention, slice.capacity_factor = capacity_factor, slice.imbalance = imbalance;
  slice.loss_chunks = loss_chunks;
  slice.accumulates = sharding != ModelSharding::parameters;
  return slice;
}

}  // namespace foretrain
