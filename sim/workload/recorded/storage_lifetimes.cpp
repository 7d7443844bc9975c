// Lifetimes of recorded storages. The recording does not name the storage of an operand: it is taken to be
// the last one made with its number of elements that still lives.
#include "sim/workload/recorded/storage_lifetimes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace foretrain {
namespace {

// Shares of the fp32 bytes by ActivationWidth: full, autocast, half, graph (tape/lifetimes.hpp).
using WidthShare = std::array<float, 4>;
constexpr WidthShare kCounted{1, 1, 1, 1}, kNarrow{1, 0.5F, 0.5F, 0.5F}, kWideFloat{1, 1, 0.5F, 0.5F};
constexpr WidthShare kAlwaysHalf{0.5F, 0.5F, 0.5F, 0.5F};
constexpr WidthShare kMaskBytes{0.25F, 0.25F, 0.25F, 0.25F};  ///< a byte of four
constexpr WidthShare kCastCopy{0, 0.5F, 0, 0};
constexpr WidthShare kNotInAutocast{1, 0, 0.5F, 0.5F};

/// The key of a storage: its elements at the recorded batch.
using ElementCount = std::int64_t;

/// The walk over the storages of one step. Holds references to its arguments.
class StorageWalk {
 public:
  StorageWalk(const RecordedNetwork& network, const GroupedStep& step, RecordedTypes types,
              std::size_t layers)
      : network_(network), step_(step), types_(types), batch_(static_cast<double>(network.batch)) {
    out_.saved_of_layer.resize(layers);
    narrow_.resize(network.storages.size(), false);
    out_.lifetimes.moments = static_cast<std::uint32_t>(std::max<std::size_t>(1, step.forward.size()) +
                                                        std::max<std::size_t>(1, step.backward.size()));
  }

  /// Finds gradients first, since they are no activations; then adds inputs, decides widths, and adds all
  /// other storages.
  StorageSums run() && {
    parameter_gradients();
    inputs();
    if (types_ != RecordedTypes::kept) decide_widths();
    for (std::uint32_t i = 0; i < network_.storages.size(); ++i) {
      if (!is_gradient_[i]) add(i);
    }
    return std::move(out_);
  }

 private:
  std::uint32_t last_moment() const { return out_.lifetimes.moments - 1; }
  const TensorSize& size_of(const RecordedStorage& storage) const { return network_.sizes[storage.size]; }
  /// Returns the key by which operands and gradients are matched with storages.
  ElementCount count_of(const TensorSize& size) const {
    return static_cast<ElementCount>(size.elements(batch_));
  }

  /// Returns the moment of the model at which a recorded operator ran; those behind the step count as its
  /// end.
  std::uint32_t moment(std::uint32_t recorded) const {
    return recorded < step_.moment_of.size() ? std::min(step_.moment_of[recorded], last_moment())
                                             : last_moment();
  }
  /// Returns the operator of the model that a recorded one belongs to, or nullptr.
  const Operator* maker(std::uint32_t recorded) const {
    const std::uint32_t at = moment(recorded);
    const auto forward = static_cast<std::uint32_t>(step_.forward.size());
    if (at < forward) return &step_.forward[at];
    return at - forward < step_.backward.size() ? &step_.backward[at - forward].op : nullptr;
  }

  /// Finds the storages of parameters' gradients. Of those made in backward that outlive the step, one of its
  /// size is taken for each parameter that gets ready.
  void parameter_gradients() {
    is_gradient_.resize(network_.storages.size(), false);
    std::map<ElementCount, std::int64_t> wanted;
    for (std::uint32_t step = 0; step < step_.backward.size(); ++step) {
      for (const std::uint32_t parameter : step_.backward[step].ready) {
        const TensorSize& size = network_.sizes[network_.parameters[parameter].size];
        const ElementCount elements = count_of(size);
        ++wanted[elements];
        const double bytes = static_cast<double>(bytes_of(size.type)) * static_cast<double>(elements);
        out_.lifetimes.parameter_gradients.push_back(
            {static_cast<std::uint32_t>(step_.forward.size()) + step, last_moment(), {bytes, 0}});
      }
    }
    for (std::uint32_t i = 0; i < network_.storages.size(); ++i) {
      const RecordedStorage& storage = network_.storages[i];
      // A gradient outlives the step; storages freed in it are activations or temporaries.
      if (storage.freed || !is_made_in_backward(storage)) continue;
      const auto found = wanted.find(count_of(size_of(storage)));
      if (found == wanted.end() || found->second == 0) continue;
      --found->second, is_gradient_[i] = true;
    }
  }

  /// True where an operator of backward makes the storage.
  bool is_made_in_backward(const RecordedStorage& storage) const {
    return storage.made < network_.operators.size() && network_.operators[storage.made].backward;
  }

  /// Adds the batch, which the script keeps and recordings may leave out.
  void inputs() {
    std::map<SizeId, int> there;
    for (const RecordedStorage& storage : network_.storages) {
      if (!storage.freed && storage.made == 0) ++there[storage.size];
    }
    for (const SizeId input : network_.inputs) {
      if (there[input]-- > 0) continue;
      const TensorSize& size = network_.sizes[input];
      const bool narrows = is_floating(size.type) && types_ != RecordedTypes::kept;
      out_.lifetimes.activations.push_back(
          {0, last_moment(), bytes_of_size(size), narrows ? kWideFloat : kCounted});
    }
  }

  /// Returns the bytes of a tensor as an amount; 16-bit elements count as 32 where types are not kept.
  Amount bytes_of_size(const TensorSize& size) const {
    const bool is_widened = is_16_bit(size.type) && types_ != RecordedTypes::kept;
    const double each = is_widened ? 4 : bytes_of(size.type);
    return amount_between(batch_, [&](double batch) { return each * size.elements(batch); });
  }

  /// True where a storage exists when this recorded operator runs.
  bool lives(const RecordedStorage& storage, std::uint32_t recorded) const {
    return storage.made <= recorded && (!storage.freed || *storage.freed >= recorded);
  }

  /// Decides the widths of storages in the order in which they are made, because a width may follow from an
  /// operand's.
  void decide_widths() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < network_.storages.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return network_.storages[a].made < network_.storages[b].made;
    });
    std::size_t next = 0;
    for (std::uint32_t at = 0; at < network_.operators.size(); ++at) {
      const std::size_t first = next;
      while (next < order.size() && network_.storages[order[next]].made == at) ++next;
      // Operands matter where a storage is made, and where a product may copy them.
      if (next > first || (maker_is_product(at) && !network_.operators[at].backward)) operands_of(at);
      for (std::size_t i = first; i < next; ++i) settle(order[i], at);
      for (std::size_t i = first; i < next; ++i)
        made_[count_of(size_of(network_.storages[order[i]]))].push_back(order[i]);
    }
  }

  /// True where the model's operator for this recorded one has matrix products.
  bool maker_is_product(std::uint32_t at) const {
    const Operator* op = maker(at);
    return op != nullptr && op->product_count > 0;
  }

  /// Finds the storages of an operator's floating-point operands by their number of elements.
  void operands_of(std::uint32_t at) {
    operands_.clear();
    for (const SizeId id : network_.operators[at].in) {
      if (!is_floating(network_.sizes[id].type)) continue;
      const auto found = made_.find(count_of(network_.sizes[id]));
      if (found == made_.end()) continue;
      // Operators come in their order, so a storage that is gone now is gone for all later ones too.
      std::vector<std::uint32_t>& alike = found->second;
      while (!alike.empty() && !lives(network_.storages[alike.back()], at)) alike.pop_back();
      if (!alike.empty()) operands_.push_back(alike.back());
    }
    if (!maker_is_product(at) || network_.operators[at].backward) return;
    for (const std::uint32_t operand : operands_) copy_for_product(operand, at);
  }

  /// Adds the 16-bit copy that a product reads under autocast. Where a product of backward frees the operand,
  /// the copy is kept in the operand's place.
  void copy_for_product(std::uint32_t operand, std::uint32_t at) {
    const RecordedStorage& storage = network_.storages[operand];
    if (narrow_[operand] || is_16_bit(size_of(storage).type)) return;
    const bool kept = storage.saved && storage.freed && maker_is_product(*storage.freed);
    const std::uint32_t from = moment(at), until = kept ? moment(*storage.freed) : from;
    if (kept) replaced_[operand] = from;
    out_.lifetimes.activations.push_back({from, until, bytes_of_size(size_of(storage)), kCastCopy});
  }

  /// Decides the width of one storage by the operator that makes it.
  void settle(std::uint32_t storage, std::uint32_t at) {
    const Operator* op = maker(at);
    if (op == nullptr || op->cls == OperatorClass::embedding || !op->half_capable) return;
    if (op->product_count > 0) {
      narrow_[storage] = true;
      return;
    }
    narrow_[storage] = !operands_.empty() && std::all_of(operands_.begin(), operands_.end(),
                                                         [&](std::uint32_t o) { return narrow_[o]; });
  }

  /// Returns the share of a mask: a byte on a GPU where a CPU makes a tensor of floating-point numbers.
  WidthShare mask_share(ElementType type) const {
    return types_ == RecordedTypes::kept && is_16_bit(type) ? kAlwaysHalf : kMaskBytes;
  }

  /// Returns the share of a storage in each width.
  WidthShare share_of(std::uint32_t i) const {
    const RecordedStorage& storage = network_.storages[i];
    const ElementType type = size_of(storage).type;
    if (storage.made < step_.is_mask.size() && step_.is_mask[storage.made]) return mask_share(type);
    if (types_ == RecordedTypes::kept) return kCounted;
    if (is_16_bit(type) && types_ == RecordedTypes::half_kept) return kAlwaysHalf;
    if (type != ElementType::f32 && !is_16_bit(type)) return kCounted;
    return narrow_[i] ? kNarrow : kWideFloat;
  }

  /// Adds the lifetime of a storage. It has two parts where a copy replaces it under autocast.
  void add(std::uint32_t i) {
    const RecordedStorage& storage = network_.storages[i];
    const Amount bytes = bytes_of_size(size_of(storage));
    const std::uint32_t from = moment(storage.made);
    const std::uint32_t until = std::max(from, storage.freed ? moment(*storage.freed) : last_moment());
    const auto replaced = replaced_.find(i);
    if (replaced == replaced_.end()) {
      out_.lifetimes.activations.push_back({from, until, bytes, share_of(i)});
    } else {
      // Under autocast the original ends where the copy begins; in other widths it lives on.
      const std::uint32_t last = std::clamp(replaced->second, from, until);
      out_.lifetimes.activations.push_back({from, last, bytes, share_of(i)});
      if (last < until) out_.lifetimes.activations.push_back({last + 1, until, bytes, kNotInAutocast});
    }
    if (storage.saved) save(storage, bytes);
    if (!is_made_in_backward(storage)) {
      const double sample = size_of(storage).elements(batch_) / batch_;
      out_.largest_elements = std::max(out_.largest_elements, static_cast<std::int64_t>(std::ceil(sample)));
    }
  }

  /// Counts a storage that autograd keeps, in all and for the layer that makes it.
  void save(const RecordedStorage& storage, Amount bytes) {
    out_.saved_bytes += bytes;
    const Operator* op = maker(storage.made);
    if (op != nullptr && op->layer < out_.saved_of_layer.size()) out_.saved_of_layer[op->layer] += bytes;
  }

  const RecordedNetwork& network_;
  const GroupedStep& step_;
  RecordedTypes types_;
  double batch_;
  StorageSums out_;
  std::vector<bool> is_gradient_, narrow_;
  /// Storages by their elements, in the order in which they are made, without some that are gone.
  std::unordered_map<ElementCount, std::vector<std::uint32_t>> made_;
  /// The moment from which a copy replaces a storage.
  std::unordered_map<std::uint32_t, std::uint32_t> replaced_;
  /// Storages of the present operator's operands.
  std::vector<std::uint32_t> operands_;
};

}  // namespace

StorageSums storages_of_step(const RecordedNetwork& network, const GroupedStep& step, RecordedTypes types,
                             std::size_t layers) {
  return StorageWalk(network, step, types, layers).run();
}

}  // namespace foretrain
