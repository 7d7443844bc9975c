// How DistributedDataParallel groups gradients into buckets.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

struct DdpOptions;

/// One bucket: its parameters (indices into ExpandedModel::parameters) and its size on the wire.
struct Bucket {
  std::vector<std::uint32_t> parameters;
  Bytes size{};
};

/// Buckets in launch order. A parameter is appended first, then the limit is tested, so buckets exceed it and
/// large tensors are never split; the first limit is `first_bucket`, all others `bucket_cap`. The order is
/// that of gradient arrival; with find_unused_parameters (and not static_graph) it is registration order and
/// the list is reversed, since PyTorch then never rebuilds the buckets
/// (torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size).
std::vector<Bucket> form_buckets(const ExpandedModel& model, const DdpOptions& options,
                                 std::int64_t element_bytes = 4);

/// Bytes of one element of a gradient: 2 with 16-bit weights, otherwise 4.
std::int64_t gradient_element_bytes(const Workload& workload);

}  // namespace foretrain
