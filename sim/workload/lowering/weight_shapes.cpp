// Shapes of weights, found by size: a parameter is read by the first operator of its layer whose weight has
// as many elements.
#include "sim/workload/lowering/weight_shapes.hpp"

#include <cmath>

namespace foretrain {

namespace {

/// True where `elements` is the size of the product's weight, outputs by inputs, which is then stored in
/// `shape`. The weight belongs to `count` independent products (heads, groups) or to one that they share.
bool is_weight_of(const Product& product, std::int64_t elements, MatrixShape& shape) {
  const auto rows = std::llround(product.n), columns = std::llround(product.k),
             count = std::llround(product.count);
  if (rows * columns == elements) return shape = {rows, columns, WeightReader::product}, true;
  if (rows * columns * count == elements)
    return shape = {rows * count, columns, WeightReader::products}, true;
  return false;
}

/// Returns the shape of a weight of this size in the operator, or that of a vector.
MatrixShape shape_in(const Operator& op, const ExpandedModel& model, std::int64_t elements) {
  MatrixShape shape{elements, 1};
  for (int i = 0; i < op.product_count; ++i) {
    if (!is_weight_of(op.products[static_cast<std::size_t>(i)], elements, shape)) continue;
    if (op.cls != OperatorClass::gemm) shape.read_by = WeightReader::convolution;
    return shape;
  }
  if (op.cls == OperatorClass::embedding) {
    const std::int64_t width = model.layer_traces[op.layer].result.width();
    if (width > 1 && elements % width == 0 && elements > width)
      return {elements / width, width, WeightReader::table};
  }
  return shape;
}

}  // namespace

std::vector<MatrixShape> matrix_shapes(const ExpandedModel& model) {
  std::vector<std::vector<const Operator*>> of_layer(model.layer_names.size());
  for (const Operator& op : model.forward) {
    if (op.layer < of_layer.size()) of_layer[op.layer].push_back(&op);
  }
  std::vector<MatrixShape> shapes;
  shapes.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) {
    MatrixShape shape{parameter.elements, 1};
    if (parameter.layer < of_layer.size()) {
      for (const Operator* op : of_layer[parameter.layer])
        if (shape.columns == 1) shape = shape_in(*op, model, parameter.elements);
    }
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace foretrain
