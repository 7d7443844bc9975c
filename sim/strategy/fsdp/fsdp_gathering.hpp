// The units of a network under FSDP: their gathers, prefetches, frees and reductions.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Decides whether a unit is sharded again behind its forward pass: as strategy.sharding says, always, or
/// never.
enum class Reshard : std::uint8_t { by_sharding, always, never };

/// A wrapped module, which is gathered and reduced as a whole.
struct ModelUnit {
  std::string name;
  std::vector<std::uint32_t> parameters;  ///< indices into ExpandedModel::parameters
  std::int64_t elements = 0;              ///< elements of `parameters`
  /// Elements of parameters without gradients, which are gathered too.
  std::int64_t frozen = 0;
  std::int64_t gathered = 0, reduced = 0;  ///< elements on the wire, once pad_units() has run
  Reshard reshard = Reshard::by_sharding;
  bool prefetches = true;  ///< the unit before it is gathered in front of its backward pass
  std::int64_t held() const { return elements + frozen; }
};

/// A division of a network: every layer and parameter is in exactly one unit. The first unit is the root,
/// which holds what no other unit holds and may be empty. The others follow in the order of their first
/// layer, and have parameters.
struct ModelUnits {
  std::vector<ModelUnit> units;
  std::vector<std::uint32_t> of_layer;
  std::vector<std::uint32_t> of_parameter;

  /// Returns the trained elements of the largest unit besides the root; 0 when there is none.
  std::int64_t largest() const;
};

/// Returns one unit per block of the model file, as transformer_auto_wrap_policy wraps every instance of a
/// block's class. A block is recognized by the path of its layers: "decoder.7.add.0.attention" is in
/// "decoder.7", and "projected.relu" in "projected". "add.0.conv2d" is in none, because "add" is a layer
/// itself. In a recorded network numbered modules are blocks: "model.layers.7.mlp" is in "model.layers.7",
/// "model.norm" in none.
ModelUnits units_by_block(const ExpandedModel& model);

/// Returns units by block, with further units in front of the first block and behind the last
/// (UnitChoice::ends). With `chunks` the layers behind the last block are two units, gathered together and
/// reduced apart: the head inside a chunked loss, and the layers in front of it.
ModelUnits units_with_ends(const ExpandedModel& model, bool chunks);

/// Returns units of consecutive layers that hold at least `least` elements. Layers left at the end stay with
/// the root (size_based_auto_wrap_policy, applied to the flat list of layers). Requires least >= 1.
ModelUnits units_by_size(const ExpandedModel& model, std::int64_t least);

struct FsdpSettings;
/// Sets the elements that each unit sends. FSDP1 pads its flat tensor to the ranks, FSDP2 the first dimension
/// of each parameter.
void pad_units(ModelUnits& units, const ExpandedModel& model, const FsdpSettings& settings);

/// The sharding of a job, with the defaults of the framework's version resolved.
struct FsdpSettings {
  bool per_parameter = false;  ///< FSDP2 (fully_shard): each parameter is sharded, gathers copy in and out
  Sharding sharding = Sharding::full_shard;
  BackwardPrefetch backward_prefetch = BackwardPrefetch::pre;
  bool forward_prefetch = false;
  bool limit_all_gathers = true;
  std::int64_t element_bytes = 4;  ///< bytes of an element of gathered parameters and backward's gradients
  std::int64_t reduced_bytes = 4;  ///< bytes of an element of gradients on the wire
  std::int64_t shard_bytes = 4;    ///< bytes of an element of shards, which the optimizer steps on
  WireType gathered_type = WireType::fp32, reduced_type = WireType::fp32;
  bool offloads = false;       ///< shards, their gradients and the optimizer are on the host
  bool pinned = true;          ///< page-locked there
  int ranks = 1;               ///< ranks of the job
  int shards = 1;              ///< ranks that hold one copy together
  int replicas = 1;            ///< copies (hybrid_shard: nodes)
  Group group = Group::world;  ///< the ranks that hold one copy

  /// Returns the padded elements of a parameter with this number of rows.
  std::int64_t padded(std::int64_t elements, std::int64_t rows) const {
    return padded(rows) * (elements / rows);
  }
  std::int64_t padded(std::int64_t elements) const { return (elements + shards - 1) / shards * shards; }
  /// True where shards are cast to another width before they are gathered.
  bool casts_shards() const { return element_bytes != shard_bytes; }
  /// True where gradients come back in another width and are cast.
  bool casts_gradients() const { return reduced_bytes != shard_bytes; }
};

/// Keeps track of which units are whole on a GPU, and adds their gathers and frees. It follows the unshard
/// and reshard logic of torch/distributed/fsdp/_runtime_utils.py and of FSDP2's _fsdp_param_group.py.
///
/// Calls of one step: begin_iteration; pre_forward and post_forward for every unit, the root around all
/// others; pre_backward and post_backward in the order of backward.
class FsdpGathering {
 public:
  FsdpGathering(Process& process, const ModelUnits& units, const FsdpSettings& settings);

  /// Begins an iteration, in the root's pre-forward: gathers wait for the work that the compute stream has so
  /// far (the optimizer).
  void begin_iteration();
  /// Gathers a unit before its forward pass, unless it is whole. With forward_prefetch it gathers the next
  /// unit too.
  void pre_forward(std::uint32_t unit);
  /// Frees a unit behind its forward pass where the sharding or the unit's own Reshard asks for it. The root
  /// (unit 0) always stays whole, because backward begins with it.
  void post_forward(std::uint32_t unit);
  /// Gathers a unit before its backward pass. Only the first call of an iteration has an effect.
  void pre_backward(std::uint32_t unit);
  /// Frees the unit behind its backward pass and, with BackwardPrefetch::post, gathers the next one. Without
  /// synchronisation (no_sync) a strategy that keeps parameters from forward to backward keeps them for the
  /// next micro-step too.
  void post_backward(std::uint32_t unit, bool synchronises);

 private:
  bool gathers() const { return settings_.sharding != Sharding::no_shard || settings_.offloads; }
  /// Adds the host time of one hook.
  void hook(const HostThread& thread, std::uint32_t unit);
  /// Starts the gather of a unit, unless it is whole.
  void unshard(const HostThread& thread, std::uint32_t unit);
  TaskId prepare_shard(const HostThread& thread, std::uint32_t unit);
  TaskId shard_from_host(const HostThread& thread, std::uint32_t unit);
  /// Makes the compute stream wait for a unit.
  void wait_for(const HostThread& thread, std::uint32_t unit);
  void free_unit(const HostThread& thread, std::uint32_t unit);
  /// Gathers the unit that backward comes to next.
  void prefetch_before(std::uint32_t unit);

  Process& process_;
  const ModelUnits& units_;
  FsdpSettings settings_;
  QueueId shard_stream_;  ///< pre_unshard, or FSDP2's all_gather_copy_in
  LabelId forward_label_, backward_label_, shard_label_, copy_out_label_, host_label_;
  TaskId iteration_start_ = kNone;
  bool in_backward_ = false;
  std::vector<TaskId> gathered_;  ///< per unit: the gather that made it whole, kNone while sharded
  std::vector<bool> waited_;      ///< the compute stream waits for it already
  std::vector<bool> ran_backward_;
  std::vector<std::uint32_t> place_;  ///< per unit: its place in the order of this forward pass, kNone before
  std::vector<std::uint32_t> forward_order_;
  std::deque<TaskId> free_events_;
  std::vector<TaskId> copy_outs_;  ///< FSDP2, of this iteration
};

/// State of the gradients in one micro-step.
struct GradientState {
  bool accumulates = false;    ///< there is an unsharded gradient of earlier micro-steps
  bool synchronises = true;    ///< ranks exchange gradients in this one
  bool adds_to_shard = false;  ///< an earlier micro-step has left its sum in the shard
};

/// Adds the reductions of units whose gradients are complete. A gradient is divided, reduce-scattered
/// (all-reduced without shards) and added to the shard, on a stream of its own beside backward. Between
/// replicas the shard is all-reduced on a communicator of its own.
class FsdpReduction {
 public:
  FsdpReduction(Process& process, const ModelUnits& units, const FsdpSettings& settings);

  /// Begins a backward pass whose gradients are exchanged.
  void begin_exchange();
  /// Handles a unit's gradients, which are complete, behind its backward pass.
  void post_backward(std::uint32_t unit, const GradientState& state);
  /// Makes the compute stream wait for all reductions.
  void finish();
  /// Returns the messages of the last exchange, in launch order.
  const std::vector<Bytes>& messages() const { return messages_; }

 private:
  void flatten(std::uint32_t unit, bool accumulating);
  /// Prepares, starts, and completes the reduction of a unit.
  TaskId prepare(std::uint32_t unit);
  TaskId reduce(std::uint32_t unit, TaskId input);
  void update_shard(std::uint32_t unit, TaskId reduced, bool adds);

  Process& process_;
  const ModelUnits& units_;
  FsdpSettings settings_;
  QueueId stream_;         ///< post_backward, or FSDP2's reduce_scatter
  QueueId across_stream_;  ///< NCCL's stream of the communicator between replicas
  LabelId flatten_label_, divide_label_, reduce_label_, across_label_, shard_label_, host_label_;
  int predivide_;
  TaskId last_reduction_ = kNone, last_update_ = kNone;
  std::vector<Bytes> messages_;
};

/// Returns the number by which gradients are divided before the reduction. They are divided by ranks over
/// this number after it, so that they neither underflow nor overflow: it is about the root of `ranks`
/// (default_hooks.py, _get_gradient_predivide_factor).
int gradient_predivide_factor(int ranks);

}  // namespace foretrain
