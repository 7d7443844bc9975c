// A model knows the sizes of its parameters, not their shapes; the matrix products of a parameter's layer and
// the width of its tables do.
#include <algorithm>
#include <cmath>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/ddp/ddp_reducer.hpp"

namespace foretrain {

namespace {

/// The weights of one product, outputs by inputs; of `count` independent ones (heads, groups) or of one that
/// they share.
bool is_weight_of(const Product& product, std::int64_t elements, MatrixShape& shape) {
  const auto rows = std::llround(product.n), columns = std::llround(product.k),
             count = std::llround(product.count);
  if (rows * columns == elements) return shape = {rows, columns}, true;
  if (rows * columns * count == elements) return shape = {rows * count, columns}, true;
  return false;
}

MatrixShape shape_in(const Operator& op, const ExpandedModel& model, std::int64_t elements) {
  MatrixShape shape{elements, 1};
  for (int i = 0; i < op.product_count; ++i) {
    if (is_weight_of(op.products[static_cast<std::size_t>(i)], elements, shape)) return shape;
  }
  if (op.cls == OperatorClass::embedding) {
    const std::int64_t width = model.layer_traces[op.layer].result.width();
    if (width > 1 && elements % width == 0 && elements > width) return {elements / width, width};
  }
  return shape;
}

}  // namespace

std::vector<MatrixShape> matrix_shapes(const ExpandedModel& model) {
  std::vector<MatrixShape> shapes;
  for (const Parameter& parameter : model.parameters) {
    MatrixShape shape{parameter.elements, 1};
    for (const Operator& op : model.forward) {
      if (op.layer == parameter.layer && shape.columns == 1) shape = shape_in(op, model, parameter.elements);
    }
    shapes.push_back(shape);
  }
  return shapes;
}

PowerSgdBucket split_bucket(const Bucket& bucket, const std::vector<MatrixShape>& shapes,
                            const DdpOptions& options) {
  PowerSgdBucket split;
  for (const std::uint32_t parameter : bucket.parameters) {
    const MatrixShape& shape = shapes[parameter];
    const LowRank low{
        shape, std::min({shape.rows, shape.columns, static_cast<std::int64_t>(options.powersgd_rank)})};
    const double compressed = static_cast<double>(low.p_elements() + low.q_elements());
    const std::int64_t elements = shape.rows * shape.columns;
    if (compressed * options.powersgd_min_rate >= static_cast<double>(elements)) {
      split.vectors.push_back(elements);
      split.plain += elements;
      continue;
    }
    split.matrices.push_back(low);
    split.p += low.p_elements();
    split.q += low.q_elements();
  }
  return split;
}

std::int64_t gram_schmidt_kernels(std::int64_t rank) { return 2 * rank + 3 * (rank - 1); }

}  // namespace foretrain
