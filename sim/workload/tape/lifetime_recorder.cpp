// The storages of a tape with the moments at which they live, in every width in which activations are stored.
//
// Autocast decides the width of a result by the operator that makes it. Products compute in 16 bit, layers
// that are not half capable in fp32. The others compute in the width of their operands, and in fp32 when
// these differ. An operand of the other width is copied first. The copy lives as long as the operator needs
// it; where backward needs the operand again, the copy is kept instead of it.
//
// The recorder handles the four ActivationWidths in one pass: every lifetime has its bytes in fp32 and, for
// each width, the share of them that exists. A tensor whose life ends at different moments in different
// widths gets several lifetimes, with disjoint shares.
#include <algorithm>
#include <utility>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {
namespace {

// Shares of the fp32 bytes by ActivationWidth: full, autocast, half, graph. kAsCounted is for integers and
// masks. kFloats is 16 bit wherever the precision has 16 bits; kWide stays fp32 under autocast.
constexpr std::array<float, 4> kAsCounted{1, 1, 1, 1}, kFloats{1, 0.5F, 0.5F, 0.5F}, kWide{1, 1, 0.5F, 0.5F};
// Shares of the copy that autocast makes of an fp32 operand for an operator in 16 bit. With Upcast weights
// the copy also exists in the width `half`.
constexpr std::array<float, 4> kNarrowCopy{0, 0.5F, 0, 0}, kNarrowCopyOfWide{0, 0.5F, 0.5F, 0};
/// CUDA keeps dropout's mask in one byte an element; the table of operators counts the four of a CPU.
constexpr std::array<float, 4> kMask{0.25F, 0.25F, 0.25F, 0.25F};

/// The width in which autocast runs an operator: 16 bit, fp32, or that of its operands.
enum class Width { narrow, wide, as_operands };

/// Returns the width in which PyTorch's autocast runs this operator.
Width width_of(const Operator& op) {
  if (op.narrows_result) return Width::as_operands;
  if (!op.half_capable || op.cls == OperatorClass::embedding) return Width::wide;
  return op.product_count > 0 ? Width::narrow : Width::as_operands;
}

}  // namespace

/// Returns, by ActivationWidth, the share of a storage's fp32 bytes that it takes. A tensor that stays wide,
/// such as a loss, has 32 bits under `half` too; a rewritten graph stores it in 16.
LifetimeRecorder::Share LifetimeRecorder::share_of(const StorageLife& life) {
  if (!life.is_float) return kAsCounted;
  if (life.stays_wide) return {1, life.is_half ? 0.5F : 1.0F, 1, 0.5F};
  return life.is_half ? kFloats : kWide;
}

void LifetimeRecorder::make_input(double bytes, bool is_float) {
  StorageLife life;
  life.bytes = bytes, life.is_float = is_float, life.is_input = true;
  storages_.push_back(std::move(life));
}

// `made` is the number of the operator to come, because now() counts the operators that have run. The width
// is not known before that operator is given to run().
void LifetimeRecorder::make(double bytes, const std::vector<Storage>& parents) {
  StorageLife life;
  life.bytes = bytes, life.parents = parents, life.made = life.last_read = now();
  for (const Storage parent : parents) read(parent);
  unsettled_.push_back(static_cast<Storage>(storages_.size()));
  storages_.push_back(std::move(life));
}

/// Decides the widths of a result where some weights are upcast to fp32 and the others are packed. Norms
/// multiply by an fp32 weight and return fp32 whatever they read. A sum or a product of two widths is fp32
/// and needs no copy. Matrix products and attention convert what they read.
void LifetimeRecorder::settle_upcast(StorageLife& made, const Operator& op) {
  const auto is_wide_one = [this](Storage s) { return storages_[s].is_float && !storages_[s].is_half; };
  const bool multiplies = op.product_count > 0;
  const bool computes_wide = !op.half_capable || op.narrows_result;
  made.both_kept = multiplies;
  if (op.cls == OperatorClass::embedding)
    made.is_half = upcast_ != Upcast::all;
  else
    // Element-wise work follows its operands: one in fp32 makes the result fp32.
    made.is_half = multiplies || (!computes_wide && std::ranges::none_of(made.parents, is_wide_one));
  made.stays_wide = !made.is_half;
  made.converts = op.cls == OperatorClass::copy && op.stays_wide;
  if (made.converts) {
    made.is_half = false, made.stays_wide = true;
    if (std::ranges::any_of(made.parents, is_wide_one)) made.bytes = 0;  // it is fp32 already
    return;
  }
  if (!multiplies && !computes_wide) return;
  for (const Storage parent : made.parents) {
    const Share share = share_of_cast(storages_[parent], made);
    if (share != Share{}) made.casts.push_back({parent, now(), share});
  }
}

void LifetimeRecorder::return_in_width_of(Storage made, Storage operand) {
  if (upcast_ == Upcast::none) return;
  storages_[made].is_half = storages_[operand].is_half;
  storages_[made].stays_wide = storages_[operand].stays_wide;
}

/// Decides the widths of a result from the operator that makes it, and records the copies in another width
/// that autocast makes of its operands.
void LifetimeRecorder::settle(StorageLife& made, const Operator& op) {
  if (upcast_ != Upcast::none) return settle_upcast(made, op);
  const Width width = width_of(op);
  made.both_kept = op.product_count > 0;
  made.stays_wide = op.stays_wide;
  made.is_half = width == Width::narrow;
  made.converts = op.cls == OperatorClass::copy && op.stays_wide;
  if (width == Width::as_operands) {
    const auto is_wide = [this](Storage s) { return storages_[s].is_float && !storages_[s].is_half; };
    made.is_half = !made.parents.empty() && std::none_of(made.parents.begin(), made.parents.end(), is_wide);
    const auto stays_wide = [this](Storage s) { return storages_[s].stays_wide; };
    made.stays_wide = std::ranges::any_of(made.parents, stays_wide);
    made.narrows = op.narrows_result;
    if (!made.narrows) return;
  }
  // A compiled operator converts its operands in registers, unless it is a product, which needs a real copy.
  if (made.converts || (is_compiled_ && !made.both_kept)) return;
  for (const Storage parent : made.parents) {
    const Share share = share_of_cast(storages_[parent], made);
    if (share != Share{}) made.casts.push_back({parent, now(), share});
  }
}

/// Returns, by ActivationWidth, the share of an operand's fp32 bytes that its copy in the operator's width
/// takes. All shares are 0 where no copy is made.
LifetimeRecorder::Share LifetimeRecorder::share_of_cast(const StorageLife& operand,
                                                        const StorageLife& made) const {
  if (!operand.is_float) return {};
  if (made.computes_wide())
    return {0, operand.is_half ? 1.0F : 0.0F,
            operand.stays_wide || !made.stays_wide_or_narrows() ? 0.0F : 1.0F, 0};
  if (operand.is_half) return {};
  return upcast_ == Upcast::none ? kNarrowCopy : kNarrowCopyOfWide;
}

// The results that make() announced belong to this operator: their widths follow from it.
void LifetimeRecorder::run(const Operator& op) {
  for (const Storage storage : unsettled_) settle(storages_[storage], op);
  unsettled_.clear();
  last_ = op;
  ++operators_;
}

// Bytes that are no tensor live from the operator that ran last, whose index is now() - 1.
void LifetimeRecorder::keep(Amount bytes) {
  Share share = kAsCounted;
  if (last_ && last_->cls == OperatorClass::attention) share = kFloats;
  if (last_ && last_->call == HostCall::dropout) share = kMask;
  if (last_ && last_->narrows_result) share = share_of(storages_.back());
  kept_bytes_.push_back({bytes, share, now() - (now() > 0 ? 1 : 0)});
}

/// Closes a node of the tape: what was kept since the last node belongs to this one. A copy that the operator
/// made of a kept operand is kept instead of it, in the widths in which the copy exists. Copies that backward
/// does not read live during their operator alone.
void LifetimeRecorder::add_node(Storage made) {
  Node node;
  node.bytes = std::exchange(kept_bytes_, {});
  node.kept = std::exchange(kept_, {});
  std::vector<Cast> casts = std::exchange(storages_[made].casts, {});
  for (const Storage kept : node.kept) {
    const auto is_copied = [&](ActivationWidth width) {
      return std::ranges::any_of(casts, [&](const Cast& cast) {
        return cast.of == kept && cast.share[static_cast<std::size_t>(width)] > 0;
      });
    };
    if (!is_copied(ActivationWidth::autocast)) node.kept_by_autocast.push_back(kept);
    if (!is_copied(ActivationWidth::half)) node.kept_by_half.push_back(kept);
  }
  for (const Cast& cast : casts) {
    const double bytes = storages_[cast.of].bytes;
    const bool kept = storages_[made].both_kept ||
                      std::find(node.kept.begin(), node.kept.end(), cast.of) != node.kept.end();
    if (kept)
      node.casts.emplace_back(bytes, cast);
    else
      add(cast.at, cast.at, {0, bytes}, cast.share);
  }
  nodes_.push_back(std::move(node));
}

// A node that gets no gradient keeps nothing.
void LifetimeRecorder::drop_node() { kept_.clear(), kept_bytes_.clear(); }

// Nodes are played in reversed order of add_node(), so the node of `tensor` is the last in nodes_. Everything
// that it keeps lives up to its last step, and so does the gradient of its result.
void LifetimeRecorder::play(Tensor tensor, std::uint32_t last) {
  const Node node = std::move(nodes_.back());
  nodes_.pop_back();
  const std::uint32_t until = now() + last;
  for (const Storage kept : node.kept) storages_[kept].kept = std::max(storages_[kept].kept, until);
  for (const Storage kept : node.kept_by_autocast)
    storages_[kept].kept_autocast = std::max(storages_[kept].kept_autocast, until);
  for (const Storage kept : node.kept_by_half)
    storages_[kept].kept_half = std::max(storages_[kept].kept_half, until);
  for (const KeptBytes& kept : node.bytes) add(kept.at, until, kept.bytes, kept.share);
  for (const auto& [bytes, cast] : node.casts) add(cast.at, until, {0, bytes}, cast.share);
  if (tensor < gradient_of_.size() && gradient_of_[tensor] != kNever) {
    Lifetime& gradient = out_.activations[gradient_of_[tensor]];
    gradient.until = std::max(gradient.until, until);
  }
}

/// Records the gradient that a node hands to a parent. The first contribution opens the lifetime of the
/// parent's gradient, which play() extends until the parent's node has run. Later contributions are
/// temporary: they are added to the first. A view passes on the gradient that it received, without new
/// memory.
void LifetimeRecorder::hand_gradient(const Handed& handed) {
  gradient_of_.resize(
      std::max<std::size_t>(gradient_of_.size(), std::max(handed.parent, handed.made) + std::size_t{1}),
      kNever);
  const StorageLife& of = storages_[handed.storage];
  const Share share = share_of(of);
  std::uint32_t& gradient = gradient_of_[handed.parent];
  const bool is_first = gradient == kNever;
  if (is_first && handed.is_view && gradient_of_[handed.made] != kNever) {
    gradient = gradient_of_[handed.made];
    return;
  }
  if (is_first) gradient = static_cast<std::uint32_t>(out_.activations.size());
  if (is_first || !handed.is_view) add(now() + handed.first, now() + handed.last, {0, handed.bytes}, share);
  // An operator in fp32 makes its operand's gradient in fp32; it is converted once it is whole. Counted here
  // is the half of the fp32 bytes by which that gradient exceeds one in 16 bit.
  const StorageLife& made = storages_[handed.made_storage];
  if (handed.is_view || is_compiled_ || made.converts || !made.computes_wide()) return;
  Share wider = share_of_cast(of, made);
  for (float& part : wider) part /= 2;
  if (wider != Share{}) add(now() + handed.first, now() + handed.last, {0, handed.bytes}, wider);
}

// A parameter's gradient lives from the first step that makes it; finish() extends it to the end of the step.
void LifetimeRecorder::parameter_gradient(std::uint32_t parameter, double bytes, std::uint32_t step) {
  has_gradient_.resize(std::max<std::size_t>(has_gradient_.size(), parameter + std::size_t{1}), 0);
  if (std::exchange(has_gradient_[parameter], std::uint8_t{1}) != 0) return;
  out_.parameter_gradients.push_back({now() + step, 0, {bytes, 0}, kAsCounted});
}

void LifetimeRecorder::add(std::uint32_t from, std::uint32_t until, Amount bytes, Share share) {
  out_.activations.push_back({from, std::max(from, until), bytes, share});
}

/// Adds one lifetime for all widths that need a storage equally long. Where a copy is kept, autocast and
/// 16-bit weights may need the original for less long than fp32 does.
void LifetimeRecorder::add_storage(const StorageLife& life) {
  const auto last = [&life](std::uint32_t kept) { return std::max(life.last_read, kept); };
  const std::array<std::uint32_t, 4> ends{last(life.kept), last(life.kept_autocast), last(life.kept_half),
                                          last(life.kept)};
  std::array<std::uint32_t, 4> distinct = ends;
  std::ranges::sort(distinct);
  const auto behind = std::unique(distinct.begin(), distinct.end());
  for (auto end = distinct.begin(); end != behind; ++end) {
    Share share = share_of(life);
    for (std::size_t width = 0; width < ends.size(); ++width) {
      if (ends[width] != *end) share[width] = 0;
    }
    add(life.made, *end, {0, life.bytes}, share);
  }
}

// A step without backward operators still has one moment behind the forward pass.
Lifetimes LifetimeRecorder::finish(std::uint32_t backward_steps) && {
  out_.moments = now() + std::max(backward_steps, std::uint32_t{1});
  const std::uint32_t end = out_.moments - 1;
  for (StorageLife& life : storages_) {
    if (life.is_input) life.last_read = end;  // the script holds on to its batch
    add_storage(life);
  }
  for (Lifetime& gradient : out_.parameter_gradients) gradient.until = end;
  for (Lifetime& life : out_.activations) life.until = std::min(life.until, end);
  return std::move(out_);
}

}  // namespace foretrain
