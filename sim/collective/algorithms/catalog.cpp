// One row per algorithm.
#include "sim/collective/algorithms/catalog.hpp"

#include <algorithm>

namespace foretrain {

const std::vector<CollectiveEntry>& collective_catalog() {
  static const std::vector<CollectiveEntry> rows{kRingAllReduce, kRingBroadcast, kRingReduceScatter, kRingAllGather};
  return rows;
}

const CollectiveEntry& ring_algorithm(CollectiveOp op) {
  const auto& rows = collective_catalog();
  return *std::find_if(rows.begin(), rows.end(), [op](const CollectiveEntry& row) { return row.op == op; });
}

}  // namespace foretrain
