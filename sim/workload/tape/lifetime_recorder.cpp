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
constexpr std::array<float, 4> kNarrowCopy{0, 0.5F, 0, 0}, kWideCopy{0, 1, 0, 0};
/// What a loss reads and makes; a rewritten graph has it in 16 bits, without a copy.
constexpr std::array<float, 4> kAlwaysWide{1, 1, 1, 0.5F}, kAlwaysWideCopy{0, 1, 1, 0};
/// CUDA keeps dropout's mask in one byte an element, the operators' table counts the four of a CPU.
constexpr std::array<float, 4> kMask{0.25F, 0.25F, 0.25F, 0.25F};

enum class Width { narrow, wide, as_operands };

Width width_of(const Operator& op) {
  if (!op.half_capable || op.cls == OperatorClass::embedding) return Width::wide;
  return op.product_count > 0 ? Width::narrow : Width::as_operands;
}

}  // namespace

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

void LifetimeRecorder::settle(StorageLife& made, const Operator& op) {
  const Width width = width_of(op);
  made.both_kept = op.product_count > 0;
  made.stays_wide = op.stays_wide;
  made.is_half = width == Width::narrow;
  if (width == Width::as_operands) {
    const auto is_wide = [this](Storage s) { return storages_[s].is_float && !storages_[s].is_half; };
    made.is_half = !made.parents.empty() && std::none_of(made.parents.begin(), made.parents.end(), is_wide);
    return;
  }
  for (const Storage parent : made.parents) {
    if (storages_[parent].is_float && storages_[parent].is_half != made.is_half)
      made.casts.push_back({parent, now(),
                            made.is_half      ? kNarrowCopy
                            : made.stays_wide ? kAlwaysWideCopy
                                              : kWideCopy});
  }
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
  kept_bytes_.push_back({bytes, share, now() - (now() > 0 ? 1 : 0)});
}

void LifetimeRecorder::add_node(Storage made) {
  Node node;
  node.bytes = std::exchange(kept_bytes_, {});
  node.kept = std::exchange(kept_, {});
  std::vector<Cast> casts = std::exchange(storages_[made].casts, {});
  for (const Storage kept : node.kept) {
    const bool copied =
        std::any_of(casts.begin(), casts.end(), [&](const Cast& cast) { return cast.of == kept; });
    if (!copied) node.kept_by_autocast.push_back(kept);
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
  const Share share = of.stays_wide ? kAlwaysWide : of.is_half ? kFloats : kWide;
  std::uint32_t& gradient = gradient_of_[handed.parent];
  const bool is_first = gradient == kNever;
  if (is_first && handed.is_view && gradient_of_[handed.made] != kNever) {
    gradient = gradient_of_[handed.made];
    return;
  }
  if (is_first) gradient = static_cast<std::uint32_t>(out_.activations.size());
  if (is_first || !handed.is_view) add(now() + handed.first, now() + handed.last, {0, handed.bytes}, share);
}

void LifetimeRecorder::parameter_gradient(std::uint32_t parameter, double bytes, std::uint32_t step) {
  has_gradient_.resize(std::max<std::size_t>(has_gradient_.size(), parameter + std::size_t{1}), 0);
  if (std::exchange(has_gradient_[parameter], std::uint8_t{1}) != 0) return;
  out_.parameter_gradients.push_back({now() + step, 0, {bytes, 0}, kAsCounted});
}

void LifetimeRecorder::add(std::uint32_t from, std::uint32_t until, Amount bytes, Share share) {
  out_.activations.push_back({from, std::max(from, until), bytes, share});
}

/// Autocast may need the original for less long than fp32, when it keeps a copy.
void LifetimeRecorder::add_storage(const StorageLife& life) {
  const Share share = !life.is_float    ? kAsCounted
                      : life.stays_wide ? kAlwaysWide
                      : life.is_half    ? kFloats
                                        : kWide;
  const std::uint32_t plain = std::max(life.last_read, life.kept),
                      autocast = std::max(life.last_read, life.kept_autocast);
  add(life.made, std::min(plain, autocast), {0, life.bytes}, share);
  if (plain > autocast) add(autocast + 1, plain, {0, life.bytes}, {share[0], 0, share[2], share[3]});
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
