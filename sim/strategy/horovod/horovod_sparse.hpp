// Sparse gradients: rows of a looked-up table, which TensorFlow hands over as values and indices
// (tf.IndexedSlices).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// The part of a table's gradient that one rank has after a backward pass.
struct SparseGradient {
  Bytes values{};
  Bytes indices{};  ///< indices of 8 bytes each
  Bytes bytes() const { return {values.count + indices.count}; }
};

/// Returns the sparse gradients by parameter. Sparse are tables in which every sample looks up rows of its
/// own and which nothing else uses. A table that is also the weight of a product gets a dense gradient,
/// because TensorFlow adds up the two. All entries are empty outside TensorFlow and with `sparse_as_dense`.
std::vector<std::optional<SparseGradient>> sparse_gradients(const PlanRequest& request);

}  // namespace foretrain
