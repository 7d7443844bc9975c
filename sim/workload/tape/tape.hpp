// The tape of a forward pass: which operator read and made which tensor; played backwards it gives the
// backward pass.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/fine_tuning/fine_tuning.hpp"
#include "sim/workload/layers/shape.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/tape/lifetimes.hpp"

namespace foretrain {

// Follows the tensors of a tape from the operator that makes them to the last one that needs them.

/// Told by the tape what it records, in its order. A storage lives from the operator that makes it to its
/// last reader, or to the backward step of the last node that keeps it; a gradient from the first node that
/// hands it on to the node that made the tensor.
class LifetimeRecorder {
 public:
  using Storage = std::uint32_t;  ///< numbered in the order of make()
  using Tensor = std::uint32_t;

  /// `is_compiled`: operators that are no products convert their operands as they read them, without a copy.
  explicit LifetimeRecorder(bool is_compiled) : is_compiled_(is_compiled) {}
  /// Norms, and with Upcast::all embeddings, make fp32 beside weights of 16 bits, and what is computed from
  /// fp32 element by element stays so.
  void upcast(Upcast weights) { upcast_ = weights; }
  /// The product that made `made` converts its result back to the width of its operand (bitsandbytes).
  void return_in_width_of(Storage made, Storage operand);
  /// Whether a tensor has 32 bits in every precision.
  bool is_wide(Storage storage) const { return storages_[storage].stays_wide; }

  /// The batch itself: stays until the next one comes.
  void make_input(double bytes, bool is_float);
  /// A new storage, made by the next operator from these.
  void make(double bytes, const std::vector<Storage>& parents);
  /// The next operator reads or overwrites it.
  void read(Storage storage) { storages_[storage].last_read = now(); }
  void run(const Operator& op);

  /// What is kept belongs to the next node.
  void keep(Storage storage) { kept_.push_back(storage); }
  void keep(Amount bytes);
  /// Backward reads none of the operands that the last operator made this from.
  void keep_no_operands(Storage made) { storages_[made].both_kept = false; }
  void add_node(Storage made);
  void drop_node();

  /// Backward has run the last node not yet played, the one that made `tensor`, up to step `last`.
  void play(Tensor tensor, std::uint32_t last);
  struct Handed {
    Tensor made = 0, parent = 0;        ///< the node's tensor, and the one that receives a gradient
    Storage storage = 0;                ///< of the parent
    Storage made_storage = 0;           ///< of the node's tensor
    double bytes = 0;                   ///< of the parent, fp32
    bool is_view = false;               ///< the node has no operators: the gradient is passed on as it is
    std::uint32_t first = 0, last = 0;  ///< the node's steps
  };
  void hand_gradient(const Handed& handed);
  void parameter_gradient(std::uint32_t parameter, double bytes, std::uint32_t step);

  Lifetimes finish(std::uint32_t backward_steps) &&;

 private:
  static constexpr std::uint32_t kNever = UINT32_MAX;
  using Share = std::array<float, 4>;
  /// A copy in another width that autocast makes of an operand.
  struct Cast {
    Storage of = 0;
    std::uint32_t at = 0;
    Share share{};
  };
  struct StorageLife {
    double bytes = 0;
    std::uint32_t made = 0, last_read = 0;
    /// Moment of the last backward step that needs it, in fp32, under autocast, in 16 bits; 0 = none.
    std::uint32_t kept = 0, kept_autocast = 0, kept_half = 0;
    bool is_float = true, is_half = false;  ///< autocast stores it in 16 bit
    bool stays_wide = false;                ///< in 32 bits in every precision
    bool narrows = false;                   ///< computed in 32 bits from a copy, then converted back
    bool converts = false;                  ///< its operator only converts its operand to fp32
    bool both_kept = false;  ///< the operator that made it needs all its operands again: a product
    bool is_input = false;
    std::vector<Storage> parents;
    std::vector<Cast> casts;
    bool computes_wide() const { return narrows || (is_float && !is_half); }
    bool stays_wide_or_narrows() const { return narrows || stays_wide; }
  };
  struct KeptBytes {
    Amount bytes;
    Share share{};
    std::uint32_t at = 0;
  };
  struct Node {
    std::vector<Storage> kept, kept_by_autocast, kept_by_half;
    std::vector<KeptBytes> bytes;
    std::vector<std::pair<double, Cast>> casts;
  };

  std::uint32_t now() const { return operators_; }
  void settle(StorageLife& made, const Operator& op);
  void settle_upcast(StorageLife& made, const Operator& op);
  static Share share_of(const StorageLife& life);
  Share share_of_cast(const StorageLife& operand, const StorageLife& made) const;
  void add(std::uint32_t from, std::uint32_t until, Amount bytes, Share share);
  void add_storage(const StorageLife& life);

  bool is_compiled_ = false;
  std::vector<StorageLife> storages_;
  std::vector<Storage> unsettled_;  ///< made by the operator to come
  std::vector<Storage> kept_;
  std::vector<KeptBytes> kept_bytes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> gradient_of_;  ///< by tensor: index into out_.activations, kNever
  std::vector<std::uint8_t> has_gradient_;  ///< by parameter
  std::optional<Operator> last_;
  Upcast upcast_ = Upcast::none;
  std::uint32_t operators_ = 0;
  Lifetimes out_;
};

/// Index of a tensor on one tape.
using TensorId = std::uint32_t;

/// A tensor on the tape of autograd: its shape, and the storage that it shares with views of it.
struct TapeTensor {
  Shape shape;
  bool needs_gradient = false;
  std::uint32_t storage = 0;  ///< aliases (views, in-place results) share one
  bool is_view = false;       ///< made by flatten, slice, reshape
  double part = 1;            ///< of the tensor that is there at a time
  /// What reads it need not keep it: backward of what made it makes it once more (FusedKernel::lora).
  bool is_made_anew = false;
};

/// Records one forward pass in the order the framework runs it and derives the backward pass from it: nodes
/// in exactly reversed order of creation (autograd's highest sequence number first), and an `add` each time a
/// tensor that fed several nodes receives another contribution. Tensors that no parameter feeds get no
/// gradient.
class Tape {
 public:
  explicit Tape(std::string model_name, FineTuning tuning = {});

  /// Everything recorded from here on belongs to this layer.
  void begin_layer(std::string path);
  const std::string& layer_path() const { return model_.layer_names.back(); }

  TensorId input(const Shape& shape, bool needs_gradient = false);
  /// A result in its own storage; needs a gradient when `parents` do or when `trained` (the node has
  /// parameters) and one of the parameters named since the last result trains.
  TensorId result(const Shape& shape, const std::vector<TensorId>& parents, bool trained);
  /// A result in its parent's storage.
  TensorId alias(const Shape& shape, TensorId parent);
  /// An alias of another shape.
  TensorId view(const Shape& shape, TensorId parent);
  const TapeTensor& at(TensorId tensor) const { return tensors_[tensor]; }

  /// "layer path.suffix"; returns the parameter's index, for node() and trains(). A frozen one is listed
  /// apart.
  std::uint32_t parameter(std::string_view suffix, std::int64_t elements);
  /// Whether the parameter gets a gradient.
  static bool trains(std::uint32_t parameter) { return parameter < kFrozen; }
  /// The parameters named from here on train whatever is frozen: those of adapters.
  void begin_adapter() { in_adapter_ = true; }
  void end_adapter() { in_adapter_ = false; }
  bool is_in_adapter() const { return in_adapter_; }
  Trainability& trainability() { return trainability_; }
  /// Backward of the node to come does not read what the last operator made `result` from.
  void keep_no_operands(TensorId result) { lifetimes_.keep_no_operands(tensors_[result].storage); }
  /// The last operator converts its result back to the width of what it read; only with upcast weights.
  void return_in_width_of(TensorId result, TensorId operand) {
    lifetimes_.return_in_width_of(tensors_[result].storage, tensors_[operand].storage);
  }
  /// Whether a tensor is fp32 because of upcast weights.
  bool is_wide(TensorId tensor) const {
    return trainability_.tuning().upcast != Upcast::none && lifetimes_.is_wide(tensors_[tensor].storage);
  }
  /// A mistake that only the tape sees, told at the layer that is recorded; the first one counts.
  void fail(std::string message, std::string hint);
  const std::string& failure() const { return failure_; }
  const std::string& failure_hint() const { return failure_hint_; }
  /// Layers with one label share their parameters: the first that asks for a suffix registers it. Holds until
  /// the next begin_layer().
  void share(std::string_view label) { label_ = label; }
  /// What this layer records runs in so many calls, one after the other. Holds until the next begin_layer().
  void run_in_steps(std::int64_t steps) { steps_ = static_cast<double>(steps); }
  /// Whether a layer asked for a shared parameter of another size than the one registered.
  bool has_sharing_fault() const { return sharing_fault_; }
  /// A vector of the network that no gradient and no optimizer changes.
  void untrained(std::string_view suffix, std::int64_t elements);
  void buffer(std::int64_t elements, std::int64_t element_bytes) {
    model_.buffers.push_back({elements, element_bytes});
  }
  void module() { ++model_.modules; }
  /// How many losses the network has so far, with the one that asks.
  int count_loss() { return ++losses_; }
  /// Whether no loss before had that many targets: losses over equally many share them.
  bool is_new_target(double targets) { return targets_.insert(targets).second; }

  /// A result under a name, or appended to the results of that name.
  void name(const std::string& name, TensorId tensor) { names_[name] = {tensor}; }
  void append_name(const std::string& name, TensorId tensor) { names_[name].push_back(tensor); }
  /// The results of a name, nullptr when there is none.
  const std::vector<TensorId>* named(std::string_view name) const;

  void forward(Operator op);
  /// A node: its backward operators (none for views), and the tensors it hands gradients to. Dropped when
  /// nothing needs them.
  /// Gradients of frozen parameters are left out: the products that make them, and steps that make nothing
  /// else.
  void node(std::vector<BackwardStep> steps, std::vector<TensorId> parents, TensorId made);
  /// TapeTensor::is_made_anew.
  void make_anew(TensorId tensor) { tensors_[tensor].is_made_anew = true; }
  /// From here on only this part of each tensor is there at a time.
  void hold_part(double part) { part_ = part; }
  /// Keeps a tensor's storage for backward; each storage counts once.
  void save(TensorId tensor);
  /// Keeps bytes that are not a tensor of the tape: statistics, masks, indices.
  void save(Amount bytes);

  /// Plays the tape backwards and gives the model away.
  ExpandedModel finish() &&;

 private:
  static constexpr std::uint32_t kFrozen = 1U << 31U;  ///< added to the index of a frozen parameter
  struct Node {
    std::vector<BackwardStep> steps;
    std::vector<TensorId> parents;
    TensorId made = 0;
    std::uint32_t layer = 0;
  };
  std::uint32_t current_layer() const { return static_cast<std::uint32_t>(model_.layer_names.size()) - 1; }
  TensorId add_tensor(TapeTensor tensor);
  std::uint32_t add_storage(const Shape& shape);
  void widen(Operator& op, std::uint32_t made) const;
  std::vector<BackwardStep> stepwise(std::vector<BackwardStep> steps) const;
  void play(Node& node, std::vector<std::uint8_t>& has_gradient);
  void count(Amount saved);
  void count_kept();
  std::uint32_t add_parameter(std::string name, std::int64_t elements);
  std::int64_t elements_of(std::uint32_t parameter) const;
  void follow(const Node& node, std::uint32_t first);

  ExpandedModel model_;
  LifetimeRecorder lifetimes_;
  std::vector<TapeTensor> tensors_;
  std::vector<std::uint8_t> storage_saved_;
  std::vector<double> storage_bytes_;  ///< per sample, of the tensor that a storage was made for
  std::string label_;                  ///< of the current layer; empty: shares nothing
  std::map<std::string, std::uint32_t, std::less<>> shared_;  ///< by "label.suffix"
  std::map<std::string, std::vector<TensorId>, std::less<>> names_;
  int losses_ = 0;
  std::set<double> targets_;
  double steps_ = 1, part_ = 1;
  bool sharing_fault_ = false;
  Trainability trainability_;
  bool in_adapter_ = false;
  bool trained_since_result_ = true, begins_parameters_ = true;
  std::vector<std::uint32_t> unsettled_;  ///< storages that the next operator makes
  std::vector<TensorId> kept_;            ///< by the node to come
  Amount kept_bytes_;
  std::string failure_, failure_hint_;
  std::vector<Node> nodes_;
};

/// An operator of the given class with its work per sample; the other fields are set by name where they
/// differ from the default.
inline Operator make_operator(OperatorClass cls, HostCall call, Amount flops, Amount bytes, int kernels = 1) {
  Operator op;
  op.cls = cls, op.call = call, op.flops = flops, op.bytes = bytes,
  op.kernels = static_cast<std::uint16_t>(kernels);
  return op;
}

/// Per-sample amount without a fixed part.
inline Amount per_sample(double amount) { return {0, amount}; }

}  // namespace foretrain
