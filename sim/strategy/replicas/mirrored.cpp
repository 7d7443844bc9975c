// Strategy `mirrored`: the packs by cross_device_ops and num_packs, and the way they are summed.
#include "sim/strategy/replicas/mirrored.hpp"

#include <array>

#include <fmt/format.h>

#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/replicas/replica_loop.hpp"
#include "sim/strategy/replicas/replica_options.hpp"
#include "sim/strategy/replicas/sums_over_replicas.hpp"

namespace foretrain {

namespace {

void explain_packs(Process& process, const std::vector<GradientPack>& packs, int num_packs) {
  if (packs.size() > 1) {
    process.decisions().add("gradients", fmt::format("{} sums, one for each tensor", packs.size()),
                            "each is sent when it is there, beside the rest of backward");
    return;
  }
  process.decisions().add(
      "gradients",
      num_packs == 1 ? "one pack of all" : fmt::format("one tensor of all, sent in {} packs", num_packs),
      "the concatenation needs every gradient, so nothing is sent before backward has ended");
}

/// Makes the exchange from the options. Reductions by copies sum each tensor by itself, so num_packs has no
/// effect on them.
GradientExchange mirrored_exchange(Process& process, const ReplicaThreads& threads) {
  const CrossDeviceOps ops = process.request().options<ReplicaOptions>().cross_device_ops;
  const Compression compression = process.request().options<GradientOptions>().compression;
  const int num_packs = process.request().options<MirroredOptions>().num_packs;
  const Workload& workload = process.request().workload;
  const bool by_tensor = ops >= CrossDeviceOps::reduction_to_one_device;
  const std::int64_t element_bytes = gradient_element_bytes(workload);
  const bool halves = compression == Compression::fp16 && element_bytes == 4;
  std::vector<GradientPack> packs =
      packs_by_number(*workload.model, by_tensor ? 0 : num_packs, halves ? 2 : element_bytes);
  explain_packs(process, packs, num_packs);
  switch (ops) {
    case CrossDeviceOps::hierarchical_copy:
      return {process, threads, std::move(packs), sum_by_hierarchical_copy(process, threads), halves};
    case CrossDeviceOps::reduction_to_one_device:
      return {process, threads, std::move(packs), sum_by_copies(process, threads, 1), halves};
    case CrossDeviceOps::reduction_in_turn:
      return {process, threads, std::move(packs), sum_by_copies(process, threads, threads.gpus), halves};
    default:
      return {process, threads, std::move(packs), sum_by_nccl(process, threads), halves};
  }
}

/// The choice lists the implementations that MirroredStrategy has.
KnobChoice cross_device_ops() {
  return {{"nccl", "hierarchical_copy", "reduction_to_one_device", "reduction_in_turn"},
          [](StrategyOptions& options, std::size_t i) {
            constexpr std::array values{CrossDeviceOps::nccl, CrossDeviceOps::hierarchical_copy,
                                        CrossDeviceOps::reduction_to_one_device,
                                        CrossDeviceOps::reduction_in_turn};
            options.edit<ReplicaOptions>().cross_device_ops = values[i];
          }};
}

}  // namespace

Plan plan_mirrored(const PlanRequest& request) { return plan_replicas(request, mirrored_exchange); }

StrategyEntry mirrored_strategy() {
  const Knob knobs[] = {
      {"cross_device_ops", cross_device_ops(), "\"hierarchical_copy\"", "nccl",
       "how gradients are summed: NcclAllReduce, HierarchicalCopyAllReduce, ReductionToOneDevice, or by "
       "copies on each GPU in turn"},
      {"num_packs", option<&MirroredOptions::num_packs>(), "0", "1",
       "all gradients in one tensor, sent in so many parts; 0: every gradient by itself", 0, 1024},
      {"compression", choice_of<&GradientOptions::compression>({"none", "fp16"}), "\"fp16\"", "none",
       "gradients in 16 bit on the wire (tf_cnn_benchmarks' compact_gradient_transfer)"},
      private_threads_knob(),
  };
  return {.name = "mirrored",
          .summary = "TensorFlow MirroredStrategy: one process, gradients in one pack after backward",
          .plan = plan_mirrored,
          .processes = Processes::one,
          .framework = FrameworkKind::tensorflow,
          .knobs = {std::begin(knobs), std::end(knobs)}};
}

}  // namespace foretrain
