// Options of the strategies under the frameworks' own names, and the tables by which scenario files and
// reference pages know them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// What gradients are turned into on the wire.
enum class Compression : std::uint8_t { none, fp16, bf16, powersgd };
/// The library that carries DDP's collectives: NCCL between GPUs, or gloo over TCP between CPUs.
enum class Backend : std::uint8_t { nccl, gloo };
/// How tf.distribute adds up gradients of the GPUs.
enum class CrossDeviceOps : std::uint8_t {
  nccl,
  hierarchical_copy,
  reduction_to_one_device,
  ring,
  reduction_in_turn
};
/// What FSDP shards: everything, gradients and optimizer state, everything inside a node, nothing.
enum class Sharding : std::uint8_t { full_shard, shard_grad_op, hybrid_shard, no_shard };
/// When FSDP gathers the next unit in backward.
enum class BackwardPrefetch : std::uint8_t { none, pre, post };
/// Where ZeRO keeps the optimizer's state.
enum class Offload : std::uint8_t { none, cpu };

/// Defaults are the frameworks' own (docs/reference/scenario.md); empty ones depend on the framework's
/// version or the strategy's stage.
struct StrategyKnobs {
  int accumulation = 1;                         ///< micro-steps per optimizer step
  Compression compression = Compression::none;  ///< ddp, horovod, byteps

  Bytes bucket_cap{25 << 20};            ///< ddp
  Bytes first_bucket{1 << 20};           ///< ddp
  bool find_unused_parameters = false;   ///< ddp
  bool static_graph = false;             ///< ddp
  bool gradient_as_bucket_view = false;  ///< ddp
  bool broadcast_buffers = true;         ///< ddp
  bool wrap_one_gpu = false;             ///< ddp: also wrap the model when there is one process
  bool sync_batch_norm = false;          ///< ddp
  int powersgd_rank = 1;                 ///< ddp: matrix_approximation_rank
  double powersgd_min_rate = 2;          ///< ddp: min_compression_rate
  Backend backend = Backend::nccl;       ///< ddp

  std::optional<FrameworkVersion> horovod_version{};  ///< horovod: before 0.21 other defaults
  std::optional<Bytes> fusion_threshold{};            ///< horovod
  std::optional<Time> cycle_time{};                   ///< horovod
  int cache_capacity = 1024;                          ///< horovod: tensors; 0 negotiates every one anew
  bool sparse_as_dense =
      false;  ///< horovod in TensorFlow: gradients of looked-up tables are reduced as dense tensors
  bool batch_copies = true;             ///< horovod: batched copies into and out of the fusion buffer
  bool hierarchical_allreduce = false;  ///< horovod
  bool torus_allreduce = false;         ///< horovod

  CrossDeviceOps cross_device_ops = CrossDeviceOps::nccl;  ///< mirrored, multi_worker_mirrored
  int num_packs = 1;                                       ///< mirrored; 0: every gradient by itself
  Bytes bytes_per_pack{0};                                 ///< multi_worker_mirrored; 0: one pack
  bool private_threads = false;  ///< mirrored, multi_worker_mirrored: TF_GPU_THREAD_MODE = gpu_private

  int servers = 0;                   ///< parameter_server, byteps; 0: one per node
  bool asynchronous = false;         ///< parameter_server: no barrier between workers
  Bytes partition_bytes{4'096'000};  ///< byteps
  bool dedicated_servers =
      false;  ///< parameter_server, byteps: servers are machines of their own, not the workers' nodes
  bool server_on_gpu = false;  ///< parameter_server: a node's gradients are summed on its GPUs, each tensor
                               ///< on one, not by the CPU

  std::int64_t reduce_bucket_size = 500'000'000;       ///< zero: elements
  std::int64_t allgather_bucket_size = 500'000'000;    ///< zero: elements
  std::optional<bool> overlap_comm{};                  ///< zero: true by default in stage 3 only
  std::int64_t prefetch_bucket_size = 50'000'000;      ///< zero 3: elements
  std::int64_t param_persistence_threshold = 100'000;  ///< zero 3: elements
  std::int64_t max_live_parameters = 1'000'000'000;    ///< zero 3: elements
  std::int64_t max_reuse_distance = 1'000'000'000;     ///< zero 3: elements
  Offload offload_optimizer = Offload::none;           ///< zero

  Sharding sharding = Sharding::full_shard;             ///< fsdp
  std::optional<BackwardPrefetch> backward_prefetch{};  ///< fsdp: pre since PyTorch 2.0
  bool forward_prefetch = false;                        ///< fsdp
  std::optional<bool> limit_all_gathers{};              ///< fsdp: true since PyTorch 2.0
  std::int64_t unit_parameters =
      0;  ///< fsdp: least elements of a unit (size_based_auto_wrap_policy); 0: one per repeated block
};

/// Names of a choice and how the i-th one is taken.
struct KnobChoice {
  std::vector<std::string_view> names;
  void (*take)(StrategyKnobs&, std::size_t);
};

template <typename T>
using KnobMember = T StrategyKnobs::*;

/// One option as a scenario file may set it.
struct Knob {
  std::string_view name;  ///< key in [strategy]
  std::variant<KnobMember<Bytes>, KnobMember<std::optional<Bytes>>, KnobMember<std::optional<Time>>,
               KnobMember<int>, KnobMember<std::int64_t>, KnobMember<double>, KnobMember<bool>,
               KnobMember<std::optional<bool>>, KnobMember<std::optional<FrameworkVersion>>, KnobChoice>
      value;
  std::string_view example;   ///< a value, as TOML
  std::string_view fallback;  ///< what holds when the key is missing, in words
  std::string_view meaning;
  double least = 0, most = std::numeric_limits<double>::max();  ///< of a number (bytes, seconds)
};

/// A choice between the values 0, 1, … of the enum behind `Member`, or of the optional enum.
template <auto Member>
KnobChoice choice_of(std::vector<std::string_view> names) {
  return {std::move(names), [](StrategyKnobs& knobs, std::size_t i) {
            using Target = std::remove_reference_t<decltype(knobs.*Member)>;
            if constexpr (std::is_enum_v<Target>)
              knobs.*Member = static_cast<Target>(i);
            else
              knobs.*Member = static_cast<typename Target::value_type>(i);
          }};
}

}  // namespace foretrain
