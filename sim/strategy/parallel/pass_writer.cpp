// Steps in the order of the framework's calls, with the gathers and reductions of sharded pieces around them.
#include "sim/strategy/parallel/pass_writer.hpp"

#include <algorithm>

namespace foretrain {

namespace {

/// Number of layers whose activations are on the GPU at the same time, if they are offloaded.
constexpr std::size_t kLayersOnGpu = 2;

}  // namespace

PassWriter::PassWriter(const TimingSite& site, const ChunkPieces& pieces, int passes)
    : site_(site), pieces_(pieces), pass_(site.device.host.launch_latency) {
  gathers_in_passes_ = site.job.shards_parameters() && !site.job.keeps_gathered();
  call_ = site.on_host_of_site(site.job.kernels().exchange);
  layer_call_ = site.on_host_of_site(site.job.kernels().layer);
  // Calls of a piece besides its steps.
  constexpr std::size_t kAround = 8;
  std::size_t steps = 0;
  for (const ChunkPiece* piece : pieces.in_order())
    steps += piece->forward.size() + piece->backward.size() + kAround;
  pass_.reserve(2 * steps * static_cast<std::size_t>(passes));
}

PassGraph::Exchange PassWriter::sharded(RankGroup group, Exchange exchange, PassStream stream, double bytes) {
  const ExchangeTime& time = site_.exchanges.at(group, exchange, bytes);
  return {stream, PassCharge::data, seconds(time.seconds), time.gpu_share};
}

TaskId PassWriter::gather(RankGroup group, double parameters) {
  pass_.call(call_);
  // Parameters are gathered in 16 bits.
  const double bytes = 2 * parameters;
  const TaskId task = pass_.prefetch(sharded(group, Exchange::all_gather, PassStream::gather, bytes));
  written_.push_back(
      {task, nullptr, "all-gather of parameters", PassMessage{group, Exchange::all_gather, bytes}});
  return task;
}

/// Experts are cut over fewer ranks than the rest. One stream carries both gathers, so the last one ends
/// last.
TaskId PassWriter::gather(const ChunkPiece& piece, Order order) {
  if (!gathers_in_passes_) return kNone;
  const bool both = cuts_experts(piece);
  if (both && order == Order::experts_first) gather(RankGroup::expert_gradients, piece.experts);
  const TaskId task = gather(RankGroup::shards, piece.gathered);
  return both && order == Order::experts_last ? gather(RankGroup::expert_gradients, piece.experts) : task;
}

TaskId PassWriter::reduce(RankGroup group, Exchange exchange, double bytes, std::string_view what) {
  const TaskId task = pass_.exchange_behind(sharded(group, exchange, PassStream::scatter, bytes));
  written_.push_back({task, nullptr, what, PassMessage{group, exchange, bytes}});
  return task;
}

/// With HSDP the shards of a group are then summed over the replicas.
TaskId PassWriter::scatter(const ChunkPiece& piece) {
  const double width = site_.job.summed_bytes(), bytes = width * piece.parameters;
  if (cuts_experts(piece)) {
    pass_.call(call_);
    reduce(RankGroup::expert_gradients, Exchange::reduce_scatter, width * piece.experts,
           "reduce-scatter of experts' gradients");
  }
  pass_.call(call_);
  const TaskId last =
      reduce(RankGroup::shards, Exchange::reduce_scatter, bytes, "reduce-scatter of gradients");
  if (site_.job.shards() == site_.job.gradient_ranks()) return last;
  return reduce(RankGroup::replicas, Exchange::all_reduce, bytes / site_.job.shards(),
                "all-reduce of shards");
}

/// The first layers of a chunk are offloaded. A copy takes the bytes of the layer over the rate of the GPU's
/// link to the host.
TaskId PassWriter::copied(std::size_t place, PassStream stream, TaskId after) {
  const std::vector<const ChunkPiece*>& all = pieces_.in_order();
  const ChunkPiece& piece = *all[place];
  if (site_.job.offload != Offload::activations || !piece.is_layer) return kNone;
  const auto is_layer = [](const ChunkPiece* other) { return other->is_layer; };
  const auto before = std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place), is_layer);
  const auto layers = std::ranges::count_if(all, is_layer);
  if (before >= site_.job.offloaded_of(static_cast<int>(layers))) return kNone;
  const Cluster& cluster = site_.cluster;
  const Route& way = cluster.host_route_in_node(cluster.gpu(0, 0), cluster.cpu_of_gpu(0, 0));
  const double taken = piece.program.saved_bytes / way.bandwidth.per_second;
  const TaskId task = pass_.copy(stream, seconds(taken) + way.latency, after);
  written_.push_back({task, nullptr, "copy of activations"});
  return task;
}

/// Issues the steps of a piece. The first `again` steps repeat forward and have indices of their own, so
/// `waits_for` counts from the start of its part.
void PassWriter::run(const std::vector<PricedStep>& steps, std::size_t again) {
  std::vector<TaskId> tasks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LayerStep& step = *steps[i].step;
    pass_.call(steps[i].host);
    const std::size_t first = i < again ? 0 : again;
    const TaskId waits_for =
        step.waits_for >= 0 ? tasks[first + static_cast<std::size_t>(step.waits_for)] : kNone;
    if (step.along == ParallelAxis::none) {
      tasks.push_back(pass_.kernel(steps[i].gpu, waits_for));
    } else {
      const PassGraph::Exchange exchange{stream_of(step.along), charge_of(step.along), steps[i].gpu,
                                         steps[i].share};
      if (waits_for != kNone) pass_.kernel_waits_for(waits_for);
      tasks.push_back(step.behind ? pass_.exchange_behind(exchange) : pass_.exchange(exchange));
    }
    written_.push_back({tasks.back(), &step, {}});
    if (step.along != ParallelAxis::none)
      written_.back().message = PassMessage{group_of(step.along), step.exchange, step.bytes};
    if (step.host_waits) pass_.host_waits_for(tasks.back());
  }
}

/// Gathers are issued one piece ahead if the framework does so, else before their own piece.
TaskId PassWriter::forward() {
  const std::vector<const ChunkPiece*>& all = pieces_.in_order();
  const bool ahead = site_.job.gathers_ahead();
  TaskId next = ahead ? gather(*all.front(), Order::experts_last) : kNone;
  std::vector<TaskId> away;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TaskId own = ahead && !all[i]->is_loss ? next : gather(*all[i], Order::experts_last);
    if (ahead && i + 1 < all.size() && !all[i + 1]->is_loss) next = gather(*all[i + 1], Order::experts_last);
    if (own != kNone) pass_.kernel_waits_for(own);
    if (all[i]->is_layer) pass_.call(layer_call_);
    // A layer's activations reuse the memory of the layer two before, whose copy must have ended.
    if (away.size() >= kLayersOnGpu && all[i]->is_layer)
      pass_.kernel_waits_for(away[away.size() - kLayersOnGpu]);
    run(all[i]->forward, 0);
    if (const TaskId copy = copied(i, PassStream::to_host, pass_.last()); copy != kNone) away.push_back(copy);
  }
  return pass_.mark();
}

/// Issues a backward pass. The last piece's parameters are still there from forward. Reductions of gradients
/// are awaited at the end (root_post_backward_final_callback of FSDP), so no pass leaves a backlog to the
/// next.
TaskId PassWriter::backward() {
  const std::vector<const ChunkPiece*>& all = pieces_.in_order();
  TaskId next = kNone, scattered = kNone, back = kNone;
  for (std::size_t i = all.size(); i-- > 0;) {
    const bool is_kept = i + 1 == all.size();
    const TaskId own = next == kNone && !is_kept ? gather(*all[i], Order::experts_first) : next;
    next = i > 0 && !all[i]->is_loss ? gather(*all[i - 1], Order::experts_first) : kNone;
    if (own != kNone) pass_.kernel_waits_for(own);
    if (all[i]->is_layer) pass_.call(layer_call_);
    // The activations of the layer before it come back while this layer runs.
    const TaskId here = back;
    back = i > 0 ? copied(i - 1, PassStream::to_gpu, pass_.last()) : kNone;
    if (here != kNone) pass_.kernel_waits_for(here);
    run(all[i]->backward, all[i]->program.again.size());
    if (gathers_in_passes_) scattered = scatter(*all[i]);
  }
  if (scattered != kNone) pass_.kernel_waits_for(scattered);
  return pass_.mark();
}

}  // namespace foretrain
