// The job of a large model: sizes, degrees of parallelism, schedule, sharding and framework.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/transformer/layer_program.hpp"

namespace foretrain {

/// Into how many parts the model and its data are cut; `data` is what the GPUs leave.
struct Degrees {
  int tensor = 1, pipeline = 1, virtual_stages = 1, context = 1, expert = 1, expert_tensor = 1, data = 1;
  /// GPUs of one replica, and of all; at most kMostGpus, which no cluster has.
  int model() const { return product({tensor, pipeline, context}); }
  int gpus() const { return product({tensor, pipeline, context, data}); }
  friend bool operator==(const Degrees&, const Degrees&) = default;

  static constexpr std::int64_t kMostGpus = 1 << 30;

 private:
  static int product(std::initializer_list<int> degrees) {
    std::int64_t all = 1;
    for (const int degree : degrees) all = std::min(kMostGpus, all * degree);
    return static_cast<int>(all);
  }
};

/// The order of a stage's forward and backward passes. afab: all forward, then all backward. one_f_one_b and
/// interleaved: Narayanan et al., SC 2021. zb_h1 and zbv: Qi et al., ICLR 2024. dualpipe: DeepSeek-V3.
enum class PipelineSchedule : std::uint8_t { afab, one_f_one_b, interleaved, zb_h1, zbv, dualpipe };
/// What data-parallel ranks share out: nothing; the optimizer's state (zero1, Megatron's distributed
/// optimizer); gradients too (zero2); parameters too (zero3, fsdp).
enum class ModelSharding : std::uint8_t { none, optimizer, gradients, parameters };

/// The tensors that leave the GPU's memory during a step of a large model.
enum class Offload : std::uint8_t { none, optimizer, activations };

/// A training step of a large model in full: model, degrees of parallelism, micro-batches, schedule, sharding
/// and precision.
struct LargeModelRun {
  TransformerShape shape;
  std::int64_t sequence = 0;                       ///< tokens
  std::int64_t micro_batch = 1, global_batch = 1;  ///< sequences
  Degrees degrees;
  LlmFramework framework = LlmFramework::megatron_te;
  KernelPrecision precision = KernelPrecision::bf16;
  bool sequence_parallel = true;
  Recompute recompute = Recompute::none;
  int recomputed_layers = 0;  ///< of each stage; 0: all
  /// Of each stage's layers, where `recomputed_layers` is 0 (every second: 0.5).
  double recomputed_share = 1;
  LayerModules recompute_modules = 0;  ///< of Recompute::selective; 0: what the framework calls so
  ModelSharding sharding = ModelSharding::optimizer;
  int shard_group = 0;  ///< data-parallel ranks that share out; 0: all (fewer: HSDP)
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  ContextExchange context_exchange = ContextExchange::ring;
  TokenDispatch dispatch = TokenDispatch::all_to_all;
  std::optional<TensorOverlap> tensor_overlap{};  ///< none: the framework's own
  std::optional<AttentionKernel> attention{};     ///< none: the framework's own
  int next_tokens = 0;  ///< further tokens predicted, each by a layer and the head once more (DeepSeek-V3: 1)
  /// Of the last layers, so many keep 16 bit where products run in 4; none: 4, as NVIDIA's recipe has it.
  std::optional<int> wide_layers{};
  std::optional<Time> pipeline_skew{};  ///< none: the framework's own (LayerKernels::pipeline_skew)
  double capacity_factor = 0;           ///< of experts; 0: no token is dropped
  int loss_chunks = 1;     ///< parts of the sequence that head and loss take in turn (torchtitan: 8)
  double imbalance = 1.1;  ///< tokens of the busiest expert rank over the mean, where none is dropped
  bool cuda_graphs = false;
  /// PyTorch before 2.2: what a reduce-scatter sent stays until the GPU is there.
  bool record_streams = false;
  bool overlaps_experts = false;             ///< all-to-alls of one micro-batch run beside another's kernels
  std::optional<bool> overlaps_gradients{};  ///< beside the last backward pass; none: the framework's own
  double gradient_bytes = 0;  ///< of each value that data-parallel ranks sum; 0: the framework's own
  double moment_bytes = 4;    ///< of each of the optimizer's two moments
  double master_bytes = 4;    ///< of the optimizer's copy of a weight; 2: what the 16-bit weight leaves out
  Offload offload = Offload::none;
  int offloaded_layers = 0;  ///< of each stage, whose activations Offload::activations moves; 0: all

  int gpus() const { return degrees.gpus(); }
  std::int64_t micro_batches() const { return global_batch / (micro_batch * degrees.data); }
  std::int64_t tokens_per_step() const { return global_batch * sequence; }
  const LayerKernels& kernels() const { return layer_kernels_of(framework); }
  TensorOverlap overlap() const;
  Time skew() const { return pipeline_skew.value_or(kernels().pipeline_skew); }
  /// The first layer, from 0, whose products run in 16 bit.
  int first_wide_layer() const;
  /// Of `layers` of a stage, those that run again.
  int recomputed_of(int layers) const;
  bool recomputes_some() const { return recomputed_layers > 0 || recomputed_share < 1; }
  /// Of `layers` of a stage, those whose activations go to the host.
  int offloaded_of(int layers) const {
    if (offload != Offload::activations) return 0;
    return offloaded_layers > 0 ? std::min(offloaded_layers, layers) : layers;
  }
  double summed_bytes() const { return gradient_bytes > 0 ? gradient_bytes : kernels().gradient_bytes; }
  /// Bytes of a gradient where a rank adds micro-batches up: the type that is summed, or fp32.
  double held_gradient_bytes() const {
    constexpr double kFull = 4;
    return kernels().adds_in_summed_type && !shards_parameters() ? summed_bytes() : kFull;
  }
  bool shards_parameters() const { return sharding == ModelSharding::parameters && shards() > 1; }
  /// Stages gather what they share out in the first forward pass of a step and reduce behind the last
  /// backward pass; else every pass does.
  bool keeps_gathered() const {
    return shards_parameters() && degrees.pipeline > 1 && kernels().keeps_in_pipeline;
  }
  LayerSlice slice() const;
  /// Ends of the pipeline that micro-batches come from: with DualPipe both, half of them each, so that a
  /// stage has the layers of two places.
  int ways() const { return schedule == PipelineSchedule::dualpipe && degrees.pipeline > 1 ? 2 : 1; }
  /// Forward asks for sharded parameters a layer ahead.
  bool gathers_ahead() const {
    return kernels().gathers_ahead || (degrees.expert > 1 && kernels().gathers_experts_ahead);
  }
  /// Micro-batches that pass each chunk.
  std::int64_t micro_batches_of_chunk() const { return micro_batches() / ways(); }
  /// Ranks that a dense parameter's gradients are summed over: data-parallel and context ranks, of both
  /// stages that have it.
  int gradient_ranks() const { return ways() * degrees.data * degrees.context; }
  /// The same of an expert's.
  int expert_gradient_ranks() const {
    return ways() * degrees.data * degrees.context * degrees.tensor /
           (degrees.expert * degrees.expert_tensor);
  }
  /// Ranks that a shard of optimizer state, gradients or parameters is one of.
  int shards() const {
    return shard_group > 0 && shard_group < gradient_ranks() ? shard_group : gradient_ranks();
  }
};

/// The job on so many GPUs: `data` 0 becomes what they leave, `global_batch` 0 four micro-batches for each
/// stage and replica. A global batch that does not divide is rounded up to whole micro-batches.
LargeModelRun job_on(const LargeModelRun& asked, int gpus);

/// Of layers that predict further tokens: experts where the network's last layer has them.
bool has_expert_join(const LargeModelRun& job);

/// The fewest GPUs that the job can run on: one replica's, or where experts need more ranks several.
int fewest_gpus_of(const LargeModelRun& asked);  // job_checks.cpp
/// Whether it can run on just so many.
bool runs_on(const LargeModelRun& asked, int gpus);

std::string_view name_of(PipelineSchedule schedule);
std::string_view name_of(ModelSharding sharding);
std::string_view name_of(Recompute recompute);
/// "TP 8 x PP 4 x DP 2", degrees of 1 left out; "DP 8" at least.
std::string to_string(const Degrees& degrees);

/// Largest numbers of a job: beyond them it was not meant, and products of them fit into 64 bits.
inline constexpr std::int64_t kMostParallelDegree = 1 << 16, kMostMicroBatch = 1 << 24,
                              kMostGlobalBatch = std::int64_t{1} << 32, kMostTokens = 1 << 28;
/// Of one micro-batch.
inline constexpr std::int64_t kMostTokensAtOnce = std::int64_t{1} << 40;

/// A degree or batch that does not fit: which key of [parallel] it is about, what is wrong, what would do.
struct JobFault {
  std::string key, message, hint;
};
/// Everything that keeps a job from running on `gpus` GPUs, all at once (job_checks.cpp).
std::vector<JobFault> faults_of(const LargeModelRun& job, int gpus);
/// What runs but costs, in sentences: tensor ranks over nodes, few micro-batches.
std::vector<std::string> warnings_of(const LargeModelRun& job, int gpus_per_node);

}  // namespace foretrain
