// A pass is a small task graph: the host's calls in sequence, kernels on the compute stream, and each group's
// exchanges on a stream of its own. The timeline then tells what the compute stream waited for.
//
// The cost of a simulation grows with the layers of a chunk, but all layers of a kind behave alike once the
// first ones have run. At most kSimulatedLayers of them are simulated; the rest is extrapolated linearly.
#include "sim/strategy/parallel/chunk_timing.hpp"

#include <algorithm>

#include "sim/engine/executor.hpp"

namespace foretrain {

namespace {

/// Number of layers that are simulated one by one. Each further layer costs as much as the last ones.
constexpr int kSimulatedLayers = 6;
/// Passes before the measured one, until the host has run ahead as far as it can.
constexpr int kWarmPasses = 2;

/// Splits the time between two moments by following the compute stream's critical path backwards. Time that
/// no account covers is charged to the host.
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

/// Sums up the host's calls and the bytes of tensor ranks' reduce-scatters.
void add_launches(const std::vector<PricedStep>& steps, ChunkTime& time) {
  for (const PricedStep& priced : steps) {
    const LayerStep& step = *priced.step;
    time.issue_s += to_seconds(priced.host), time.launches += step.launches;
    if (step.along == ParallelAxis::tensor && step.exchange == Exchange::reduce_scatter)
      time.scattered_bytes += step.bytes;
  }
}

/// Adds the figures that need no simulation, and the share of weight gradients in the backward kernels.
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

/// Returns the largest fraction of the GPU that an exchange with experts takes.
double expert_share(const ChunkPieces& pieces) {
  double share = 0;
  for (const ChunkPiece* piece : pieces.in_order())
    for (const PricedStep& priced : piece->forward)
      if (priced.step->along == ParallelAxis::expert) share = std::max(share, priced.share);
  return share;
}

/// Simulates all layers one by one. The last forward and backward pass count.
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

/// Extrapolates a pass linearly from two simulations. Every part is extended by itself and clamped at zero;
/// then all parts are scaled so that they sum to the extended total.
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

/// If the host runs ahead, passes follow each other until it has reached its lead.
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
  // Exchanges have durations and no flows here, so the rate of links has no effect.
  timeline = run(writer.pass().graph(), [](LinkId) { return ByteRate{1e18}; });
}

ChunkTimer::ChunkTimer(const TimingSite& site) : site_(site) {}

/// Layers with experts come after those without. If a chunk has both, those with experts are repeated and the
/// others are simulated in full. Chunks with layers of several kinds in one run cannot be extrapolated and
/// are simulated whole.
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
