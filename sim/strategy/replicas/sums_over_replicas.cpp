// Sums over replicas. Copies that run at the same time are one task with several flows. Sources:
// tensorflow/core/nccl/nccl_manager.cc, python/distribute/cross_device_utils.py
// (aggregate_gradients_using_hierarchical_copy), cross_device_ops.py (ReductionToOneDevice).
//
// Within one process sums need no agreement between ranks: the executor starts them when the last replica's
// gradient exists. Packing puts gradients into few messages at the price of two copies.
#include "sim/strategy/replicas/sums_over_replicas.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "sim/cluster/routing.hpp"
#include "sim/collective/transport_run.hpp"

namespace foretrain {

namespace {

/// Concurrent copies between local GPUs, as one pattern.
struct CopyRound {
  PatternId pattern = kNone;
  Time latency{};
  int copies = 0;
};

/// Copies do not fill a link; the weight accounts for the part that stays unused.
CopyRound round_of(Process& process, const std::vector<Route>& routes) {
  CopyRound round;
  std::vector<PatternFlow> flows;
  for (const Route& route : routes) {
    flows.push_back({route.links, 1 / peer_copy_share(process.request().cluster, route)});
    round.latency = std::max(round.latency, route.latency);
  }
  round.copies = static_cast<int>(flows.size());
  round.pattern = process.graph().add_pattern(std::move(flows));
  return round;
}

/// Source and target of copies, as numbers of local GPUs.
using Pairs = std::vector<std::pair<int, int>>;

CopyRound between_gpus(Process& process, const Pairs& pairs) {
  const Cluster& cluster = process.request().cluster;
  const std::vector<GpuPlace>& ranks = process.request().placement.ranks;
  const auto gpu = [&](int i) {
    const GpuPlace place = ranks[static_cast<std::size_t>(i)];
    return cluster.gpu(place.node, place.gpu);
  };
  std::vector<Route> routes;
  for (const auto& [from, to] : pairs) routes.push_back(cluster.route(gpu(from), gpu(to)));
  return round_of(process, routes);
}

/// Streams of copies and sums: one queue for each direction of the copies and one for additions.
class CopyStreams {
 public:
  /// `issuer` makes the calls of the copies. If each GPU has threads of its own, the calls are divided among
  /// them.
  CopyStreams(Process& process, const HostThread& issuer)
      : process_(process),
        issuer_(issuer),
        issuers_(issuer.beside ? issuer.turns : 1),
        to_mains_(process.graph().add_queue("copies to the summing GPU")),
        additions_(process.graph().add_queue("sums of gradients")),
        from_mains_(process.graph().add_queue("copies of the sum")),
        gather_label_(process.graph().label("copies to the summing GPU")),
        sum_label_(process.graph().label("sum of gradients")),
        scatter_label_(process.graph().label("copies of the sum")) {}

  TaskId gather(const CopyRound& round, Bytes each, TaskId after) {
    return copy(round, to_mains_, gather_label_, each, after);
  }
  TaskId scatter(const CopyRound& round, Bytes each, TaskId after) {
    return copy(round, from_mains_, scatter_label_, each, after);
  }

  /// Adds a kernel that sums `tensors` tensors of `each` bytes.
  TaskId add(int tensors, Bytes each, TaskId after) {
    const HostCalibration& costs = process_.host_costs();
    Task task;
    task.kind = TaskKind::kernel;
    task.account = static_cast<std::uint8_t>(Account::exposed_communication);
    task.queue = additions_;
    task.duration = memory_kernel_time(each * (tensors + 1), process_.gpu(), process_.kernels());
    task.label = sum_label_;
    return process_.graph().add(
        task, {{after, process_.on_this_host(costs.node + costs.launch) + costs.launch_latency}});
  }

 private:
  /// Adds the copies of one round. Each copy is a send and a receive: two operators without kernel and a call
  /// of the driver. The work after it is queued to the executor.
  TaskId copy(const CopyRound& round, QueueId stream, LabelId label, Bytes each, TaskId after) {
    const HostCalibration& costs = process_.host_costs();
    Task task;
    task.kind = TaskKind::copy;
    task.account = static_cast<std::uint8_t>(Account::exposed_communication);
    task.queue = stream;
    task.duration = round.latency;
    task.label = label;
    task.pattern = round.pattern;
    task.traffic = each;
    const Time calls = process_.on_this_host(costs.bare_node * 2 + costs.copy_call + costs.hand_over_node);
    const TaskId called = process_.host_for(issuer_, calls * round.copies / issuers_, Account::host);
    return process_.graph().add(task, {{after, calls + costs.launch_latency}, {called}});
  }

  Process& process_;
  HostThread issuer_;
  int issuers_;
  QueueId to_mains_, additions_, from_mains_;
  LabelId gather_label_, sum_label_, scatter_label_;
};

/// The rounds of one message of the hierarchical copy. The result is summed on `main`; `other` is the main
/// GPU of the other half.
struct HierarchicalRounds {
  CopyRound to_mains, across, back, from_mains;
  // GPUs of the half with `main`, including it.
  int group = 1;
};

HierarchicalRounds hierarchical_rounds(Process& process, int gpus, int main) {
  const int half = gpus / 2;
  const int other = (main + half) % (2 * half);
  Pairs in, out;
  int group = 0;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const int own_main = (gpu < half) == (main < half) ? main : other;
    if (own_main == main) ++group;
    if (gpu == own_main) continue;
    in.emplace_back(gpu, own_main);
    out.emplace_back(own_main, gpu);
  }
  return {between_gpus(process, in), between_gpus(process, {{other, main}}),
          between_gpus(process, {{main, other}}), between_gpus(process, out), group};
}

}  // namespace

/// The label has the number of the message, so that traces tell packs apart.
SumOverReplicas sum_by_nccl(Process& process, const ReplicaThreads& threads) {
  const HostThread launcher = process.add_thread("NCCL launch thread").labelled(threads.autograd.label);
  return [&process, threads, launcher](Bytes size, std::size_t message) {
    process.host(threads.autograd, process.host_costs().node, Account::host);
    process.hand_over(threads.autograd, launcher);
    process.host(launcher, process.calls().grouped_launch * (threads.gpus - 1), Account::host);
    const LabelId label = process.graph().label("all_reduce pack " + std::to_string(message));
    return process.collective(launcher, CollectiveOp::all_reduce, size, label);
  };
}

SumOverReplicas sum_by_hierarchical_copy(Process& process, const ReplicaThreads& threads) {
  const auto streams = std::make_shared<CopyStreams>(process, threads.autograd);
  const auto rounds = std::make_shared<std::map<int, HierarchicalRounds>>();
  return [&process, gpus = threads.gpus, streams, rounds](Bytes size, std::size_t message) {
    // Rounds are built once for each main GPU.
    const int main = static_cast<int>(message % static_cast<std::size_t>(gpus / 2 * 2));
    auto known = rounds->find(main);
    if (known == rounds->end()) known = rounds->emplace(main, hierarchical_rounds(process, gpus, main)).first;
    const HierarchicalRounds& round = known->second;
    TaskId done = process.last_kernel();
    // Sum in each half, across the halves, then back to all. With two GPUs the halves have one GPU each.
    if (round.to_mains.copies > 0) done = streams->gather(round.to_mains, size, done);
    done = streams->add(round.group, size, done);
    done = streams->gather(round.across, size, done);
    done = streams->add(2, size, done);
    done = streams->scatter(round.back, size, done);
    return round.from_mains.copies > 0 ? streams->scatter(round.from_mains, size, done) : done;
  };
}

/// Each summing GPU has streams of its own, so messages on different GPUs overlap.
SumOverReplicas sum_by_copies(Process& process, const ReplicaThreads& threads, int mains) {
  struct Place {
    CopyStreams streams;
    CopyRound gather, scatter;
  };
  const auto places = std::make_shared<std::vector<Place>>();
  for (int main = 0; main < mains; ++main) {
    Pairs in, out;
    for (int gpu = 0; gpu < threads.gpus; ++gpu) {
      if (gpu != main) in.emplace_back(gpu, main), out.emplace_back(main, gpu);
    }
    places->push_back(
        {CopyStreams(process, threads.autograd), between_gpus(process, in), between_gpus(process, out)});
  }
  return [&process, gpus = threads.gpus, places](Bytes size, std::size_t message) {
    Place& place = (*places)[message % places->size()];
    const TaskId gathered = place.streams.gather(place.gather, size, process.last_kernel());
    return place.streams.scatter(place.scatter, size, place.streams.add(gpus, size, gathered));
  };
}

}  // namespace foretrain
