// Costs of the pipeline besides passes: messages between stages, buckets of gradients, and the optimizer.
#include <algorithm>
#include <cmath>

#include "sim/strategy/parallel/pipeline_graph.hpp"
#include "sim/workload/device/traffic_time.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

namespace {

/// Sizes of buckets in parameters: nanotron's 25 MB of 16-bit gradients, and Megatron-LM's minimum of 40
/// million or 1 million per rank.
constexpr double kDdpBucket = 12.5e6, kMegatronBucket = 40e6, kMegatronBucketOfRank = 1e6;
/// Bytes of one message of seven integers. nanotron sends size and strides of a tensor in two such messages
/// before its data.
constexpr double kSizeMessageBytes = 56;
constexpr int kSizeMessages = 2, kForwardTensors = 2;
/// Bytes per parameter of the 16-bit weight that Adam writes beside its master copy.
constexpr double kWeightBytes = 2;

/// Returns the bytes that Adam moves for one parameter in one pass. It reads the gradient, and reads and
/// writes the master copy and two moments; fused_bytes_per_element() has all of them in fp32.
double adam_bytes(const LargeModelRun& job) {
  constexpr double kFull = 4, kMovesOfMoments = 4, kMovesOfMaster = 2;
  return static_cast<double>(fused_bytes_per_element(OptimizerKind::adam)) + kWeightBytes -
         kMovesOfMoments * (kFull - job.moment_bytes) - kMovesOfMaster * (kFull - job.master_bytes) -
         (kFull - job.held_gradient_bytes());
}

/// Number of cores of one rank whose copies together fill its share of the host's memory channels; assumed.
constexpr double kCoresFillMemory = 4;

/// Computes the costs of one run; the members are those of the request.
class CostsMaker {
 public:
  CostsMaker(const LargeModelRun& job, const LargeStepRequest& request, GroupExchanges& exchanges,
             ChunkTimer& timer)
      : job_(job), request_(request), exchanges_(exchanges), timer_(timer), kernels_(job.kernels()) {}
  PipelineCosts make();

 private:
  // Returns whether the host waits for every message between stages. Some frameworks do, but never in
  // interleaved, V-shaped or DualPipe schedules.
  bool blocks() const {
    return job_.degrees.pipeline > 1 && kernels_.pipeline_waits_on_host &&
           job_.schedule != PipelineSchedule::interleaved && job_.ways() == 1 && !is_v_shaped(job_.schedule);
  }
  PricedChunk priced(const StageChunk& chunk, bool is_first, bool is_last);
  void price_pairs();
  void price_messages(PricedChunk& chunk, bool is_first, bool is_last);
  void price_gradients(PricedChunk& chunk, StageEnd& end);
  void price_end(const std::vector<StageChunk>& chunks, int stage, StageEnd& end);
  double gathered_s(double dense, double expert, StageEnd& end);
  double gathered_once_s(const StageChunk& chunk, const PricedChunk& priced, StageEnd& end);
  /// Returns the seconds of a message at the end of a step, and records the message in `end`.
  double sent(RankGroup group, Exchange exchange, double bytes, StageEnd& end) {
    end.sent.push_back({group, exchange, bytes});
    return exchanges_.at(group, exchange, bytes).seconds;
  }
  double host_s(Time reference) const {
    return to_seconds(on_host(reference, request_.cluster.node_spec(0).host, request_.device.host));
  }
  /// Returns the seconds of ZeRO-Offload's update on the host: its memory traffic over the bandwidth of the
  /// rank's cores.
  double offloaded_s(double parameters) const;
  double bytes_s(double bytes) const {
    return memory_seconds(bytes, request_.cluster.node_spec(0).gpu, request_.device.kernel);
  }

  const LargeModelRun& job_;
  const LargeStepRequest& request_;
  GroupExchanges& exchanges_;
  ChunkTimer& timer_;
  const LayerKernels& kernels_;
  PipelineCosts costs_;
};

/// Computes the waits of a blocking stage. If the host waits for every exchange, a stage is idle until its
/// message has arrived, and the host wakes up once for each. If tensor sizes are sent ahead, the same holds
/// for each of them. The last chunk of a micro-batch sends nothing forward, and the first nothing backward.
void CostsMaker::price_messages(PricedChunk& chunk, bool is_first, bool is_last) {
  if (!blocks()) return;
  const double wake = to_seconds(request_.device.host.sync_wake) + host_s(kernels_.exchange);
  const double small =
      kernels_.pipeline_sends_sizes
          ? exchanges_.at(RankGroup::stages, Exchange::ring_pass, kSizeMessageBytes).seconds + wake
          : 0;
  if (!is_last) {
    chunk.forward_wait_s = costs_.message_s;
    chunk.forward_host_s =
        wake + (kernels_.pipeline_sends_sizes ? kForwardTensors * kSizeMessages : 0) * small;
  }
  if (!is_first) {
    chunk.backward_wait_s = costs_.message_s;
    chunk.backward_host_s = wake + (kernels_.pipeline_sends_sizes ? kSizeMessages : 0) * small;
  }
}

/// Splits a chunk's gradients into buckets and times their exchange. Sharded parameters have their reductions
/// in the passes instead.
void CostsMaker::price_gradients(PricedChunk& chunk, StageEnd& end) {
  if (job_.shards_parameters()) return;
  const StageParameters held = stage_parameters(job_, chunk.chunk);
  const bool scatters = job_.sharding != ModelSharding::none && job_.framework != LlmFramework::nanotron;
  const bool by_ddp = job_.framework == LlmFramework::nanotron;
  const double least =
      by_ddp ? kDdpBucket : std::max(kMegatronBucket, kMegatronBucketOfRank * job_.gradient_ranks());
  // Megatron-LM has one bucket for all stages and chunks but the first.
  const bool is_whole = !by_ddp && !(chunk.chunk.stage == 0 && chunk.chunk.first == 0);
  const double parameters = std::max(1.0, held.all());
  chunk.buckets = is_whole ? 1 : static_cast<int>(std::ceil(parameters / least));
  const auto sum = [&](RankGroup group, double count) {
    if (count <= 0 || exchanges_.size(group) < 2) return;
    const double bytes = job_.summed_bytes() * count / chunk.buckets;
    const ExchangeTime& time =
        exchanges_.at(group, scatters ? Exchange::reduce_scatter : Exchange::all_reduce, bytes);
    chunk.gradients_s += time.seconds * chunk.buckets;
    const Exchange exchange = scatters ? Exchange::reduce_scatter : Exchange::all_reduce;
    for (int bucket = 0; bucket < chunk.buckets; ++bucket) end.sent.push_back({group, exchange, bytes});
    end.gpu_share = std::max(end.gpu_share, time.gpu_share), end.how = time.how;
  };
  sum(RankGroup::gradients, held.dense), sum(RankGroup::expert_gradients, held.expert);
  end.gradients_s += chunk.gradients_s, end.messages += chunk.buckets;
}

double CostsMaker::offloaded_s(double parameters) const {
  const NodeSpec& node = request_.cluster.node_spec(0);
  const double cores = std::max(1.0, static_cast<double>(node.host.cores) / std::max(1, node.gpus));
  const double memory = node.host.memory_bandwidth.per_second * std::min(cores, kCoresFillMemory);
  return adam_bytes(job_) * parameters / std::max(1.0, memory);
}

/// Returns the exposed seconds of gathering updated 16-bit parameters from the ranks that updated them.
/// Megatron-LM gathers all but the first bucket during the next forward pass.
double CostsMaker::gathered_s(double dense, double expert, StageEnd& end) {
  if (job_.sharding == ModelSharding::none || job_.shards_parameters()) return 0;
  double all = 0;
  if (exchanges_.size(RankGroup::gradients) > 1)
    all += sent(RankGroup::gradients, Exchange::all_gather, 2 * dense, end);
  if (expert > 0 && exchanges_.size(RankGroup::expert_gradients) > 1)
    all += sent(RankGroup::expert_gradients, Exchange::all_gather, 2 * expert, end);
  if (!kernels_.gathers_behind_forward) return all;
  const double forward = costs_.chunks.front().time.forward.total;
  const double first = all * std::min(1.0, kMegatronBucket / std::max(1.0, dense + expert));
  return std::max(first, all - forward);
}

/// Returns the exposed seconds of gathers and reductions that a step does once. Gathers after the first
/// piece's hide behind the first forward pass; reductions follow the last backward pass.
double CostsMaker::gathered_once_s(const StageChunk& chunk, const PricedChunk& priced, StageEnd& end) {
  double first = 0, gathers = 0, reductions = 0;
  const bool cuts_experts = exchanges_.size(RankGroup::expert_gradients) > 1;
  const std::vector<PieceParameters> pieces = timer_.parameters(chunk);
  for (const PieceParameters& piece : pieces) {
    double seconds = sent(RankGroup::shards, Exchange::all_gather, 2 * piece.dense, end);
    if (piece.experts > 0 && cuts_experts)
      seconds += sent(RankGroup::expert_gradients, Exchange::all_gather, 2 * piece.experts, end);
    if (gathers == 0) first = seconds;
    gathers += seconds;
  }
  for (std::size_t i = pieces.size(); i-- > 0;) {
    const double bytes = job_.summed_bytes() * pieces[i].dense;
    if (pieces[i].experts > 0 && cuts_experts)
      reductions += sent(RankGroup::expert_gradients, Exchange::reduce_scatter,
                         job_.summed_bytes() * pieces[i].experts, end);
    reductions += sent(RankGroup::shards, Exchange::reduce_scatter, bytes, end);
    if (job_.shards() < job_.gradient_ranks())
      reductions += sent(RankGroup::replicas, Exchange::all_reduce, bytes / job_.shards(), end);
  }
  return std::max(first, gathers - priced.time.forward.total) + reductions;
}

/// Sums the work of a stage after its last pass: gathers, tied embeddings, norms of tensor ranks, and the
/// optimizer.
void CostsMaker::price_end(const std::vector<StageChunk>& chunks, int stage, StageEnd& end) {
  double dense = 0, expert = 0;
  int layers = 0;
  bool has_end = false;
  for (const StageChunk& chunk : chunks) {
    if (chunk.stage != stage) continue;
    const StageParameters held = stage_parameters(job_, chunk);
    dense += held.dense, expert += held.expert, layers += chunk.layers;
    has_end = has_end || chunk.embedding || chunk.head;
    if (!job_.keeps_gathered()) continue;
    const auto place = static_cast<std::size_t>(&chunk - chunks.data());
    end.behind_s += gathered_once_s(chunk, costs_.chunks[place], end);
  }
  const double hidden = static_cast<double>(job_.shape.hidden);
  // With DualPipe the ranks that hold one end hold the other as well, and gradients are summed over both.
  if (job_.shape.tied && job_.degrees.pipeline > 1 && job_.ways() == 1 && has_end)
    end.behind_s +=
        sent(RankGroup::ends, Exchange::all_reduce,
             4.0 * static_cast<double>(job_.shape.vocabulary) * hidden / job_.degrees.tensor, end);
  // Norms are replicated over tensor ranks, whose gradients are sums over the parts of the sequence.
  if (job_.slice().sequence_parallel && job_.degrees.tensor > 1)
    end.behind_s += sent(RankGroup::tensor, Exchange::all_reduce, 4.0 * (2 * layers + 1) * hidden, end);
  const bool sharded = job_.sharding != ModelSharding::none;
  const int expert_shards = std::min(job_.shards(), std::max(1, job_.expert_gradient_ranks()));
  const double updated = sharded ? dense / job_.shards() + expert / expert_shards : dense + expert;
  // nanotron computes the norm over all gradients and zeroes all of them.
  const bool whole = job_.framework == LlmFramework::nanotron;
  const double touched = whole ? dense + expert : updated;
  // The norm reads each gradient, and behind the update each is set to zero.
  const double gradient = job_.held_gradient_bytes();
  end.optimizer_s = bytes_s(adam_bytes(job_) * updated) + bytes_s(gradient * touched) +
                    bytes_s(gradient * (job_.shards_parameters() ? updated : dense + expert));
  if (job_.offload == Offload::optimizer) end.optimizer_s += offloaded_s(updated);
  end.optimizer_s *= request_.device.scale_of(Account::optimizer);
  end.behind_s += gathered_s(dense, expert, end);
}

PricedChunk CostsMaker::priced(const StageChunk& chunk, bool is_first, bool is_last) {
  PricedChunk out;
  out.chunk = chunk, out.from_idle = blocks(), out.time = timer_.at(chunk, out.from_idle);
  price_messages(out, is_first, is_last);
  return out;
}

/// Computes the times of pairs: the two chunks of a stage run concurrently and hide each other's all-to-alls.
void CostsMaker::price_pairs() {
  const std::size_t count = costs_.chunks.size();
  for (std::size_t i = 0; i < count; ++i) {
    PricedChunk &forward = costs_.chunks[i], &backward = costs_.chunks[count - 1 - i];
    ChunkTime pair;
    pair.forward = forward.time.forward, pair.backward = backward.time.backward;
    hide_expert_exchanges(pair, std::max(forward.time.expert_share, backward.time.expert_share));
    forward.paired_forward = pair.forward, backward.paired_backward = pair.backward;
  }
}

/// Chunks come first, because the end of a stage needs the times of their forward passes.
PipelineCosts CostsMaker::make() {
  const std::vector<StageChunk> chunks = stage_chunks(job_);
  const LayerSlice slice = job_.slice();
  costs_.message_bytes = 2.0 * static_cast<double>(slice.norm_tokens() * job_.shape.hidden);
  if (job_.degrees.pipeline > 1)
    costs_.message_s = exchanges_.at(RankGroup::stages, Exchange::ring_pass, costs_.message_bytes).seconds;
  costs_.overlaps_gradients = job_.overlaps_gradients.value_or(kernels_.overlaps_gradients);
  costs_.stages.resize(static_cast<std::size_t>(job_.degrees.pipeline));
  for (const StageChunk& chunk : chunks) {
    costs_.chunks.push_back(priced(chunk, &chunk == &chunks.front(), &chunk == &chunks.back()));
    price_gradients(costs_.chunks.back(), costs_.stages[static_cast<std::size_t>(chunk.stage)]);
  }
  if (job_.ways() > 1) price_pairs();
  for (int stage = 0; stage < job_.degrees.pipeline; ++stage)
    price_end(chunks, stage, costs_.stages[static_cast<std::size_t>(stage)]);
  return std::move(costs_);
}

}  // namespace

PipelineCosts pipeline_costs(const LargeModelRun& job, const LargeStepRequest& request,
                             GroupExchanges& exchanges, ChunkTimer& timer) {
  return CostsMaker(job, request, exchanges, timer).make();
}

}  // namespace foretrain
