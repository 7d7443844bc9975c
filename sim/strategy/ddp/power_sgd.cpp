// PowerSGD's choice: a gradient is compressed where two thin matrices are smaller by the requested rate.
#include <algorithm>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/ddp/ddp_reducer.hpp"

namespace foretrain {

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
