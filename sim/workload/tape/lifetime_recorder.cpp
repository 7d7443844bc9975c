// Autocast decides the width of a result by the operator that makes it: products compute in 16 bit, layers
// that are not half capable in fp32, the others in the width of their operands (fp32 when they differ). An
// operand of the other width is copied first; the copy lives as long as the operator needs it, and instead of
// the operand where that would have been kept.
#include <algorithm>
#include <utility>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {
namespace {

constexpr std::array<float, 4> kAsCounted{1, 1, 1, 1}, kFloats{1, 0.5F, 0.5F, 0.5F}, kWide{1, 1, 0.5F, 0.5F};
constexpr std::array<float, 4> kNarrowCopy{0, 0.5F, 0, 0}, kNarrowCopyOfWide{0, 0.5F, 0.5F, 0};
/// CUDA keeps dropout's mask in one byte an element, the operators' table counts the four of a CPU.
constexpr std::array<float, 4> kMask{0.25F, 0.25F, 0.25F, 0.25F};

enum class Width { narrow, wide, as_operands };

Width width_of(const Operator& op) {
  if (op.narrows_result) return Width::as_operands;
  if (!op.half_capable || op.cls == OperatorClass::embedding) return Width::wide;
  return op.product_count > 0 ? Width::narrow : Width::as_operands;
}

}  // namespace

/// In 16 bits a loss keeps 32; a rewritten graph has it in 16.
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

void LifetimeRecorder::make(double bytes, const std::vector<Storage>& parents) {
  StorageLife life;
  life.bytes = bytes, life.parents = parents, life.made = life.last_read = now();
  for (const Storage parent : parents) read(parent);
  unsettled_.push_back(static_cast<Storage>(storages_.size()));
  storages_.push_back(std::move(life));
}

/// With weights in fp32 beside packed ones. Norms multiply by an fp32 weight and return fp32 whatever they
/// read; a sum or a product of two widths is fp32 without a copy; matrix products and attention convert what
/// they read.
void LifetimeRecorder::settle_upcast(StorageLife& made, const Operator& op) {
  const auto is_wide_one = [this](Storage s) { return storages_[s].is_float && !storages_[s].is_half; };
  const bool multiplies = op.product_count > 0;
  const bool computes_wide = !op.half_capable || op.narrows_result;
  made.both_kept = multiplies;
  if (op.cls == OperatorClass::embedding)
    made.is_half = upcast_ != Upcast::all;
  else
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
  if (made.converts || (is_compiled_ && !made.both_kept)) return;
  for (const Storage parent : made.parents) {
    const Share share = share_of_cast(storages_[parent], made);
    if (share != Share{}) made.casts.push_back({parent, now(), share});
  }
}

/// Of an operand's fp32 bytes those that its copy in the width of the operator takes.
LifetimeRecorder::Share LifetimeRecorder::share_of_cast(const StorageLife& operand,
                                                        const StorageLife& made) const {
  if (!operand.is_float) return {};
  if (made.computes_wide())
    return {0, operand.is_half ? 1.0F : 0.0F,
            operand.stays_wide || !made.stays_wide_or_narrows() ? 0.0F : 1.0F, 0};
  if (operand.is_half) return {};
  return upcast_ == Upcast::none ? kNarrowCopy : kNarrowCopyOfWide;
}

void LifetimeRecorder::run(const Operator& op) {
  for (const Storage storage : unsettled_) settle(storages_[storage], op);
  unsettled_.clear();
  last_ = op;
  ++operators_;
}

void LifetimeRecorder::keep(Amount bytes) {
  Share share = kAsCounted;
  if (last_ && last_->cls == OperatorClass::attention) share = kFloats;
  if (last_ && last_->call == HostCall::dropout) share = kMask;
  if (last_ && last_->narrows_result) share = share_of(storages_.back());
  kept_bytes_.push_back({bytes, share, now() - (now() > 0 ? 1 : 0)});
}

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

void LifetimeRecorder::drop_node() { kept_.clear(), kept_bytes_.clear(); }

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
  // An operator in fp32 makes its operand's gradient in fp32; it is converted once it is whole.
  const StorageLife& made = storages_[handed.made_storage];
  if (handed.is_view || is_compiled_ || made.converts || !made.computes_wide()) return;
  Share wider = share_of_cast(of, made);
  for (float& part : wider) part /= 2;
  if (wider != Share{}) add(now() + handed.first, now() + handed.last, {0, handed.bytes}, wider);
}

void LifetimeRecorder::parameter_gradient(std::uint32_t parameter, double bytes, std::uint32_t step) {
  has_gradient_.resize(std::max<std::size_t>(has_gradient_.size(), parameter + std::size_t{1}), 0);
  if (std::exchange(has_gradient_[parameter], std::uint8_t{1}) != 0) return;
  out_.parameter_gradients.push_back({now() + step, 0, {bytes, 0}, kAsCounted});
}

void LifetimeRecorder::add(std::uint32_t from, std::uint32_t until, Amount bytes, Share share) {
  out_.activations.push_back({from, std::max(from, until), bytes, share});
}

/// A lifetime for all widths that need it as long: where a copy is kept, autocast and weights of 16 bits may
/// need the original for less long than fp32.
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
