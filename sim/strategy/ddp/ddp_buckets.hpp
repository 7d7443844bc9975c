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

/// In which order the gradients of a linear layer come: of the bias first, or under autocast of the weight
/// first. There a bias passes the backward of its cast, which was made before that of the weight (arguments
/// are cast from the last to the first; seen with PyTorch 2.9 and in recorded programs).
enum class GradientArrival : std::uint8_t { bias_first, weight_first };
GradientArrival arrival_in(const Workload& workload);

/// Buckets in launch order. A parameter is appended first, then the limit is tested, so buckets exceed it and
/// large tensors are never split; the first limit is `first_bucket`, all others `bucket_cap`. The order is
/// that of gradient arrival; with find_unused_parameters (and not static_graph) it is registration order and
/// the list is reversed, since PyTorch then never rebuilds the buckets
/// (torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size).
std::vector<Bucket> form_buckets(const ExpandedModel& model, const DdpOptions& options,
                                 std::int64_t element_bytes = 4,
                                 GradientArrival arrival = GradientArrival::bias_first);

/// Bytes of one element of a gradient: 2 with 16-bit weights, otherwise 4.
std::int64_t gradient_element_bytes(const Workload& workload);

}  // namespace foretrain
