// Follows the tensors of a tape from the operator that makes them to the last one that needs them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/tape/lifetimes.hpp"

namespace foretrain {

/// Told by the tape what it records, in its order. A storage lives from the operator that makes it to its
/// last reader, or to the backward step of the last node that keeps it; a gradient from the first node that
/// hands it on to the node that made the tensor.
class LifetimeRecorder {
 public:
  using Storage = std::uint32_t;  ///< numbered in the order of make()
  using Tensor = std::uint32_t;

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
  void add_node(Storage made);
  void drop_node();

  /// Backward has run the last node not yet played, the one that made `tensor`, up to step `last`.
  void play(Tensor tensor, std::uint32_t last);
  struct Handed {
    Tensor made = 0, parent = 0;        ///< the node's tensor, and the one that receives a gradient
    Storage storage = 0;                ///< of the parent
    double bytes = 0;                   ///< of the parent, fp32
    bool is_view = false;               ///< the node has no operators: the gradient is passed on as it is
    std::uint32_t first = 0, last = 0;  ///< the node's steps
  };
  void hand_gradient(const Handed& handed);
  void parameter_gradient(std::uint32_t parameter, double bytes, std::uint32_t step);

  Lifetimes finish(std::uint32_t backward_steps) &&;

 private:
  static constexpr std::uint32_t kNever = UINT32_MAX;
  using Share = std::array<float, 3>;
  /// A copy in another width that autocast makes of an operand.
  struct Cast {
    Storage of = 0;
    std::uint32_t at = 0;
    Share share{};
  };
  struct StorageLife {
    double bytes = 0;
    std::uint32_t made = 0, last_read = 0;
    std::uint32_t kept = 0, kept_autocast = 0;  ///< moment of the last backward step that needs it; 0 = none
    bool is_float = true, is_half = false;      ///< autocast stores it in 16 bit
    bool both_kept = false;  ///< the operator that made it needs all its operands again: a product
    bool is_input = false;
    std::vector<Storage> parents;
    std::vector<Cast> casts;
  };
  struct KeptBytes {
    Amount bytes;
    Share share{};
    std::uint32_t at = 0;
  };
  struct Node {
    std::vector<Storage> kept, kept_by_autocast;
    std::vector<KeptBytes> bytes;
    std::vector<std::pair<double, Cast>> casts;
  };

  std::uint32_t now() const { return operators_; }
  void settle(StorageLife& made, const Operator& op);
  void add(std::uint32_t from, std::uint32_t until, Amount bytes, Share share);
  void add_storage(const StorageLife& life);

  std::vector<StorageLife> storages_;
  std::vector<Storage> unsettled_;  ///< made by the operator to come
  std::vector<Storage> kept_;
  std::vector<KeptBytes> kept_bytes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> gradient_of_;  ///< by tensor: index into out_.activations, kNever
  std::vector<std::uint8_t> has_gradient_;  ///< by parameter
  std::optional<Operator> last_;
  std::uint32_t operators_ = 0;
  Lifetimes out_;
};

}  // namespace foretrain
