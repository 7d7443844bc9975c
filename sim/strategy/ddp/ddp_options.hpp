// The options of DistributedDataParallel.
#pragma once

#include "sim/base/units.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/workload/framework.hpp"

namespace foretrain {

/// PyTorch's defaults. The compression of gradients is among the GradientOptions.
struct DdpOptions {
  Bytes bucket_cap{25 << 20};
  Bytes first_bucket{1 << 20};
  /// bucket_cap limits the first bucket too, since PyTorch 2, unless that is given
  bool cap_is_given = false;
  bool find_unused_parameters = false;
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  bool broadcast_buffers = true;
  bool wrap_one_gpu = false;  ///< the model is wrapped even when there is one process
  bool wrapped = true;        ///< false: processes that were started together, each with a model of its own
  bool sync_batch_norm = false;
  int powersgd_rank = 1;         ///< matrix_approximation_rank
  double powersgd_min_rate = 2;  ///< min_compression_rate
  Backend backend = Backend::nccl;
};

/// Returns the options as this version of PyTorch takes them (torch/nn/parallel/distributed.py:
/// bucket_bytes_cap_default).
DdpOptions options_in(DdpOptions options, FrameworkVersion version);  // ddp_buckets.cpp

}  // namespace foretrain
