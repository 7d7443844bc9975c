// PowerSGD: which gradients are replaced by two thin matrices, and what remains to be sent.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/ddp/ddp_buckets.hpp"

namespace foretrain {

/// A gradient as a matrix, first dimension by all others; columns = 1 for vectors.
struct MatrixShape {
  std::int64_t rows = 0, columns = 1;
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// The shape of every parameter: that of the matrix product or table which reads it; vectors where its layer
/// has none of that size.
std::vector<MatrixShape> matrix_shapes(const ExpandedModel& model);

/// A matrix M of n x m that is sent as P (n x rank) and Q (m x rank), M = P Q^T.
struct LowRank {
  MatrixShape matrix;
  std::int64_t rank = 1;
  std::int64_t p_elements() const { return matrix.rows * rank; }
  std::int64_t q_elements() const { return matrix.columns * rank; }
};

/// The three messages of a bucket, in elements, and the matrices behind the last two.
struct PowerSgdBucket {
  std::vector<LowRank> matrices;
  std::vector<std::int64_t> vectors;  ///< sizes of the gradients that are sent as they are
  std::int64_t plain = 0, p = 0, q = 0;
};

/// torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py: n x m is compressed when (n + m) x rank x
/// min_rate < n x m, with rank = min(n, m, powersgd_rank).
PowerSgdBucket split_bucket(const Bucket& bucket, const std::vector<MatrixShape>& shapes,
                            const DdpOptions& options);

/// Kernels of Gram-Schmidt on a matrix of `rank` columns: norm and division of each, and three to subtract it
/// from those that follow.
std::int64_t gram_schmidt_kernels(std::int64_t rank);

}  // namespace foretrain
