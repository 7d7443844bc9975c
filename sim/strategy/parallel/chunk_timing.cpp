// A pass is a small task graph: the host's calls one after the other, kernels on the compute stream, each
// group's exchanges on a stream of its own. What the compute stream waited for is read from the timeline.
#include "sim/strategy/parallel/chunk_timing.hpp"

#include <algorithm>

#include "sim/engine/executor.hpp"

namespace foretrain {

namespace {

/// Layers that are simulated one by one; beyond them each costs what the last two did.
constexpr int kSimulatedLayers = 6;
/// Passes until the host has run ahead as far as it will.
constexpr int kWarmPasses = 2;

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

void add_launches(const std::vector<PricedStep>& steps, ChunkTime& time) {
  for (const PricedStep& priced : steps) {
    const LayerStep& step = *priced.step;
    time.issue_s += to_seconds(priced.host), time.launches += step.launches;
    if (step.along == ParallelAxis::tensor && step.exchange == Exchange::reduce_scatter)
      time.scattered_bytes += step.bytes;
  }
}

void add_issue_and_flops(const ChunkPieces& pieces, ChunkTime& time) {
  double backward = 0, weights = 0;
  for (const ChunkPiece* piece : pieces.in_order()) {
    time.flops += flops_of(piece->program.forward) + flops_of(piece->program.backward);
    add_launches(piece->forward, time), add_launches(piece->backward, time);
    for (const PricedStep& priced : piece->backward) {
      backward += to_seconds(priced.gpu);
      if (priced.step->is_weight_gradient) weights += to_seconds(priced.gpu);
    }
  }
  time.weight_share = backward > 0 ? weights / backward : 0;
}

/// Of the GPU, while tokens are sent to experts.
double expert_share(const ChunkPieces& pieces) {
  double share = 0;
  for (const ChunkPiece* piece : pieces.in_order())
    for (const PricedStep& priced : piece->forward)
      if (priced.step->along == ParallelAxis::expert) share = std::max(share, priced.share);
  return share;
}

/// All layers one by one; the last passes count.
ChunkTime simulate_layers(const TimingSite& site, const StageChunk& chunk, bool from_idle) {
  const ChunkPieces pieces(site, chunk);
  ChunkTime time;
  if (pieces.in_order().empty()) return time;
  add_issue_and_flops(pieces, time);
  const SimulatedPasses ran(site, pieces, from_idle);
  const auto at = [&](TaskId task) { return ran.timeline.end_of(task); };
  const PassGraph& pass = ran.writer.pass();
  time.forward = pass_between(pass, ran.timeline, at(ran.begin), at(ran.middle), ran.begin);
  time.backward = pass_between(pass, ran.timeline, at(ran.middle), at(ran.end), ran.middle);
  time.expert_share = expert_share(pieces);
  if (site.job.overlaps_experts) hide_expert_exchanges(time, time.expert_share);
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

/// Where the host runs ahead, passes follow each other until it has.
SimulatedPasses::SimulatedPasses(const TimingSite& site, const ChunkPieces& pieces, bool from_idle)
    : writer(site, pieces, from_idle ? 1 : kWarmPasses + 1) {
  begin = writer.pass().mark();
  const int passes = from_idle ? 1 : kWarmPasses + 1;
  for (int i = 0; i < passes; ++i) {
    if (end != kNone) begin = end;
    middle = writer.forward();
    if (from_idle) writer.pass().host_waits_for(middle);
    end = writer.backward();
  }
  timeline = run(writer.pass().graph(), [](LinkId) { return ByteRate{1e18}; });
}

ChunkTimer::ChunkTimer(const TimingSite& site) : site_(site) {}

/// Layers with experts come behind those without; where a chunk has both, the former are what is repeated.
ChunkTime ChunkTimer::simulate(const StageChunk& chunk, bool from_idle) const {
  const int repeated = chunk.expert_layers > 0 ? chunk.expert_layers : chunk.layers;
  const int once = chunk.layers - repeated;
  const bool is_partly_wide = chunk.wide_layers > 0 && chunk.wide_layers < chunk.layers;
  if (is_partly_wide || repeated <= kSimulatedLayers || once > kSimulatedLayers ||
      site_.job.recomputes_some() || site_.job.offloaded_layers > 0)
    return simulate_layers(site_, chunk, from_idle);
  const auto with = [&](int layers) {
    StageChunk part = chunk;
    part.layers = once + layers, part.expert_layers = chunk.expert_layers > 0 ? layers : 0;
    part.wide_layers = chunk.wide_layers > 0 ? part.layers : 0;
    return simulate_layers(site_, part, from_idle);
  };
  const ChunkTime fewer = with(kSimulatedLayers - 2);
  ChunkTime time = with(kSimulatedLayers);
  const double extra = (repeated - kSimulatedLayers) / 2.0;
  for (double ChunkTime::*sum :
       {&ChunkTime::issue_s, &ChunkTime::flops, &ChunkTime::launches, &ChunkTime::scattered_bytes})
    time.*sum += extra * (time.*sum - fewer.*sum);
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
