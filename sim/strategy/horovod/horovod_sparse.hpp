// Gradients that are rows of a looked-up table: TensorFlow hands them over as values and indices
// (tf.IndexedSlices).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// What one rank has of a table's gradient after a backward pass.
struct SparseGradient {
  Bytes values{};
  Bytes indices{};  ///< of 8 bytes
  Bytes bytes() const { return {values.count + indices.count}; }
};

/// By parameter. Sparse are tables in which every sample looks up rows of its own and which nothing else
/// uses: a table that is also the weight of a product gets a dense gradient, for TensorFlow adds up the two.
/// Empty outside TensorFlow and with `sparse_as_dense`.
std::vector<std::optional<SparseGradient>> sparse_gradients(const PlanRequest& request);

}  // namespace foretrain
