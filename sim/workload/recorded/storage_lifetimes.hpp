// Lifetimes of the storages of a recorded step, with the width that each has under autocast.
#pragma once

#include "sim/workload/recorded/call_groups.hpp"
#include "sim/workload/tape/lifetimes.hpp"

namespace foretrain {

/// Memory of a recorded step: lifetimes of its storages, and the bytes that backward keeps, in all and by
/// layer.
struct StorageSums {
  Lifetimes lifetimes;
  Amount saved_bytes;
  std::vector<Amount> saved_of_layer;
  /// Elements of the largest tensor, for one sample.
  std::int64_t largest_elements = 0;
};

/// Returns the lifetimes of all storages. Where types are kept a storage has its own type. Otherwise autocast
/// decides its width by the operator that makes it, as for networks written layer by layer
/// (tape/lifetime_recorder.cpp). Products store 16 bits, operators that are not half capable 32, and the
/// others the width of the operand of their size. Gradients of parameters are recognized by their sizes.
StorageSums storages_of_step(const RecordedNetwork& network, const GroupedStep& step, RecordedTypes types,
                             std::size_t layers);

}  // namespace foretrain
