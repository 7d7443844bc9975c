// Grouping of recorded operators into the calls of the framework, in one pass. Fused calls of libraries show
// up as several recorded operators; groups join them again, so that launches and bytes are counted once.
//
// A piece joins the one before it in these cases:
// - backward, a product joins the product of the same call before it (gradients of both operands);
// - a column sum joins the product before it (the gradient of a bias);
// - copies of one call join each other, and zeros join the copy into them;
// - a number made for an operator of its call joins that operator;
// - a copy made for an activation in place joins the activation;
// - the counter of batches joins the normalization of its module;
// - random numbers, their division and the product with them, as a CPU drops elements, become one dropout;
// - the operator that begins backward joins the first one behind it.
#include "sim/workload/recorded/call_groups.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {
namespace {

/// The operator of the model that was made last, joined from pieces of one call.
struct LastPiece {
  Operator* op = nullptr;
  OperatorRole role = OperatorRole::alone;
  std::int64_t call = -1;
  std::uint32_t recorded = 0;
};

double bytes_that_count(ElementWidth width) { return width == ElementWidth::half ? 0.5 : 1; }

/// Adds the work of an operator to another one. Bytes of another width are converted, so that they count as
/// they are.
void add_work(Operator& into, const Operator& op) {
  const double share = bytes_that_count(op.width) / bytes_that_count(into.width);
  into.flops += op.flops, into.bytes += {share * op.bytes.fixed, share * op.bytes.per_sample};
  into.kernels = static_cast<std::uint16_t>(std::min(into.kernels + op.kernels, 65'535));
}

void add_product(Operator& into, const Operator& op) {
  add_work(into, op);
  for (std::uint8_t i = 0; i < op.product_count; ++i) into.with(op.products[i]);
}

/// The pass over the recorded operators of one network. Holds references to its arguments.
class CallGrouping {
 public:
  CallGrouping(const RecordedNetwork& network, const std::vector<std::uint32_t>& layer_of,
               RecordedTypes types)
      : network_(network), layer_of_(layer_of), types_(types) {
    out_.moment_of.resize(network.operators.size(), 0);
    out_.is_mask.resize(network.operators.size(), false);
  }

  /// Visits all recorded operators in their order and returns the grouped step.
  GroupedStep run() && {
    for (at_ = 0; at_ < network_.operators.size(); ++at_) visit(network_.operators[at_]);
    settle_times();
    settle_moments();
    return std::move(out_);
  }

 private:
  const std::string& name_of_operator(const RecordedOperator& op) const {
    return network_.operator_names.at(op.name);
  }

  // Backward begins with the first operator that the recording marks as such.
  void visit(const RecordedOperator& op) {
    if (op.backward && !in_backward_) {
      settle_times();
      in_backward_ = true;
    }
    // Recorded casts are left out when all elements count as 32 bits: the precision of the training decides
    // about casts.
    const bool is_excluded = types_ == RecordedTypes::widened && is_cast(op);
    if (!is_excluded && !joins_dropout(op)) place(op);
    note_moment();
    ready(op);
  }

  /// True for casts of autocast between 16 and 32 bits. Where types are not kept, a precision adds its own
  /// casts.
  bool is_cast(const RecordedOperator& op) const {
    if (op.in.empty() || op.out.empty()) return false;
    if (name_of_operator(op) != "aten::_to_copy" && name_of_operator(op) != "aten::to") return false;
    const ElementType from = network_.sizes[op.in[0]].type, to = network_.sizes[op.out[0]].type;
    return is_floating(from) && is_floating(to) && from != to;
  }

  /// Turns an operator into pieces and adds each. A measured time is divided evenly among them; operators
  /// that run nothing pass their time on.
  void place(const RecordedOperator& op) {
    // A library call of many layers makes several pieces.
    RecordedPieces made = pieces_of(network_, op, types_);
    if (made.beyond_linear) out_.beyond_linear.push_back(name_of_operator(op));
    MeasuredTimes times = times_of(op);
    if (made.pieces.empty()) return waiting_.add(times);
    times.kernels_s /= static_cast<double>(made.pieces.size());
    const bool stands_alone = types_ == RecordedTypes::kept && is_cast(op);
    for (RecordedPiece& piece : made.pieces) {
      if (stands_alone) piece.role = OperatorRole::alone;
      if (!made.is_known) note_unknown(op, piece.op);
      waiting_.add(times);
      add(op, piece);
      times.has_host = false, times.host_s = 0;
    }
  }

  static MeasuredTimes times_of(const RecordedOperator& op) {
    MeasuredTimes times;
    if (op.time) times.kernels_s = to_seconds(*op.time), times.has_kernels = true;
    if (op.host) times.host_s = to_seconds(*op.host), times.has_host = true;
    return times;
  }

  /// Adds the times that were measured since to the operator that was made or joined last.
  void settle_times() {
    std::vector<MeasuredTimes>& times = in_backward_ ? out_.measured_backward : out_.measured_forward;
    times.resize(in_backward_ ? out_.backward.size() : out_.forward.size());
    if (!times.empty()) times.back().add(std::exchange(waiting_, {}));
  }

  void note_unknown(const RecordedOperator& op, const Operator& piece) {
    out_.unknown_launches += piece.kernels, out_.unknown_bytes += piece.bytes;
    if (unknown_.insert(op.name).second) out_.unknown.push_back(name_of_operator(op));
  }

  bool is_same_call(const RecordedOperator& op) const { return op.call >= 0 && last_.call == op.call; }

  /// Adds a piece: to the last operator where they join, to the one that brought the gradient, or as a new
  /// operator.
  void add(const RecordedOperator& op, const RecordedPiece& piece) {
    if (last_.op != nullptr && join(op, piece)) return settle_times();
    Operator made = piece.op;
    made.layer = layer_of_[op.module];
    made.call = call_of(op, piece.op);
    if (is_accumulation(op, made)) return accumulate(op, made);
    if (first_gradient_) {
      add_work(made, *first_gradient_);
      first_gradient_.reset();
    } else if (in_backward_ && out_.backward.empty() && is_one(op, piece)) {
      first_gradient_ = made;
      return;
    }
    emit(op, made, piece.role);
  }

  bool is_number(SizeId id) const { return network_.sizes[id].dimensions.empty(); }

  /// Returns the host call. Arithmetic with a number is a call like an activation's; the gradient of a mean
  /// is one of pooling.
  HostCall call_of(const RecordedOperator& op, const Operator& piece) const {
    if (piece.call != HostCall::add || piece.cls != OperatorClass::elementwise) return piece.call;
    if (network_.node_names.at(op.node).starts_with("MeanBackward")) return HostCall::pooling;
    const auto tensors = std::count_if(op.in.begin(), op.in.end(), [&](SizeId id) { return !is_number(id); });
    return tensors == 1 ? HostCall::activation : HostCall::add;
  }

  /// True where the engine of autograd adds a further gradient: no node does.
  bool is_accumulation(const RecordedOperator& op, const Operator& made) const {
    return in_backward_ && !op.recomputed && made.call == HostCall::add && !out_.backward.empty() &&
           network_.node_names.at(op.node).empty();
  }

  /// Adds such a sum to the backward pass. It belongs to the operator that brought the gradient, and comes
  /// before that operator's parameters are reported as ready.
  void accumulate(const RecordedOperator& op, Operator made) {
    made.layer = out_.backward.back().op.layer;
    std::vector<std::uint32_t> ready = std::exchange(out_.backward.back().ready, {});
    emit(op, made, OperatorRole::alone);
    out_.backward.back().ready = std::move(ready);
  }

  /// Appends an operator of the model and remembers it as the last one.
  void emit(const RecordedOperator& op, const Operator& made, OperatorRole role) {
    if (in_backward_) {
      out_.backward.push_back({made, std::move(early_)});
      early_.clear();
      out_.source_of_backward.push_back(static_cast<std::uint32_t>(at_));
      last_.op = &out_.backward.back().op;
    } else {
      out_.forward.push_back(made);
      out_.source_of_forward.push_back(static_cast<std::uint32_t>(at_));
      last_.op = &out_.forward.back();
    }
    last_.role = role, last_.call = op.call, last_.recorded = static_cast<std::uint32_t>(at_);
    settle_times();
  }

  /// Joins a piece with the last operator where a rule of this file applies; returns true in that case.
  bool join(const RecordedOperator& op, const RecordedPiece& piece) {
    Operator& last = *last_.op;
    // The counter of a normalization is of another call, all others must be of the same one.
    if (joins_counter(op, piece)) return replace_last(op, piece.op);
    if (!is_same_call(op)) return false;
    if (piece.op.backward && last_.role == OperatorRole::product) {
      if (piece.role == OperatorRole::sum) return add_work(last, piece.op), true;
      const bool fits = last.product_count + piece.op.product_count <= 2 && last.cls == piece.op.cls;
      if (piece.role == OperatorRole::product && fits) return add_product(last, piece.op), true;
    }
    if (is_made_for(op, piece)) return replace_last(op, piece.op);
    // Copies of one call are one operator, with the zeros before them.
    const bool copies = last_.role == OperatorRole::copy || last_.role == OperatorRole::fill;
    if (!copies || piece.role != OperatorRole::copy) return false;
    last_.role = OperatorRole::copy;
    return add_work(last, piece.op), true;
  }

  /// True for a number before its operator, or for a copy before an activation that overwrites the original.
  bool is_made_for(const RecordedOperator& op, const RecordedPiece& piece) const {
    const RecordedOperator& before = network_.operators[last_.recorded];
    if (before.out.empty() || piece.op.cls == OperatorClass::copy) return false;
    if (last_.role == OperatorRole::fill) return is_number(before.out[0]);
    return last_.role == OperatorRole::copy && piece.op.call == HostCall::activation &&
           name_of_operator(op).ends_with('_') && last_.recorded + 1 == at_;
  }

  /// Puts an operator in the place of the last one, with the work of both.
  bool replace_last(const RecordedOperator& op, Operator made) {
    add_work(made, *last_.op);
    made.layer = last_.op->layer, made.call = call_of(op, made);
    *last_.op = made, last_.role = OperatorRole::alone, last_.recorded = static_cast<std::uint32_t>(at_);
    return true;
  }

  /// True for a normalization whose counter of batches runs before it.
  bool joins_counter(const RecordedOperator& op, const RecordedPiece& piece) const {
    if (piece.op.call != HostCall::batch_norm || piece.op.backward || last_.op->call == HostCall::batch_norm)
      return false;
    const RecordedOperator& before = network_.operators[last_.recorded];
    if (before.module != op.module || before.in.size() != 1 || before.backward != op.backward) return false;
    const TensorSize& counter = network_.sizes[before.in[0]];
    return counter.type == ElementType::i64 && counter.dimensions.empty();
  }

  /// True for the gradient of the loss itself: a single one.
  bool is_one(const RecordedOperator& op, const RecordedPiece& piece) const {
    return piece.role == OperatorRole::fill && op.out.size() == 1 &&
           network_.sizes[op.out[0]].dimensions.empty();
  }

  /// Joins bernoulli_(), div_() and mul() of one call, by which a CPU drops elements. Returns true where the
  /// operator is part of such a call.
  bool joins_dropout(const RecordedOperator& op) {
    const OperatorRule* rule = find_operator_rule(name_of_operator(op));
    if (rule != nullptr && rule->role == OperatorRole::random) dropout_call_ = op.call, dropout_at_ = at_;
    if (!dropout_call_ || op.call < 0 || *dropout_call_ != op.call) return false;
    const std::string& name = name_of_operator(op);
    // The product with the mask ends the call; everything before it made the mask.
    const bool is_last = (name == "aten::mul" || name == "aten::mul_") && !op.out.empty();
    if (!is_last) {
      if (at_ > dropout_at_ && name != "aten::div_") return false;
      out_.is_mask[at_] = true;
      return true;
    }
    dropout_call_.reset();
    const auto n = amount_between(static_cast<double>(network_.batch),
                                  [&](double batch) { return network_.sizes[op.out[0]].elements(batch); });
    const bool is_half = types_ != RecordedTypes::widened && is_own_half(network_, op);
    const double each = is_half ? 2 * (2 + 2 + 1) : 4 + 4 + 1;  // operand, result and a mask of bytes
    Operator dropout = make_operator(OperatorClass::elementwise, HostCall::dropout,
                                     {3 * n.fixed, 3 * n.per_sample}, {each * n.fixed, each * n.per_sample});
    if (types_ == RecordedTypes::kept) dropout.width = is_half ? ElementWidth::half : ElementWidth::full;
    dropout.layer = layer_of_[op.module];
    emit(op, dropout, OperatorRole::alone);
    return true;
  }

  /// Records at which operator of the model a recorded one ran.
  void note_moment() {
    const std::size_t made = in_backward_ ? out_.backward.size() : out_.forward.size();
    out_.moment_of[at_] = static_cast<std::uint32_t>(made > 0 ? made - 1 : 0);
    if (in_backward_ && first_backward_ > at_) first_backward_ = at_;
  }

  /// Reports parameters as ready after the last backward operator, or before the first.
  void ready(const RecordedOperator& op) {
    if (op.ready.empty()) return;
    std::vector<std::uint32_t>& list = out_.backward.empty() ? early_ : out_.backward.back().ready;
    list.insert(list.end(), op.ready.begin(), op.ready.end());
  }

  /// Moves the moments of backward behind those of forward, whose number is known only at the end.
  void settle_moments() {
    const auto forward = static_cast<std::uint32_t>(out_.forward.size());
    for (std::size_t i = first_backward_; i < out_.moment_of.size(); ++i) out_.moment_of[i] += forward;
  }

  const RecordedNetwork& network_;
  const std::vector<std::uint32_t>& layer_of_;
  RecordedTypes types_;
  GroupedStep out_;
  std::size_t at_ = 0, first_backward_ = SIZE_MAX;
  bool in_backward_ = false;
  LastPiece last_;
  /// Times of operators that run nothing, and of the present one.
  MeasuredTimes waiting_;
  std::optional<Operator> first_gradient_;
  std::vector<std::uint32_t> early_;  ///< ready before the first step
  std::set<std::uint32_t> unknown_;
  std::optional<std::int64_t> dropout_call_;
  std::size_t dropout_at_ = 0;
};

}  // namespace

GroupedStep group_calls(const RecordedNetwork& network, const std::vector<std::uint32_t>& layer_of,
                        RecordedTypes types) {
  return CallGrouping(network, layer_of, types).run();
}

}  // namespace foretrain
