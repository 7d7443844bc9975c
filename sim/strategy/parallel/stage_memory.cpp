// Bytes of a stage: state by parameter, activations by micro-batch in flight, logits on the stage of the
// head.
//
// The peak of a pipeline stage is the moment with most micro-batches in flight: stages at the front keep as
// many activations as there are stages behind them in 1F1B. Parameters, gradients and optimizer states do not
// depend on the schedule. Tensor ranks divide parameters and activations, and sharding divides the state over
// data-parallel ranks. Recomputation keeps less of a layer for backward, and offload moves it to the host.
// One layer at work has its transient tensors besides; they count once, because layers run in sequence.
#include "sim/strategy/parallel/stage_memory.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/strategy/parallel/chunk_timing.hpp"
#include "sim/strategy/parallel/schedule.hpp"

namespace foretrain {

namespace {

/// Returns the bytes per parameter of master weights and Adam's two moments.
double master_and_moments(const LargeModelRun& job) {
  constexpr double kMoments = 2;
  return job.master_bytes + kMoments * job.moment_bytes;
}

/// cuBLAS' workspace on Hopper and small buffers of the framework, in bytes.
constexpr double kWorkspace = 0.3 * 1024 * 1024 * 1024;
/// CUDA context with its libraries, and NCCL's buffers for a group, in bytes (unverified: 1 to 4 GB for ten
/// groups).
constexpr double kContext = 0.6e9, kBuffersOfGroup = 0.15e9;
/// Number of layers whose offloaded activations are on the GPU: one at work, one being copied
/// (docs/models/large_models.md).
constexpr double kLayersOnGpu = 2;
/// Number of micro-batches beyond which no schedule keeps more in flight. AFAB, which keeps all, is counted
/// up to it.
constexpr int kLongestCounted = 4096;

/// Bytes for each parameter that a rank holds, by default: 16-bit weights and fp32 gradients.
struct StateBytes {
  double weights = 2, gradients = 4, optimizer = 0;
};

/// Divides each kind of state by `shards` if data-parallel ranks share it.
StateBytes state_bytes(const LargeModelRun& job, int shards) {
  StateBytes bytes{.gradients = job.held_gradient_bytes(), .optimizer = master_and_moments(job)};
  const double share = 1.0 / std::max(1, shards);
  if (job.sharding != ModelSharding::none) bytes.optimizer *= share;
  if (job.sharding >= ModelSharding::gradients) bytes.gradients *= share;
  if (job.shards_parameters()) {
    // The optimizer's master weights are the weights; layers are gathered in 16 bits.
    bytes.weights = job.keeps_gathered() ? 2 : 0;
    bytes.gradients = job.held_gradient_bytes() * share + (job.keeps_gathered() ? job.summed_bytes() : 0);
  }
  if (job.offload == Offload::optimizer) bytes.optimizer = 0;
  return bytes;
}

/// Adds up the memory of chunks.
class StageBytes {
 public:
  explicit StageBytes(const LargeModelRun& job) : job_(job), slice_(job.slice()), kernels_(job.kernels()) {}

  void add_chunk(const StageChunk& chunk, double in_flight, StageMemory& memory) const;
  void add_outside(StageMemory& memory) const;

 private:
  void add_state(const StageChunk& chunk, StageMemory& memory) const;

  const LargeModelRun& job_;
  LayerSlice slice_;
  const LayerKernels& kernels_;
};

/// Dense parameters and experts are sharded over different numbers of ranks.
void StageBytes::add_state(const StageChunk& chunk, StageMemory& memory) const {
  const StageParameters held = stage_parameters(job_, chunk);
  const int expert_shards = std::min(job_.shards(), std::max(1, job_.expert_gradient_ranks()));
  for (const auto& [count, shards] :
       {std::pair{held.dense, job_.shards()}, std::pair{held.expert, expert_shards}}) {
    const StateBytes bytes = state_bytes(job_, shards);
    memory.weights += bytes.weights * count, memory.gradients += bytes.gradients * count;
    memory.optimizer += bytes.optimizer * count;
  }
  if (job_.framework == LlmFramework::nanotron && job_.gradient_ranks() > 1)
    // nanotron keeps 16-bit gradients in DDP's buckets besides the fp32 sums.
    memory.buckets += 2 * held.all();
  if (job_.shards_parameters() && !job_.keeps_gathered() && chunk.layers > 0) {
    StageChunk layer = chunk;
    layer.layers = 1, layer.expert_layers = std::min(1, chunk.expert_layers);
    layer.embedding = layer.head = false;
    // The layer that runs and the next one in 16 bits, and the gradients of one.
    memory.buckets += (2 * 2 + job_.summed_bytes()) * stage_parameters(job_, layer).all();
  }
}

/// `in_flight`: micro-batches whose activations the chunk keeps. Layers that are not recomputed keep more.
void StageBytes::add_chunk(const StageChunk& chunk, double in_flight, StageMemory& memory) const {
  add_state(chunk, memory);
  const int again = job_.recomputed_of(chunk.layers);
  double transient = 0, saved = 0;
  for (const bool experts : {false, true}) {
    const int count = experts ? chunk.expert_layers : chunk.layers - chunk.expert_layers;
    if (count == 0) continue;
    const LayerProgram with = layer_program(job_.shape, slice_, experts, kernels_);
    LayerSlice plain = slice_;
    plain.recompute = Recompute::none;
    const double without = layer_program(job_.shape, plain, experts, kernels_).saved_bytes;
    const double share = static_cast<double>(again) / chunk.layers;
    saved += count * (share * with.saved_bytes + (1 - share) * without);
    transient = std::max(transient, with.transient_bytes);
  }
  // Offloaded layers keep their activations only while they run or are copied.
  if (const int away = job_.offloaded_of(chunk.layers); away > 0)
    saved *= (chunk.layers - away + std::min<double>(away, kLayersOnGpu)) / chunk.layers;
  memory.activations += in_flight * saved + transient;
  if (!chunk.head) return;
  const LayerProgram head = head_program(job_.shape, slice_, kernels_);
  memory.activations += (1 + job_.next_tokens) * head.saved_bytes;
  memory.logits = head.transient_bytes;
  for (int i = 0; i < job_.next_tokens; ++i)
    memory.activations += join_program(job_.shape, slice_, kernels_).saved_bytes +
                          layer_program(job_.shape, slice_, has_expert_join(job_), kernels_).saved_bytes;
}

/// NCCL's buffers: each axis with more than one rank has a communicator, a pipeline has two, and one more is
/// always there.
void StageBytes::add_outside(StageMemory& memory) const {
  const Degrees& d = job_.degrees;
  const int groups =
      (d.tensor > 1) + (d.pipeline > 1) * 2 + (d.context > 1) + (d.expert > 1) + (d.data > 1) + 1;
  memory.workspace = kWorkspace;
  memory.outside = kContext + groups * kBuffersOfGroup;
}

}  // namespace

/// Attention and dense parts are cut over tensor ranks. A tied head needs no matrix on the stage of the
/// embedding.
StageParameters stage_parameters(const LargeModelRun& job, const StageChunk& chunk) {
  const ParameterCount counts = parameters_of(job.shape);
  const double t = job.degrees.tensor;
  StageParameters held;
  const int dense = chunk.layers - chunk.expert_layers;
  held.dense =
      (chunk.layers * static_cast<double>(counts.attention) + dense * static_cast<double>(counts.dense)) / t;
  if (chunk.embedding) held.dense += static_cast<double>(counts.embedding) / t;
  const bool has_own_matrix = !(job.shape.tied && chunk.embedding);
  if (chunk.head && has_own_matrix) held.dense += static_cast<double>(counts.head) / t;
  const int further = chunk.head ? job.next_tokens : 0;
  const bool joins_experts = further > 0 && has_expert_join(job);
  held.dense += further *
                (2.0 * static_cast<double>(job.shape.hidden * job.shape.hidden) +
                 static_cast<double>(counts.attention + (joins_experts ? 0 : counts.dense))) /
                t;
  const int with_experts = chunk.expert_layers + (joins_experts ? further : 0);
  if (with_experts == 0) return held;
  const ExpertLayers& own = *job.shape.experts;
  held.dense += with_experts * (static_cast<double>(counts.router) +
                                own.shared * static_cast<double>(counts.one_expert) / t);
  held.expert = with_experts * static_cast<double>(own.experts) * static_cast<double>(counts.one_expert) /
                (job.degrees.expert * job.degrees.expert_tensor);
  return held;
}

double held_bytes(const LargeModelRun& job, const ChunkTime& passes) {
  /// Number of launches that wait in a stream's queue before the next one blocks ("about 1000", stackoverflow
  /// 53970187).
  constexpr double kLaunchQueue = 1024;
  const double total = passes.forward.total + passes.backward.total;
  if (!job.record_streams || passes.launches <= 0 || total <= 0) return 0;
  const double all = passes.launches * static_cast<double>(job.micro_batches_of_chunk());
  const double ahead = std::min(kLaunchQueue, all * std::max(0.0, 1 - passes.issue_s / total));
  return ahead * passes.scattered_bytes / passes.launches;
}

std::vector<StageMemory> stage_memory(const LargeModelRun& job) {
  const int stages = job.degrees.pipeline, chunks = chunks_per_stage(job);
  const auto micro_batches = static_cast<int>(std::min<std::int64_t>(job.micro_batches(), kLongestCounted));
  // A schedule reaches its peak within its first turns, so a few of them are enough.
  const bool keeps_all = job.schedule == PipelineSchedule::afab;
  int counted = keeps_all ? micro_batches : std::min(micro_batches, 4 * stages);
  if (job.schedule == PipelineSchedule::interleaved) counted = std::max(stages, counted / stages * stages);
  const std::vector<int> in_flight =
      most_in_flight(schedule_of({job.schedule, stages, chunks, std::max(1, counted)}));
  std::vector<StageMemory> all(static_cast<std::size_t>(stages));
  const StageBytes bytes(job);
  for (const StageChunk& chunk : stage_chunks(job)) {
    const auto stage = static_cast<std::size_t>(chunk.stage);
    bytes.add_chunk(chunk, static_cast<double>(in_flight[stage]) / chunks, all[stage]);
  }
  for (StageMemory& memory : all) bytes.add_outside(memory);
  return all;
}

/// The advice depends on what is in use already: sharding of the optimizer and recomputation.
std::string StageMemory::largest_part(const LargeModelRun& job) const {
  const std::array<std::pair<double, std::string>, 6> parts{{
      {weights, "weights (more tensor or pipeline ranks)"},
      {gradients, "gradients (more tensor or pipeline ranks, or sharded parameters)"},
      {optimizer, job.sharding == ModelSharding::none ? "the optimizer's state (shard = \"optimizer\")"
                                                      : "the optimizer's state (more ranks to share it out)"},
      {buckets, "gradients on their way"},
      {activations, job.recompute == Recompute::full || job.recompute == Recompute::save_qkv
                        ? "activations (smaller micro-batches, more tensor ranks)"
                        : "activations (recompute = \"full\", smaller micro-batches)"},
      {logits, "logits (more tensor ranks, smaller micro-batches)"},
  }};
  return std::ranges::max_element(parts)->second;
}

}  // namespace foretrain
