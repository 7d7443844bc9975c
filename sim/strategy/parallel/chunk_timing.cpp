// A pass is a small task graph: the host's calls one after the other, kernels on the compute stream, each
// group's exchanges on a stream of its own. What the compute stream waited for is read from the timeline.
#include "sim/strategy/parallel/chunk_timing.hpp"

#include <algorithm>

#include "sim/engine/executor.hpp"
#include "sim/strategy/parallel/pass_graph.hpp"
#include "sim/workload/device/traffic_time.hpp"

namespace foretrain {

namespace {

/// Layers that are simulated one by one; beyond them each costs what the last two did.
constexpr int kSimulatedLayers = 6;
/// Passes until the host has run ahead as far as it will.
constexpr int kWarmPasses = 2;
/// Whose activations are there at once where they are offloaded.
constexpr std::size_t kLayersOnGpu = 2;

RankGroup group_of(Along along) {
  constexpr RankGroup kGroups[] = {RankGroup::tensor, RankGroup::tensor, RankGroup::context,
                                   RankGroup::expert, RankGroup::expert_tensor};
  return kGroups[static_cast<std::size_t>(along)];
}

PassStream stream_of(Along along) {
  return static_cast<PassStream>(static_cast<std::size_t>(along) - static_cast<std::size_t>(Along::tensor));
}

PassCharge charge_of(Along along) {
  if (along == Along::tensor) return PassCharge::tensor;
  return along == Along::context ? PassCharge::context : PassCharge::expert;
}

/// A layer, or an end of the network, with its steps' times.
struct Priced {
  Time gpu{}, host{};
  double share = 0;
  const LayerStep* step = nullptr;
};

struct Piece {
  LayerProgram program;
  std::vector<Priced> forward, backward;
  double parameters = 0;  ///< of a rank
  bool is_layer = false;
  bool is_wide = false;  ///< products in 16 bit where the others run in 4
};

/// Prices steps on one GPU and its host.
class StepPrices {
 public:
  explicit StepPrices(const TimingSite& site)
      : site_(site), node_(site.cluster.node_spec(0)), kernels_(site.job.kernels()) {}

  Time on_this_host(Time reference) const {
    if (site_.job.cuda_graphs) return Time{};
    return seconds(to_seconds(on_host(reference, node_.host, site_.device.host)) * site_.host_factor);
  }
  /// `is_wide`: products run in 16 bit whatever the job's precision.
  Priced price(const LayerStep& step, bool is_wide) const;
  std::vector<Priced> price(const std::vector<LayerStep>& steps, bool is_wide) const;

 private:
  double kernel_s(const LayerStep& step, bool is_wide) const;

  const TimingSite& site_;
  const NodeSpec& node_;
  const LayerKernels& kernels_;
};

double StepPrices::kernel_s(const LayerStep& step, bool is_wide) const {
  const KernelCalibration& calibration = site_.device.kernel;
  switch (step.kind) {
    case LayerStep::Kind::product: {
      const bool widens = (step.is_half || is_wide) && is_narrow(site_.job.precision);
      const KernelPrecision precision = widens ? KernelPrecision::bf16 : site_.job.precision;
      return gemm_seconds(step.m, step.n, step.k, step.count, precision, node_.gpu, calibration);
    }
    case LayerStep::Kind::attention:
      return flash_attention_seconds(step.attention, KernelPrecision::bf16, node_.gpu, calibration);
    case LayerStep::Kind::bytes:
      return memory_seconds(step.bytes, node_.gpu, calibration) + fixed_seconds(step.launches, calibration);
    case LayerStep::Kind::exchange:
      break;
  }
  return 0;
}

Priced StepPrices::price(const LayerStep& step, bool is_wide) const {
  if (step.kind == LayerStep::Kind::exchange) {
    const ExchangeTime& time = site_.exchanges.at(group_of(step.along), step.exchange, step.bytes);
    const bool is_skewed = step.along == Along::tensor && site_.job.degrees.pipeline > 1;
    const Time skew = is_skewed ? site_.job.skew() * site_.job.degrees.tensor : Time{};
    return {seconds(time.seconds * step.exposed) + skew, on_this_host(kernels_.exchange), time.gpu_share,
            &step};
  }
  const Time host = kernels_.launch * step.launches + kernels_.python_function * step.python;
  return {seconds(kernel_s(step, is_wide) * site_.device.kernel.time_scale * site_.kernel_factor),
          on_this_host(host), 0, &step};
}

std::vector<Priced> StepPrices::price(const std::vector<LayerStep>& steps, bool is_wide) const {
  std::vector<Priced> out;
  for (const LayerStep& step : steps) out.push_back(price(step, is_wide));
  return out;
}

/// A layer and the head once more for each further token that is predicted, behind the head.
template <typename Add>
void add_next_tokens(const LargeModelJob& job, const LayerSlice& slice, const ParameterCount& counts,
                     const Add& add) {
  const bool experts = has_expert_join(job);
  const auto joined = 2.0 * static_cast<double>(job.shape.hidden * job.shape.hidden);
  for (int i = 0; i < job.next_tokens; ++i) {
    add(join_program(job.shape, slice, job.kernels()), joined, false);
    add(layer_program(job.shape, slice, experts, job.kernels()), dense_parameters(job, counts, experts),
        true);
    add(head_program(job.shape, slice, job.kernels()), 0, false);
  }
}

/// The pieces of a chunk, in forward order.
std::vector<Piece> pieces_of(const LargeModelJob& job, const StageChunk& chunk, const StepPrices& prices) {
  const ParameterCount counts = parameters_of(job.shape);
  const LayerSlice slice = job.slice();
  std::vector<Piece> pieces;
  const auto add = [&](LayerProgram program, double parameters, bool is_layer) {
    Piece& piece = pieces.emplace_back();
    piece.program = std::move(program), piece.is_layer = is_layer;
    piece.parameters = parameters / job.degrees.tensor;
  };
  if (chunk.embedding)
    add(embedding_program(job.shape, slice, job.kernels()), static_cast<double>(counts.embedding), false);
  const int recomputed = job.recomputed_layers > 0 ? job.recomputed_layers : chunk.layers;
  for (int i = 0; i < chunk.layers; ++i) {
    LayerSlice own = slice;
    if (i >= recomputed) own.recompute = Recompute::none;
    const bool is_wide = i >= chunk.layers - chunk.wide_layers;
    if (is_wide && own.precision == KernelPrecision::fp4) own.precision = KernelPrecision::bf16;
    const bool experts = i >= chunk.layers - chunk.expert_layers;
    add(layer_program(job.shape, own, experts, job.kernels()), dense_parameters(job, counts, experts), true);
    pieces.back().is_wide = is_wide;
  }
  if (chunk.head) {
    add(head_program(job.shape, slice, job.kernels()), static_cast<double>(counts.head), false);
    add_next_tokens(job, slice, counts, add);
  }
  for (Piece& piece : pieces) {
    piece.forward = prices.price(piece.program.forward, piece.is_wide);
    piece.backward = prices.price(piece.program.again, piece.is_wide);
    const std::vector<Priced> own = prices.price(piece.program.backward, piece.is_wide);
    piece.backward.insert(piece.backward.end(), own.begin(), own.end());
  }
  return pieces;
}

/// Writes passes of the pieces, with what sharded parameters need: each piece's are gathered while the one
/// before it runs, and its gradients scattered behind it.
class PassWriter {
 public:
  PassWriter(const TimingSite& site, const std::vector<Piece>& pieces, const StepPrices& prices)
      : site_(site), pieces_(pieces), pass_(site.device.host.launch_latency) {
    call_ = prices.on_this_host(site.job.kernels().exchange);
    layer_call_ = prices.on_this_host(site.job.kernels().layer);
  }

  TaskId forward();
  TaskId backward(bool is_last);
  PassGraph& pass() { return pass_; }

 private:
  TaskId gather(const Piece& piece);
  TaskId scatter(const Piece& piece);
  void run(const std::vector<Priced>& steps, std::size_t again);
  /// A layer's activations to the host's memory or back, beside the kernels; none where they stay.
  TaskId copied(const Piece& piece, PassStream stream, TaskId after);
  PassGraph::Exchange sharded(RankGroup group, Exchange exchange, PassStream stream, double bytes);

  const TimingSite& site_;
  const std::vector<Piece>& pieces_;
  PassGraph pass_;
  Time call_{}, layer_call_{};
};

PassGraph::Exchange PassWriter::sharded(RankGroup group, Exchange exchange, PassStream stream, double bytes) {
  const ExchangeTime& time = site_.exchanges.at(group, exchange, bytes);
  return {stream, PassCharge::data, seconds(time.seconds), time.gpu_share};
}

TaskId PassWriter::gather(const Piece& piece) {
  if (!site_.job.shards_parameters()) return kNone;
  pass_.call(call_);
  return pass_.prefetch(
      sharded(RankGroup::shards, Exchange::all_gather, PassStream::gather, 2 * piece.parameters));
}

TaskId PassWriter::scatter(const Piece& piece) {
  pass_.call(call_);
  const double bytes = site_.job.summed_bytes() * piece.parameters;
  TaskId last =
      pass_.exchange_behind(sharded(RankGroup::shards, Exchange::reduce_scatter, PassStream::scatter, bytes));
  if (site_.job.shards() == site_.job.gradient_ranks()) return last;
  return pass_.exchange_behind(
      sharded(RankGroup::replicas, Exchange::all_reduce, PassStream::scatter, bytes / site_.job.shards()));
}

TaskId PassWriter::copied(const Piece& piece, PassStream stream, TaskId after) {
  if (site_.job.offload != Offload::activations || !piece.is_layer) return kNone;
  const Cluster& cluster = site_.cluster;
  const Route& way = cluster.host_route_in_node(cluster.gpu(0, 0), cluster.cpu_of_gpu(0, 0));
  const double taken = piece.program.saved_bytes / way.bandwidth.per_second;
  return pass_.copy(stream, seconds(taken) + way.latency, after);
}

/// `again`: so many steps in front are those of forward once more, with places of their own.
void PassWriter::run(const std::vector<Priced>& steps, std::size_t again) {
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LayerStep& step = *steps[i].step;
    pass_.call(steps[i].host);
    const std::size_t first = i < again ? 0 : again;
    const TaskId waits_for =
        step.waits_for >= 0 ? tasks[first + static_cast<std::size_t>(step.waits_for)] : kNone;
    if (step.along == Along::none) {
      tasks.push_back(pass_.kernel(steps[i].gpu, waits_for));
    } else {
      const PassGraph::Exchange exchange{stream_of(step.along), charge_of(step.along), steps[i].gpu,
                                         steps[i].share};
      if (waits_for != kNone) pass_.kernel_waits_for(waits_for);
      tasks.push_back(step.behind ? pass_.exchange_behind(exchange) : pass_.exchange(exchange));
    }
    if (step.host_waits) pass_.host_waits_for(tasks.back());
  }
}

TaskId PassWriter::forward() {
  TaskId next = gather(pieces_.front());
  std::vector<TaskId> away;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const TaskId own = next;
    if (i + 1 < pieces_.size()) next = gather(pieces_[i + 1]);
    if (own != kNone) pass_.kernel_waits_for(own);
    if (pieces_[i].is_layer) pass_.call(layer_call_);
    // The place of a layer's activations is the next but one's: theirs have to be away.
    if (away.size() >= kLayersOnGpu && pieces_[i].is_layer)
      pass_.kernel_waits_for(away[away.size() - kLayersOnGpu]);
    run(pieces_[i].forward, 0);
    if (const TaskId copy = copied(pieces_[i], PassStream::to_host, pass_.last()); copy != kNone)
      away.push_back(copy);
  }
  return pass_.mark();
}

/// The last piece's parameters are still there from forward.
TaskId PassWriter::backward(bool is_last) {
  TaskId next = kNone, scattered = kNone, back = kNone;
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    const TaskId own = next;
    if (i > 0) next = gather(pieces_[i - 1]);
    if (own != kNone) pass_.kernel_waits_for(own);
    if (pieces_[i].is_layer) pass_.call(layer_call_);
    // The layers' before it come back while it runs.
    const TaskId here = back;
    back = i > 0 ? copied(pieces_[i - 1], PassStream::to_gpu, pass_.last()) : kNone;
    if (here != kNone) pass_.kernel_waits_for(here);
    run(pieces_[i].backward, pieces_[i].program.again.size());
    if (site_.job.shards_parameters()) scattered = scatter(pieces_[i]);
  }
  if (scattered != kNone && is_last) pass_.kernel_waits_for(scattered);
  return pass_.mark();
}

PassTime pass_between(const PassGraph& pass, const Timeline& timeline, Time from, Time until, TaskId first) {
  const CriticalPath path =
      sum_of(pass.graph(), queue_path(pass.graph(), timeline, pass.compute(), from, until, first));
  const auto spent = [&](PassCharge charge) {
    return to_seconds(path.spent[static_cast<std::size_t>(charge)]);
  };
  PassTime time;
  time.compute = spent(PassCharge::compute), time.tensor = spent(PassCharge::tensor);
  time.context = spent(PassCharge::context), time.expert = spent(PassCharge::expert);
  time.data = spent(PassCharge::data), time.total = to_seconds(until - from);
  time.host = std::max(0.0, time.total - time.compute - time.tensor - time.context - time.expert - time.data);
  return time;
}

void add_issue_and_flops(const std::vector<Piece>& pieces, ChunkTime& time) {
  double backward = 0, weights = 0;
  for (const Piece& piece : pieces) {
    time.flops += flops_of(piece.program.forward) + flops_of(piece.program.backward);
    for (const Priced& priced : piece.forward) time.issue_s += to_seconds(priced.host);
    for (const Priced& priced : piece.backward) {
      time.issue_s += to_seconds(priced.host), backward += to_seconds(priced.gpu);
      if (priced.step->is_weight_gradient) weights += to_seconds(priced.gpu);
    }
  }
  time.weight_share = backward > 0 ? weights / backward : 0;
}

/// Of the GPU, while tokens are sent to experts.
double expert_share(const std::vector<Piece>& pieces) {
  double share = 0;
  for (const Piece& piece : pieces)
    for (const Priced& priced : piece.forward)
      if (priced.step->along == Along::expert) share = std::max(share, priced.share);
  return share;
}

/// All layers one by one. Where the host runs ahead, passes follow each other, and the last ones count.
ChunkTime simulate_layers(const TimingSite& site, const StageChunk& chunk, bool from_idle) {
  const StepPrices prices(site);
  const std::vector<Piece> pieces = pieces_of(site.job, chunk, prices);
  ChunkTime time;
  if (pieces.empty()) return time;
  add_issue_and_flops(pieces, time);
  PassWriter writer(site, pieces, prices);
  TaskId begin = writer.pass().mark(), middle = kNone, end = kNone;
  const int passes = from_idle ? 1 : kWarmPasses + 1;
  for (int i = 0; i < passes; ++i) {
    if (end != kNone) begin = end;
    middle = writer.forward();
    if (from_idle) writer.pass().host_waits_for(middle);
    end = writer.backward(i + 1 == passes);
  }
  const Timeline timeline = run(writer.pass().graph(), [](LinkId) { return ByteRate{1e18}; });
  const auto at = [&](TaskId task) { return timeline.end_of(task); };
  time.forward = pass_between(writer.pass(), timeline, at(begin), at(middle), begin);
  time.backward = pass_between(writer.pass(), timeline, at(middle), at(end), middle);
  if (site.job.overlaps_experts) hide_expert_exchanges(time, expert_share(pieces));
  return time;
}

/// The parts share the whole as they do where it was simulated, as far as none shrinks below nothing.
PassTime extended(const PassTime& fewer, const PassTime& more, double extra) {
  const auto extend = [extra](double a, double b) { return std::max(0.0, b + extra * (b - a)); };
  PassTime out;
  double sum = 0;
  for (double PassTime::*part : {&PassTime::compute, &PassTime::host, &PassTime::tensor, &PassTime::context,
                                 &PassTime::expert, &PassTime::data})
    sum += out.*part = extend(fewer.*part, more.*part);
  out.total = extend(fewer.total, more.total);
  if (sum <= 0) return out;
  for (double PassTime::*part : {&PassTime::compute, &PassTime::host, &PassTime::tensor, &PassTime::context,
                                 &PassTime::expert, &PassTime::data})
    out.*part *= out.total / sum;
  return out;
}

}  // namespace

ChunkTimer::ChunkTimer(const TimingSite& site) : site_(site) {}

ChunkTime ChunkTimer::simulate(const StageChunk& chunk, bool from_idle) const {
  const bool mixed = (chunk.expert_layers > 0 && chunk.expert_layers < chunk.layers) ||
                     (chunk.wide_layers > 0 && chunk.wide_layers < chunk.layers);
  if (chunk.layers <= kSimulatedLayers || mixed || site_.job.recomputed_layers > 0)
    return simulate_layers(site_, chunk, from_idle);
  const auto with = [&](int layers) {
    StageChunk part = chunk;
    part.layers = layers, part.expert_layers = chunk.expert_layers > 0 ? layers : 0;
    part.wide_layers = chunk.wide_layers > 0 ? layers : 0;
    return simulate_layers(site_, part, from_idle);
  };
  const ChunkTime fewer = with(kSimulatedLayers - 2);
  ChunkTime time = with(kSimulatedLayers);
  const double extra = (chunk.layers - kSimulatedLayers) / 2.0;
  time.issue_s += extra * (time.issue_s - fewer.issue_s), time.flops += extra * (time.flops - fewer.flops);
  time.forward = extended(fewer.forward, time.forward, extra);
  time.backward = extended(fewer.backward, time.backward, extra);
  return time;
}

const ChunkTime& ChunkTimer::at(const StageChunk& chunk, bool from_idle) {
  const auto [known, is_new] = known_.try_emplace(
      {chunk.layers, chunk.expert_layers, chunk.wide_layers, chunk.embedding, chunk.head, from_idle});
  if (is_new) known->second = simulate(chunk, from_idle);
  return known->second;
}

}  // namespace foretrain
