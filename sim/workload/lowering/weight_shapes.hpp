// Shapes of trained tensors. A model knows the number of elements of each; the products and tables of its
// layer show the sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// The operator that reads a tensor: none with sides (a vector), one product, several equal products (heads,
/// groups, experts), a convolution, or a table that is looked up.
enum class WeightReader : std::uint8_t { vector, product, products, convolution, table };

/// A tensor as a matrix, first dimension by all others; columns = 1 for vectors.
struct MatrixShape {
  std::int64_t rows = 0, columns = 1;
  WeightReader read_by = WeightReader::vector;
  std::int64_t longer() const { return std::max(rows, columns); }
  std::int64_t shorter() const { return std::min(rows, columns); }
  friend bool operator==(const MatrixShape& a, const MatrixShape& b) {
    return a.rows == b.rows && a.columns == b.columns;
  }
};

/// Returns a shape by trained parameter, in the order of model.parameters. Linear in parameters and
/// operators.
std::vector<MatrixShape> matrix_shapes(const ExpandedModel& model);

}  // namespace foretrain
