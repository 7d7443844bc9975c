// Steps in the order of the framework's calls; parameters and gradients of sharded pieces around them.
#include "sim/strategy/parallel/pass_writer.hpp"

namespace foretrain {

namespace {

/// Whose activations are there at once where they are offloaded.
constexpr std::size_t kLayersOnGpu = 2;

}  // namespace

PassWriter::PassWriter(const TimingSite& site, const ChunkPieces& pieces, int passes)
    : site_(site), pieces_(pieces), pass_(site.device.host.launch_latency) {
  gathers_in_passes_ = site.job.shards_parameters() && !site.job.keeps_gathered();
  call_ = site.on_host_of_site(site.job.kernels().exchange);
  layer_call_ = site.on_host_of_site(site.job.kernels().layer);
  constexpr std::size_t kAround = 8;  // calls of a piece besides its steps
  std::size_t steps = 0;
  for (const ChunkPiece* piece : pieces.in_order())
    steps += piece->forward.size() + piece->backward.size() + kAround;
  pass_.reserve(2 * steps * static_cast<std::size_t>(passes));
}

PassGraph::Exchange PassWriter::sharded(RankGroup group, Exchange exchange, PassStream stream, double bytes) {
  const ExchangeTime& time = site_.exchanges.at(group, exchange, bytes);
  return {stream, PassCharge::data, seconds(time.seconds), time.gpu_share};
}

TaskId PassWriter::gather(const ChunkPiece& piece) {
  if (!gathers_in_passes_) return kNone;
  pass_.call(call_);
  const TaskId task = pass_.prefetch(
      sharded(RankGroup::shards, Exchange::all_gather, PassStream::gather, 2 * piece.parameters));
  written_.push_back({task, nullptr, "all-gather of parameters",
                      PassMessage{RankGroup::shards, Exchange::all_gather, 2 * piece.parameters}});
  return task;
}

TaskId PassWriter::scatter(const ChunkPiece& piece) {
  pass_.call(call_);
  const double bytes = site_.job.summed_bytes() * piece.parameters;
  TaskId last =
      pass_.exchange_behind(sharded(RankGroup::shards, Exchange::reduce_scatter, PassStream::scatter, bytes));
  written_.push_back({last, nullptr, "reduce-scatter of gradients",
                      PassMessage{RankGroup::shards, Exchange::reduce_scatter, bytes}});
  if (site_.job.shards() == site_.job.gradient_ranks()) return last;
  last = pass_.exchange_behind(
      sharded(RankGroup::replicas, Exchange::all_reduce, PassStream::scatter, bytes / site_.job.shards()));
  written_.push_back({last, nullptr, "all-reduce of shards",
                      PassMessage{RankGroup::replicas, Exchange::all_reduce, bytes / site_.job.shards()}});
  return last;
}

TaskId PassWriter::copied(const ChunkPiece& piece, PassStream stream, TaskId after) {
  if (site_.job.offload != Offload::activations || !piece.is_layer) return kNone;
  const Cluster& cluster = site_.cluster;
  const Route& way = cluster.host_route_in_node(cluster.gpu(0, 0), cluster.cpu_of_gpu(0, 0));
  const double taken = piece.program.saved_bytes / way.bandwidth.per_second;
  const TaskId task = pass_.copy(stream, seconds(taken) + way.latency, after);
  written_.push_back({task, nullptr, "copy of activations"});
  return task;
}

/// `again`: so many steps in front are those of forward once more, with places of their own.
void PassWriter::run(const std::vector<PricedStep>& steps, std::size_t again) {
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
    written_.push_back({tasks.back(), &step, {}});
    if (step.along != Along::none)
      written_.back().message = PassMessage{group_of(step.along), step.exchange, step.bytes};
    if (step.host_waits) pass_.host_waits_for(tasks.back());
  }
}

TaskId PassWriter::forward() {
  const std::vector<const ChunkPiece*>& all = pieces_.in_order();
  const bool ahead = site_.job.kernels().gathers_ahead;
  TaskId next = ahead ? gather(*all.front()) : kNone;
  std::vector<TaskId> away;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TaskId own = ahead ? next : gather(*all[i]);
    if (ahead && i + 1 < all.size()) next = gather(*all[i + 1]);
    if (own != kNone) pass_.kernel_waits_for(own);
    if (all[i]->is_layer) pass_.call(layer_call_);
    // The place of a layer's activations is the next but one's: theirs have to be away.
    if (away.size() >= kLayersOnGpu && all[i]->is_layer)
      pass_.kernel_waits_for(away[away.size() - kLayersOnGpu]);
    run(all[i]->forward, 0);
    if (const TaskId copy = copied(*all[i], PassStream::to_host, pass_.last()); copy != kNone)
      away.push_back(copy);
  }
  return pass_.mark();
}

/// The last piece's parameters are still there from forward. Gradients that are shared out are awaited at the
/// end (root_post_backward_final_callback of FSDP): no pass leaves a backlog to the next.
TaskId PassWriter::backward() {
  const std::vector<const ChunkPiece*>& all = pieces_.in_order();
  TaskId next = kNone, scattered = kNone, back = kNone;
  for (std::size_t i = all.size(); i-- > 0;) {
    const TaskId own = next;
    if (i > 0) next = gather(*all[i - 1]);
    if (own != kNone) pass_.kernel_waits_for(own);
    if (all[i]->is_layer) pass_.call(layer_call_);
    // The layers' before it come back while it runs.
    const TaskId here = back;
    back = i > 0 ? copied(*all[i - 1], PassStream::to_gpu, pass_.last()) : kNone;
    if (here != kNone) pass_.kernel_waits_for(here);
    run(all[i]->backward, all[i]->program.again.size());
    if (gathers_in_passes_) scattered = scatter(*all[i]);
  }
  if (scattered != kNone) pass_.kernel_waits_for(scattered);
  return pass_.mark();
}

}  // namespace foretrain
