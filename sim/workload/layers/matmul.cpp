// The product of two results, as graphs write attention: one product for each leading dimension.
//
// [heads, m, k] times [heads, k, n] is 2 heads m n k FLOPs. Both operands are kept, and backward has a
// product of the same size for each.
#include <fmt/format.h>

#include "sim/workload/layers/attention.hpp"
#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

/// Sizes of an operand: leading dimension, rows and columns.
struct MatmulSize {
  std::int64_t heads = 1, rows = 1, width = 1;
};

MatmulSize matmul_size(const Shape& shape) {
  if (shape.kind == ShapeKind::image) return {shape.size[0], shape.size[1], shape.size[2]};
  return {1, shape.rows(), shape.width()};
}

// Images stand for three-dimensional tensors here, sequences and features for matrices.
Applied join_matmul(Tape& tape, const Layer&, const std::vector<TensorId>& inputs) {
  const Shape left = tape.at(inputs[0]).shape, right = tape.at(inputs.back()).shape;
  const MatmulSize a = matmul_size(left), b = matmul_size(right);
  const bool are_matrices = left.kind != ShapeKind::tokens && left.kind != ShapeKind::volume;
  if (inputs.size() != 2 || left.kind != right.kind || !are_matrices || a.heads != b.heads ||
      a.width != b.rows)
    return misfit(fmt::format("matmul takes [heads, m, k] and [heads, k, n], not {} and {}", to_string(left),
                              to_string(right)),
                  "two results, as `from = [\"a\", \"b\"]`");
  if (!bounded_product({a.heads, a.rows, b.width}))
    return misfit("matmul makes a tensor of more than 2^40 elements", "use smaller operands");
  // The product has the sizes of q k^T: rows of the left operand, columns of the right one.
  const AttentionSize size{a.rows, b.width, a.heads, a.width};
  const bool is_image = left.kind == ShapeKind::image;
  const Shape made = is_image ? Shape::image(a.heads, a.rows, b.width) : Shape::sequence(a.rows, b.width);
  const TensorId result = tape.result(made, inputs, false);
  tape.forward(batched_products(size, {size.makes_scores()}));
  for (const TensorId input : inputs) tape.save(input);
  tape.node({backward_of(batched_products(size, {size.makes_key_rows(), size.makes_query_rows()}))}, inputs,
            result);
  return {result, "", ""};
}

void check_matmul(const LayerCheck& check) { check.joins_several(); }

}  // namespace

LayerType matmul_layer() { return {.name = "matmul", .join = join_matmul, .check = check_matmul}; }

}  // namespace foretrain
