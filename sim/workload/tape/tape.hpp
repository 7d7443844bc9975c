// The tape of a forward pass records which operator reads and makes which tensor. Played backwards it gives
// the backward pass and the lifetimes of all activations.
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

/// Receives from the tape what it records, in the same order, and derives when each tensor is in memory. A
/// storage lives from the operator that makes it to its last reader, or to the backward step of the last node
/// that keeps it. A gradient lives from the first node that hands it on to the node that made the tensor.
///
/// Calls come in three phases: make, read, keep, run and add_node during the forward pass; hand_gradient,
/// play and parameter_gradient for the nodes in reversed order; finish at the end. Each call takes constant
/// time per operand.
class LifetimeRecorder {
 public:
  using Storage = std::uint32_t;  ///< numbered in the order of make()
  using Tensor = std::uint32_t;

  /// Creates a recorder. Under `is_compiled`, operators other than products convert operands as they read
  /// them, without a copy.
  explicit LifetimeRecorder(bool is_compiled) : is_compiled_(is_compiled) {}
  /// Sets which weights are upcast to fp32 beside weights of 16 bits. Norms, and embeddings with Upcast::all,
  /// then make fp32, and what is computed from fp32 element by element stays so.
  void upcast(Upcast weights) { upcast_ = weights; }
  /// Records that the product that made `made` converts its result back to its operand's width
  /// (bitsandbytes).
  void return_in_width_of(Storage made, Storage operand);
  /// True for a tensor that has 32 bits in every precision.
  bool is_wide(Storage storage) const { return storages_[storage].stays_wide; }

  /// Adds the storage of the batch, which stays until the next batch comes.
  void make_input(double bytes, bool is_float);
  /// Adds a new storage, which the next operator makes from these. `bytes` is per sample, with fp32 elements.
  void make(double bytes, const std::vector<Storage>& parents);
  /// Records that the next operator reads or overwrites the storage.
  void read(Storage storage) { storages_[storage].last_read = now(); }
  /// Records one forward operator and decides the widths of the storages that it makes.
  void run(const Operator& op);

  /// Keeps a storage, or bytes that are no tensor, for backward. Kept things belong to the next node.
  void keep(Storage storage) { kept_.push_back(storage); }
  void keep(Amount bytes);
  /// Records that backward reads none of the operands from which the last operator made this storage.
  void keep_no_operands(Storage made) { storages_[made].both_kept = false; }
  /// Closes the node that made this storage, with everything kept since the last node. drop_node() discards
  /// what was kept, for results that need no gradient.
  void add_node(Storage made);
  void drop_node();

  /// Records that backward has run the last node that was not yet played, the one that made `tensor`, up to
  /// step `last`.
  void play(Tensor tensor, std::uint32_t last);
  /// A gradient that a node hands to one of its parents.
  struct Handed {
    Tensor made = 0, parent = 0;        ///< the node's tensor, and the one that receives a gradient
    Storage storage = 0;                ///< storage of the parent
    Storage made_storage = 0;           ///< storage of the node's tensor
    double bytes = 0;                   ///< bytes of the parent in fp32
    bool is_view = false;               ///< the node has no operators: the gradient is passed on as it is
    std::uint32_t first = 0, last = 0;  ///< the node's steps
  };
  /// Records a gradient that the node hands on; called before play() of the same node.
  void hand_gradient(const Handed& handed);
  /// Records that backward step `step` makes the gradient of this parameter; `bytes` are those in fp32.
  void parameter_gradient(std::uint32_t parameter, double bytes, std::uint32_t step);

  /// Closes the step, whose backward pass has this many steps, and returns all lifetimes.
  Lifetimes finish(std::uint32_t backward_steps) &&;

 private:
  static constexpr std::uint32_t kNever = UINT32_MAX;
  /// Shares of the fp32 bytes, by ActivationWidth.
  using Share = std::array<float, 4>;
  /// A copy in another width that autocast makes of an operand.
  struct Cast {
    Storage of = 0;
    std::uint32_t at = 0;
    Share share{};
  };
  /// A storage: its size, the moments that bound its life, and its width.
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
  /// Kept bytes that are no tensor, from moment `at` on.
  struct KeptBytes {
    Amount bytes;
    Share share{};
    std::uint32_t at = 0;
  };
  /// The storages and bytes that a node keeps for backward. The lists by width leave out storages whose copy
  /// is kept instead.
  struct Node {
    std::vector<Storage> kept, kept_by_autocast, kept_by_half;
    std::vector<KeptBytes> bytes;
    std::vector<std::pair<double, Cast>> casts;
  };

  /// Returns the moment of the operator to come.
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
  double part = 1;            ///< part of the tensor that is in memory at a time
  /// Its readers need not keep it: the backward pass of the node that made it makes it again
  /// (FusedKernel::lora).
  bool is_made_anew = false;
};

/// Records one forward pass in the order in which the framework runs it, and derives the backward pass from
/// it. Backward runs the nodes in exactly reversed order of creation (autograd's highest sequence number
/// first). An `add` operator follows each time a tensor that fed several nodes receives another contribution.
/// Tensors that no trained parameter feeds get no gradient.
///
/// A layer records an operation in this order: parameter() for its weights, result() for the tensor that it
/// makes, forward() for the operator that makes it, save() for what backward reads, and node() for the
/// backward steps. All amounts are per sample.
class Tape {
 public:
  /// Creates an empty tape for a network of this name; `tuning` says which parameters train and in which form
  /// weights are stored.
  explicit Tape(std::string model_name, FineTuning tuning = {});

  /// Begins a layer: everything recorded from here on belongs to it. `path` is its name in the network.
  void begin_layer(std::string path);
  const std::string& layer_path() const { return model_.layer_names.back(); }

  /// Adds the batch, or a part of it, as a tensor of its own.
  TensorId input(const Shape& shape, bool needs_gradient = false);
  /// Adds a result in its own storage. It needs a gradient when one of `parents` does. It also needs one when
  /// `trained` (the node has parameters) and one of the parameters named since the last result trains.
  TensorId result(const Shape& shape, const std::vector<TensorId>& parents, bool trained);
  /// Adds a result in its parent's storage, such as that of an in-place operator.
  TensorId alias(const Shape& shape, TensorId parent);
  /// Adds an alias that is only a view of another shape: it has no operator.
  TensorId view(const Shape& shape, TensorId parent);
  const TapeTensor& at(TensorId tensor) const { return tensors_[tensor]; }

  /// Registers the parameter "layer path.suffix" and returns its index, for node() and trains(). Frozen ones
  /// are listed apart, with kFrozen added to their index.
  std::uint32_t parameter(std::string_view suffix, std::int64_t elements);
  /// True for a parameter that gets a gradient.
  static bool trains(std::uint32_t parameter) { return parameter < kFrozen; }
  /// Begins an adapter: parameters named until end_adapter() train whatever is frozen.
  void begin_adapter() { in_adapter_ = true; }
  void end_adapter() { in_adapter_ = false; }
  bool is_in_adapter() const { return in_adapter_; }
  Trainability& trainability() { return trainability_; }
  /// States that backward of the node to come does not read what the last operator made `result` from.
  void keep_no_operands(TensorId result) { lifetimes_.keep_no_operands(tensors_[result].storage); }
  /// States that the last operator converts its result back to the width of what it read. This holds only
  /// with upcast weights.
  void return_in_width_of(TensorId result, TensorId operand) {
    lifetimes_.return_in_width_of(tensors_[result].storage, tensors_[operand].storage);
  }
  /// True for a tensor that is fp32 because of upcast weights.
  bool is_wide(TensorId tensor) const {
    return trainability_.tuning().upcast != Upcast::none && lifetimes_.is_wide(tensors_[tensor].storage);
  }
  /// Records a mistake that only the tape sees, for the layer that is recorded. The first mistake counts;
  /// failure() is empty without one.
  void fail(std::string message, std::string hint);
  const std::string& failure() const { return failure_; }
  const std::string& failure_hint() const { return failure_hint_; }
  /// Shares parameters between layers with one label: the first that asks for a suffix registers it. Holds
  /// until the next begin_layer().
  void share(std::string_view label) { label_ = label; }
  /// States that this layer runs its operators in so many calls, one after the other (a recurrence). Holds
  /// until the next begin_layer().
  void run_in_steps(std::int64_t steps) { steps_ = static_cast<double>(steps); }
  /// True when a layer asked for a shared parameter of another size than the registered one.
  bool has_sharing_fault() const { return sharing_fault_; }
  /// Registers a vector of the network that no gradient and no optimizer changes.
  void untrained(std::string_view suffix, std::int64_t elements);
  /// Registers a buffer, such as running statistics: it is broadcast and stored but not trained.
  void buffer(std::int64_t elements, std::int64_t element_bytes) {
    model_.buffers.push_back({elements, element_bytes});
  }
  /// Counts one module of the framework.
  void module() { ++model_.modules; }
  /// Counts a loss and returns the number of losses so far, this one included.
  int count_loss() { return ++losses_; }
  /// True when no earlier loss had this number of targets: losses over equally many targets share them.
  bool is_new_target(double targets) { return targets_.insert(targets).second; }

  /// Gives a result a name, by which later layers find it; append_name() adds it to the results of that name.
  void name(const std::string& name, TensorId tensor) { names_[name] = {tensor}; }
  void append_name(const std::string& name, TensorId tensor) { names_[name].push_back(tensor); }
  /// Returns the results of a name, or nullptr when there is none. The pointer is valid until the next name.
  const std::vector<TensorId>* named(std::string_view name) const;

  /// Records a forward operator of the current layer; it makes the results announced since the last operator.
  void forward(Operator op);
  /// Records a node: its backward operators (none for views) and the tensors that it hands gradients to. It
  /// is dropped when its result needs no gradient. Gradients of frozen parameters are left out: their
  /// products are removed, and so are steps that make nothing else.
  void node(std::vector<BackwardStep> steps, std::vector<TensorId> parents, TensorId made);
  /// Marks a tensor as TapeTensor::is_made_anew.
  void make_anew(TensorId tensor) { tensors_[tensor].is_made_anew = true; }
  /// States that from here on only this part of each tensor, between 0 and 1, is in memory at a time.
  void hold_part(double part) { part_ = part; }
  /// Keeps a tensor's storage for backward; each storage counts once.
  void save(TensorId tensor);
  /// Keeps bytes that are not a tensor of the tape: statistics, masks, indices.
  void save(Amount bytes);

  /// Plays the tape backwards and returns the network. The tape is empty afterwards.
  ExpandedModel finish() &&;

 private:
  static constexpr std::uint32_t kFrozen = 1U << 31U;  ///< added to the index of a frozen parameter
  /// A node of autograd: its backward steps, and the tensors that receive gradients from it.
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
  std::string label_;                  ///< label of the current layer; empty: it shares nothing
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

/// Returns an operator of the given class with its work. Callers set the other fields by name where they
/// differ from the default.
inline Operator make_operator(OperatorClass cls, HostCall call, Amount flops, Amount bytes, int kernels = 1) {
  Operator op;
  op.cls = cls, op.call = call, op.flops = flops, op.bytes = bytes,
  op.kernels = static_cast<std::uint16_t>(kernels);
  return op;
}

/// Returns an amount that grows with the batch and has no fixed part.
inline Amount per_sample(double amount) { return {0, amount}; }

}  // namespace foretrain
