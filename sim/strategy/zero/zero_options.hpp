// The options of DeepSpeed's ZeRO, for all stages.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/strategy/process/offload_options.hpp"

namespace foretrain {

/// DeepSpeed's defaults; sizes are in elements. The catalog's rows say which stage has which options.
struct ZeroOptions {
  std::int64_t reduce_bucket_size = 500'000'000;
  std::int64_t allgather_bucket_size = 500'000'000;
  std::optional<bool> overlap_comm{};                  ///< true by default in stage 3 only
  std::int64_t prefetch_bucket_size = 50'000'000;      ///< stage 3
  std::int64_t param_persistence_threshold = 100'000;  ///< stage 3
  std::int64_t max_live_parameters = 1'000'000'000;    ///< stage 3
  std::int64_t max_reuse_distance = 1'000'000'000;     ///< stage 3
  bool multi_rank_allreduce = true;                    ///< use_multi_rank_bucket_allreduce, stages 1 and 2
  bool reduce_scatter = true;  ///< false: buckets are all-reduced uncut, stages 1 and 2
  OffloadDevice offload_optimizer = OffloadDevice::none;
  OffloadDevice offload_param = OffloadDevice::none;  ///< stage 3
};

}  // namespace foretrain
