// Strategy `multi_worker_mirrored`: CollectiveAllReduce with packs by size in the reverse order of
// registration. With bytes_per_pack the first packs can leave while backward runs.
#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/replicas/mirrored.hpp"
#include "sim/strategy/replicas/replica_loop.hpp"
#include "sim/strategy/replicas/replica_options.hpp"
#include "sim/strategy/replicas/sums_over_replicas.hpp"

namespace foretrain {

namespace {

/// Makes the exchange from the options.
GradientExchange multi_worker_exchange(Process& process, const ReplicaThreads& threads) {
  const Bytes limit = process.request().options<MultiWorkerMirroredOptions>().bytes_per_pack;
  const Workload& workload = process.request().workload;
  std::vector<GradientPack> packs = packs_by_size(*workload.model, limit, gradient_element_bytes(workload));
  const std::string why =
      packs.size() == 1
          ? "the concatenation needs every gradient, so nothing is sent before backward has ended"
          : fmt::format("each closed beyond {}, last layers first", to_string(limit));
  process.decisions().add("gradients",
                          fmt::format("{} pack{}", packs.size(), packs.size() == 1 ? " of all" : "s"), why);
  const bool ring = process.request().options<ReplicaOptions>().cross_device_ops == CrossDeviceOps::ring;
  return {process, threads, std::move(packs),
          ring ? sum_by_grpc_ring(process, threads) : sum_by_nccl(process, threads)};
}

/// The choice of CommunicationImplementation, which has no copies between GPUs.
KnobChoice implementations() {
  return {{"nccl", "ring"}, [](StrategyOptions& options, std::size_t i) {
            options.edit<ReplicaOptions>().cross_device_ops =
                i == 0 ? CrossDeviceOps::nccl : CrossDeviceOps::ring;
          }};
}

}  // namespace

Plan plan_multi_worker_mirrored(const PlanRequest& request) {
  return plan_replicas(request, multi_worker_exchange);
}

StrategyEntry multi_worker_mirrored_strategy() {
  const Knob knobs[] = {
      {"cross_device_ops", implementations(), "\"ring\"", "nccl",
       "how gradients are summed: NCCL, or TensorFlow's ring over gRPC"},
      {"bytes_per_pack", option<&MultiWorkerMirroredOptions::bytes_per_pack>(), "\"50 MiB\"",
       "0, which is one pack of all", "a pack of gradients is closed when it has grown beyond this"},
      private_threads_knob(),
  };
  return {.name = "multi_worker_mirrored",
          .summary = "TensorFlow MultiWorkerMirroredStrategy: one process per node, gradients in packs",
          .plan = plan_multi_worker_mirrored,
          .processes = Processes::per_node,
          .framework = FrameworkKind::tensorflow,
          .knobs = {std::begin(knobs), std::end(knobs)}};
}

}  // namespace foretrain
