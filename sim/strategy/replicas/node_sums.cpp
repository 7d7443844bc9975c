// Sums by copies within a node.
//
// A copy to or from all GPUs is one task with a flow per GPU. Copies of gradients leave a GPU one after the
// other, as do copies of variables from their place. Both directions run concurrently, because frameworks
// have a stream for each.
#include "sim/strategy/replicas/node_sums.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/routing.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/servers/server_network.hpp"

namespace foretrain {

namespace {
/// Number of the place in host memory, where others have the number of a GPU.
constexpr int kHost = -1;
}  // namespace

NodeSums::NodeSums(Process& process, std::vector<int> gpu_of)
    : process_(process),
      gpu_of_(std::move(gpu_of)),
      gradients_out_(process.graph().add_pool("copies of gradients", 1)) {
  const std::vector<GpuPlace>& ranks = process.request().placement.ranks;
  for (const GpuPlace& rank : ranks) {
    if (rank.node == ranks.front().node) places_.push_back(rank);
  }
  if (!on_gpu()) {
    homes_.push_back(make_place(kHost));
  } else {
    for (int gpu = 0; gpu < gpus(); ++gpu) homes_.push_back(make_place(gpu));
  }
}

/// Returns the route between two places. Host memory is that of the first GPU's CPU, because the first writer
/// of a variable decides where its pages are.
Route NodeSums::route(int from_gpu, int to_gpu) const {
  const Cluster& cluster = process_.request().cluster;
  const GpuPlace first = places_.front();
  const auto vertex = [&](int gpu) {
    return gpu == kHost ? cluster.cpu_of_gpu(first.node, first.gpu)
                        : cluster.gpu(first.node, places_[static_cast<std::size_t>(gpu)].gpu);
  };
  return cluster.route(vertex(from_gpu), vertex(to_gpu));
}

/// Without flows there is no pattern; such a copy takes no time.
PatternId NodeSums::pattern(std::vector<PatternFlow> flows) {
  return flows.empty() ? kNone : process_.graph().add_pattern(std::move(flows));
}

/// Builds the copies to and from a place. Copies between GPUs do not fill the link, hence the weight.
NodeSums::Place NodeSums::make_place(int gpu) {
  Place place;
  std::vector<PatternFlow> in, out;
  for (int other = 0; other < gpus(); ++other) {
    if (other == gpu) continue;
    const Route there = route(other, gpu), back = route(gpu, other);
    latency_ = std::max({latency_, there.latency, back.latency});
    in.push_back({there.links, gpu == kHost ? 1 : 1 / peer_copy_share(process_.request().cluster, there)});
    out.push_back({back.links, gpu == kHost ? 1 : 1 / peer_copy_share(process_.request().cluster, back)});
  }
  const std::string name = gpu == kHost ? "host memory" : fmt::format("GPU {}", gpu);
  place.gather = pattern(std::move(in)), place.scatter = pattern(std::move(out));
  if (gpu != kHost)
    place.to_host = pattern({{route(gpu, kHost).links, 1}}),
    place.to_gpu = pattern({{route(kHost, gpu).links, 1}});
  place.out = process_.graph().add_pool("copies from " + name, 1);
  place.compute = process_.graph().add_pool("sums in " + name, 1);
  return place;
}

const NodeSums::Place& NodeSums::place_of(std::uint32_t parameter) const {
  return on_gpu() ? homes_[static_cast<std::size_t>(gpu_of_[parameter])] : homes_.front();
}

/// Adds one copy after `after`; a copy between a place and itself takes no time.
TaskId NodeSums::copy(QueueId queue, PatternId pattern, PoolId pool, Bytes bytes, LabelId label,
                      std::span<const Dependency> after) {
  Task task;
  task.kind = TaskKind::copy;
  task.account = static_cast<std::uint8_t>(Account::exposed_communication);
  task.queue = queue;
  task.label = label;
  if (pattern != kNone) {
    task.pool = pool;
    task.duration = latency_;
    task.pattern = pattern;
    task.traffic = bytes;
  }
  return process_.graph().add(task, after);
}

TaskId NodeSums::gather(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label,
                        std::span<const Dependency> after) {
  return copy(queue, place_of(parameter).gather, gradients_out_, bytes, label, after);
}

TaskId NodeSums::scatter(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label,
                         std::span<const Dependency> after) {
  const Place& place = place_of(parameter);
  return copy(queue, place.scatter, place.out, bytes, label, after);
}

TaskId NodeSums::to_host(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label) {
  const Place& place = place_of(parameter);
  return copy(queue, place.to_host, place.out, bytes, label, {});
}

TaskId NodeSums::to_gpu(QueueId queue, std::uint32_t parameter, Bytes bytes, LabelId label) {
  return copy(queue, place_of(parameter).to_gpu, kNone, bytes, label, {});
}

/// A GPU adds all gradients in one kernel; a CPU adds one to another.
TaskId NodeSums::add(QueueId queue, std::uint32_t parameter, Bytes more, LabelId label, Account account) {
  const PlanRequest& request = process_.request();
  const std::int64_t tensor =
      gradient_element_bytes(request.workload) * request.workload.model->parameters[parameter].elements;
  Task task;
  task.kind = on_gpu() ? TaskKind::kernel : TaskKind::host;
  task.account = static_cast<std::uint8_t>(account);
  task.queue = queue;
  task.pool = place_of(parameter).compute;
  task.label = label;
  if (on_gpu()) {
    const std::int64_t passes = gpus() == 1 ? 0 : gpus() + 1;
    task.duration = memory_kernel_time(Bytes{passes * tensor} + more, process_.gpu(), process_.kernels());
  } else {
    task.duration = (Bytes{kSumPasses * (gpus() - 1) * tensor} + more) / host_sum_rate(process_.host_cpu());
  }
  return process_.graph().add(task);
}

}  // namespace foretrain
