// The run of a large model: sizes, degrees of parallelism, schedule, sharding and framework.
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

/// The degrees of parallelism: into how many parts the model and its data are cut. `data` is the degree that
/// the other degrees leave for the GPUs.
struct Degrees {
  int tensor = 1, pipeline = 1, virtual_stages = 1, context = 1, expert = 1, expert_tensor = 1, data = 1;
  /// Return the GPUs of one replica and of the whole run. Products are capped at kMostGpus, a number that no
  /// cluster reaches.
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
/// State that data-parallel ranks share instead of each holding it: nothing; the optimizer's state (zero1,
/// Megatron's distributed optimizer); gradients too (zero2); parameters too (zero3, fsdp).
enum class ModelSharding : std::uint8_t { none, optimizer, gradients, parameters };

/// The tensors that leave the GPU's memory during a step of a large model.
enum class Offload : std::uint8_t { none, optimizer, activations };

/// A training step of a large model in full: model, degrees of parallelism, micro-batches, schedule, sharding
/// and precision.
struct LargeModelRun {
  TransformerShape shape;
  /// Tokens of a sequence.
  std::int64_t sequence = 0;
  /// Sequences of a micro-batch and of a step.
  std::int64_t micro_batch = 1, global_batch = 1;
  Degrees degrees;
  LlmFramework framework = LlmFramework::megatron_te;
  KernelPrecision precision = KernelPrecision::bf16;
  bool sequence_parallel = true;
  Recompute recompute = Recompute::none;
  /// Recomputed layers of each stage; 0: all.
  int recomputed_layers = 0;
  /// Recomputed share of each stage's layers, if `recomputed_layers` is 0 (every second layer: 0.5).
  double recomputed_share = 1;
  /// Modules of Recompute::selective; 0: those that the framework recomputes under that name.
  LayerModules recompute_modules = 0;
  ModelSharding sharding = ModelSharding::optimizer;
  /// Number of data-parallel ranks that share state; 0: all of them (fewer: HSDP).
  int shard_group = 0;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  ContextExchange context_exchange = ContextExchange::ring;
  TokenDispatch dispatch = TokenDispatch::all_to_all;
  /// Overlap of tensor exchanges with products; none: the framework's own.
  std::optional<TensorOverlap> tensor_overlap{};
  /// Kernel of attention; none: the framework's own.
  std::optional<AttentionKernel> attention{};
  /// Further tokens predicted, each by one more layer and the head (DeepSeek-V3: 1).
  int next_tokens = 0;
  /// Number of last layers that keep 16 bits where products run in 4; none: 4, as in NVIDIA's recipe.
  std::optional<int> wide_layers{};
  /// Skew between tensor ranks at an exchange; none: the framework's own (LayerKernels::pipeline_skew).
  std::optional<Time> pipeline_skew{};
  /// Capacity factor of experts; 0: no token is dropped.
  double capacity_factor = 0;
  /// Parts of the sequence that head and loss process in turn (torchtitan: 8).
  int loss_chunks = 1;
  /// Tokens of the busiest expert rank divided by the mean, if none is dropped.
  double imbalance = 1.1;
  bool cuda_graphs = false;
  /// PyTorch before 2.2: a buffer that a reduce-scatter sent stays reserved until the GPU has run the
  /// exchange.
  bool record_streams = false;
  /// All-to-alls of one micro-batch run concurrently with another's kernels.
  bool overlaps_experts = false;
  /// Gradients are exchanged during the last backward pass; none: the framework's own.
  std::optional<bool> overlaps_gradients{};
  /// Bytes of each gradient that data-parallel ranks sum; 0: the framework's own.
  double gradient_bytes = 0;
  /// Bytes of each of the optimizer's two moments, per parameter.
  double moment_bytes = 4;
  /// Bytes of the optimizer's copy of a weight; 2: the bits that the 16-bit weight lacks.
  double master_bytes = 4;
  Offload offload = Offload::none;
  /// Layers of each stage whose activations Offload::activations moves; 0: all.
  int offloaded_layers = 0;

  int gpus() const { return degrees.gpus(); }
  /// Micro-batches of one replica in a step.
  std::int64_t micro_batches() const { return global_batch / (micro_batch * degrees.data); }
  std::int64_t tokens_per_step() const { return global_batch * sequence; }
  const LayerKernels& kernels() const { return layer_kernels_of(framework); }
  /// Returns the stated overlap of tensor exchanges, or the framework's own.
  TensorOverlap overlap() const;
  Time skew() const { return pipeline_skew.value_or(kernels().pipeline_skew); }
  /// Returns the first layer, from 0, whose products run in 16 bits.
  int first_wide_layer() const;
  /// Returns how many of a stage's `layers` are recomputed.
  int recomputed_of(int layers) const;
  bool recomputes_some() const { return recomputed_layers > 0 || recomputed_share < 1; }
  /// Returns for how many of a stage's `layers` the activations go to the host.
  int offloaded_of(int layers) const {
    if (offload != Offload::activations) return 0;
    return offloaded_layers > 0 ? std::min(offloaded_layers, layers) : layers;
  }
  /// Bytes of each gradient on the wire.
  double summed_bytes() const { return gradient_bytes > 0 ? gradient_bytes : kernels().gradient_bytes; }
  /// Bytes of a gradient where a rank adds micro-batches up: the type that is summed, or fp32.
  double held_gradient_bytes() const {
    constexpr double kFull = 4;
    return kernels().adds_in_summed_type && !shards_parameters() ? summed_bytes() : kFull;
  }
  bool shards_parameters() const { return sharding == ModelSharding::parameters && shards() > 1; }
  /// Returns whether stages gather sharded parameters in the first forward pass of a step and reduce
  /// gradients after the last backward pass. Otherwise every pass gathers and reduces.
  bool keeps_gathered() const {
    return shards_parameters() && degrees.pipeline > 1 && kernels().keeps_in_pipeline;
  }
  /// Returns the part of a layer that one rank computes.
  LayerSlice slice() const;
  /// Returns the number of pipeline ends from which micro-batches enter. With DualPipe it is two, half of the
  /// micro-batches each, so a stage has the layers of two places.
  int ways() const { return schedule == PipelineSchedule::dualpipe && degrees.pipeline > 1 ? 2 : 1; }
  /// Returns whether forward gathers sharded parameters one layer ahead.
  bool gathers_ahead() const {
    return kernels().gathers_ahead || (degrees.expert > 1 && kernels().gathers_experts_ahead);
  }
  /// Returns the micro-batches that pass each chunk.
  std::int64_t micro_batches_of_chunk() const { return micro_batches() / ways(); }
  /// Returns the number of ranks that sum a dense parameter's gradients: data-parallel and context ranks,
  /// with DualPipe of both stages that hold it.
  int gradient_ranks() const { return ways() * degrees.data * degrees.context; }
  /// Returns the same for an expert's parameter.
  int expert_gradient_ranks() const {
    return ways() * degrees.data * degrees.context * degrees.tensor /
           (degrees.expert * degrees.expert_tensor);
  }
  /// Returns over how many ranks state is sharded: optimizer state, gradients or parameters.
  int shards() const {
    return shard_group > 0 && shard_group < gradient_ranks() ? shard_group : gradient_ranks();
  }
};

/// Returns the run on `gpus` GPUs. A `data` degree of 0 becomes what the other degrees leave. A
/// `global_batch` of 0 becomes four micro-batches for each stage and replica, or one for each replica if
/// there is one stage. A global batch is rounded up to whole micro-batches, as many as the schedule takes.
LargeModelRun job_on(const LargeModelRun& asked, int gpus);

/// Returns whether layers that predict further tokens have experts: they do if the network's last layer has
/// them.
bool has_expert_join(const LargeModelRun& job);

/// Returns the fewest GPUs that the run fits on: those of one replica, or of several if experts need more
/// ranks. Searches at most 4096 replicas.
int fewest_gpus_of(const LargeModelRun& asked);  // job_checks.cpp
/// Returns whether the run is valid on exactly `gpus` GPUs.
bool runs_on(const LargeModelRun& asked, int gpus);

/// Return the names as scenario files write them.
std::string_view name_of(PipelineSchedule schedule);
std::string_view name_of(ModelSharding sharding);
std::string_view name_of(Recompute recompute);
/// Returns the degrees as "TP 8 x PP 4 x DP 2". Degrees of 1 are omitted; "DP 8" at least is printed.
std::string to_string(const Degrees& degrees);

/// Upper limits of a run's numbers. Larger values are taken for mistakes, and products of these fit into 64
/// bits.
inline constexpr std::int64_t kMostParallelDegree = 1 << 16, kMostMicroBatch = 1 << 24,
                              kMostGlobalBatch = std::int64_t{1} << 32, kMostTokens = 1 << 28;
/// Upper limit of the tokens of one micro-batch.
inline constexpr std::int64_t kMostTokensAtOnce = std::int64_t{1} << 40;

/// A degree or batch that does not fit: the key of [parallel], the mistake, and values that would be valid.
struct JobFault {
  std::string key, message, hint;
};
/// Returns all faults that keep a run from `gpus` GPUs, not only the first (job_checks.cpp). Divisions are
/// checked only when all ranges hold, the schedule only when all divisions hold.
std::vector<JobFault> faults_of(const LargeModelRun& job, int gpus);
/// Returns warnings about valid choices that cost time: tensor ranks across nodes, few micro-batches.
std::vector<std::string> warnings_of(const LargeModelRun& job, int gpus_per_node);

}  // namespace foretrain
