// The storages of a recorded step as lifetimes of the model, with the width that each has under autocast.
#pragma once

#include "sim/workload/recorded/call_groups.hpp"
#include "sim/workload/tape/lifetimes.hpp"

namespace foretrain {

/// Memory of a recorded step: lifetimes of its storages and the bytes that backward keeps, in all and by
/// layer.
struct StorageSums {
  Lifetimes lifetimes;
  Amount saved_bytes;
  std::vector<Amount> saved_of_layer;
  std::int64_t largest_elements = 0;  ///< of a sample
};

/// Where types are kept a storage has its own. Else autocast decides its width by the operator that makes it,
/// as for networks written layer by layer (tape/lifetime_recorder.cpp): products store 16 bits, what is not
/// half capable 32, the others the width of the operand of their size. Gradients of parameters are told apart
/// by their sizes.
StorageSums storages_of_step(const RecordedNetwork& network, const GroupedStep& step, RecordedTypes types,
                             std::size_t layers);

}  // namespace foretrain
