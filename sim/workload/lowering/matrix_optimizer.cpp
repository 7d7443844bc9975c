// A step of each optimizer as products and passes over the matrices that it treats apart.
#include "sim/workload/lowering/matrix_optimizer.hpp"

#include <algorithm>
#include <map>

namespace foretrain {

namespace {

constexpr double kFullBytes = 4;
/// Muon's Newton-Schulz iterations (torch.optim.Muon, ns_steps).
constexpr int kIterations = 5;
/// Shampoo's largest block (Distributed Shampoo, max_preconditioner_dim) [unverified].
constexpr std::int64_t kLargestBlock = 1024;

/// Returns one product of an m x k with a k x n matrix in fp32. Its size does not depend on the batch.
Operator matrix_product(double m, double n, double k) {
  const double bytes = kFullBytes * (m * k + k * n + m * n);
  const Product product{m, n, k, 1, 1, Product::Grows::nothing, 1, 1, {bytes, 0}};
  Operator op;
  op.cls = OperatorClass::gemm, op.call = HostCall::linear;
  op.flops = {2 * m * n * k, 0}, op.bytes = product.bytes;
  return op.with(product);
}

/// Returns the rank of the subspace that a matrix's gradient is projected to.
std::int64_t projected(const Optimizer& optimizer, const MatrixShape& shape) {
  return std::min(optimizer.rank, shape.shorter());
}

/// Returns the lengths of the blocks that a side is cut into.
std::vector<std::int64_t> blocks_of(std::int64_t side) {
  std::vector<std::int64_t> blocks(static_cast<std::size_t>(side / kLargestBlock), kLargestBlock);
  if (side % kLargestBlock > 0) blocks.push_back(side % kLargestBlock);
  return blocks;
}

/// Returns the sum of `of(rows, columns)` over all blocks.
template <typename Of>
double over_blocks(const MatrixShape& shape, const Of& of) {
  double sum = 0;
  for (const std::int64_t rows : blocks_of(shape.rows)) {
    for (const std::int64_t columns : blocks_of(shape.columns))
      sum += of(static_cast<double>(rows), static_cast<double>(columns));
  }
  return sum;
}

/// Returns the bytes of state of one matrix.
double bytes_of_matrix(const Optimizer& optimizer, const MatrixShape& shape, double width) {
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const auto rank = static_cast<double>(projected(optimizer, shape)),
             longer = static_cast<double>(shape.longer()), shorter = static_cast<double>(shape.shorter());
  switch (optimizer.kind) {
    case OptimizerKind::galore_adamw:
    case OptimizerKind::apollo_adamw:
      return width * rank * (shorter + 2 * longer);
    case OptimizerKind::galore_adamw_8bit:
      return width * rank * shorter + 2 * rank * longer;
    case OptimizerKind::shampoo:
      return 2 * kFullBytes * over_blocks(shape, [](double m, double n) { return m * m + n * n; }) +
             2 * kFullBytes * elements;
    default:
      return width * elements;
  }
}

/// Returns the bytes of Adam's two moments of a parameter that is no matrix.
double bytes_of_other(const Optimizer& optimizer, double elements, double width) {
  return optimizer.kind == OptimizerKind::galore_adamw_8bit ? 2 * elements : 2 * width * elements;
}

OptimizerLaunch pass_over_matrix(double elements, double bytes) {
  return {.bytes = Bytes{static_cast<std::int64_t>(bytes * elements)}, .count = 1};
}

/// Adds Muon's Newton-Schulz iterations: X X^T, its square, and their sum times X, five times.
void add_muon(const MatrixShape& shape, double width, MatrixStep& step) {
  const auto longer = static_cast<double>(shape.longer()), shorter = static_cast<double>(shape.shorter());
  const double elements = longer * shorter;
  step.products.push_back({matrix_product(shorter, shorter, longer), kIterations});
  step.products.push_back({matrix_product(shorter, shorter, shorter), kIterations});
  step.products.push_back({matrix_product(shorter, longer, shorter), kIterations});
  // Momentum, its Nesterov sum, the norm and the quotient, decay, the update; sums of the iterations in bf16.
  step.passes.push_back(pass_over_matrix(elements, width * (3 + 3 + 1 + 2 + 2 + 3)));
  step.passes.push_back(pass_over_matrix(shorter * shorter, kIterations * 2 * 3));
  step.passes.push_back(pass_over_matrix(elements, kIterations * 2 * 3));
}

/// Adds GaLore's step: the gradient is projected into the subspace, Adam steps there, and the update is
/// projected back.
void add_galore(const Optimizer& optimizer, const MatrixShape& shape, double width, MatrixStep& step) {
  const auto longer = static_cast<double>(shape.longer()), shorter = static_cast<double>(shape.shorter()),
             rank = static_cast<double>(projected(optimizer, shape));
  step.products.push_back({matrix_product(longer, rank, shorter), 1});
  step.products.push_back({matrix_product(longer, shorter, rank), 1});
  step.adam.push_back(projected(optimizer, shape) * shape.longer());
  step.passes.push_back(pass_over_matrix(longer * shorter, width * (2 + 3)));
  // The cost of a decomposition is spread over the steps between two of them.
  // Singular values with both sides: 6 m n^2 + 20 n^3 (Golub and Van Loan, R-SVD).
  step.decomposition_flops +=
      (6 * longer * shorter * shorter + 20 * shorter * shorter * shorter) / optimizer.update_gap;
}

/// Adds APOLLO's step: Adam of the gradient in a random subspace, whose norms scale the gradient itself.
void add_apollo(const Optimizer& optimizer, const MatrixShape& shape, double width, MatrixStep& step) {
  const auto longer = static_cast<double>(shape.longer()), shorter = static_cast<double>(shape.shorter()),
             rank = static_cast<double>(projected(optimizer, shape));
  step.products.push_back({matrix_product(longer, rank, shorter), 1});
  step.adam.push_back(projected(optimizer, shape) * shape.longer());
  step.passes.push_back(pass_over_matrix(longer * shorter, width * (2 + 3)));
}

/// Adds Shampoo's step: both factors, and the gradient between both roots. The roots come from eigenvalues,
/// at 25 n^3 FLOPs for each factor.
void add_shampoo(const Optimizer& optimizer, const MatrixShape& shape, MatrixStep& step) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> alike;
  for (const std::int64_t rows : blocks_of(shape.rows)) {
    for (const std::int64_t columns : blocks_of(shape.columns)) ++alike[{rows, columns}];
  }
  for (const auto& [sides, count] : alike) {
    const auto m = static_cast<double>(sides.first), n = static_cast<double>(sides.second);
    step.products.push_back({matrix_product(m, m, n), count});
    step.products.push_back({matrix_product(n, n, m), count});
    step.products.push_back({matrix_product(m, n, m), count});
    step.products.push_back({matrix_product(m, n, n), count});
    step.decomposition_flops += count * 25 * (m * m * m + n * n * n) / optimizer.update_gap;
  }
  step.adam.push_back(shape.rows * shape.columns);  // grafting
}

}  // namespace

std::vector<std::optional<MatrixShape>> matrices_of(const ExpandedModel& model) {
  // A weight is a matrix here when one product reads it, inside a block, with two real sides.
  const std::vector<MatrixShape> shapes = matrix_shapes(model);
  std::vector<std::optional<MatrixShape>> out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const bool is_matrix = shapes[i].read_by == WeightReader::product &&
                           block_number(model.parameters[i].name) >= 0 && shapes[i].shorter() > 1;
    out.push_back(is_matrix ? std::optional(shapes[i]) : std::nullopt);
  }
  return out;
}

double matrix_state_bytes(const Optimizer& optimizer, const ExpandedModel& model, double element_bytes) {
  const std::vector<std::optional<MatrixShape>> shapes = matrices_of(model);
  double sum = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Parameter& parameter = model.parameters[i];
    const double width = element_bytes > 0 ? element_bytes : static_cast<double>(parameter.element_bytes);
    sum += shapes[i] ? bytes_of_matrix(optimizer, *shapes[i], width)
                     : bytes_of_other(optimizer, static_cast<double>(parameter.elements), width);
  }
  return sum;
}

MatrixStep matrix_step(const Optimizer& optimizer, const ExpandedModel& model) {
  const std::vector<std::optional<MatrixShape>> shapes = matrices_of(model);
  MatrixStep step;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto width = static_cast<double>(model.parameters[i].element_bytes);
    if (!shapes[i])
      step.adam.push_back(model.parameters[i].elements);
    else if (optimizer.kind == OptimizerKind::muon)
      add_muon(*shapes[i], width, step);
    else if (optimizer.kind == OptimizerKind::shampoo)
      add_shampoo(optimizer, *shapes[i], step);
    else if (optimizer.kind == OptimizerKind::apollo_adamw)
      add_apollo(optimizer, *shapes[i], width, step);
    else
      add_galore(optimizer, *shapes[i], width, step);
  }
  return step;
}

}  // namespace foretrain
