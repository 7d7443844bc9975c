// What the links of a node have left while channels are laid over them.
#pragma once

#include <vector>

#include "sim/collective/nccl/node_map.hpp"

namespace foretrain::nccl {

class LinkBudget {
 public:
  explicit LinkBudget(const std::vector<Milli>& capacities) : free_(capacities) {}

  /// Books `speed` on every link of a path, or nothing when one of them is too full.
  bool take(const NodePath& path, Milli speed);
  /// Undoes a successful take.
  void give_back(const NodePath& path, Milli speed) { give_back(path, speed, path.hops()); }
  /// Steps of all paths booked.
  int hops() const { return hops_; }

 private:
  struct Load {
    Milli forward, back;
  };
  static Load load_of(const NodePath& path, const PathStep& step, Milli speed);
  void give_back(const NodePath& path, Milli speed, int steps);

  std::vector<Milli> free_;
  int hops_ = 0;
};

}  // namespace foretrain::nccl
