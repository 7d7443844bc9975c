// Buckets of gradients, as DistributedDataParallel groups them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/strategy.hpp"

namespace foretrain {

struct DdpOptions;

/// A bucket: its parameters (indices into ExpandedModel::parameters) and its bytes before compression.
struct Bucket {
  std::vector<std::uint32_t> parameters;
  Bytes size{};
};

/// The order in which the gradients of a linear layer arrive. It is the bias first, or under autocast the
/// weight first: there the bias passes the backward of its cast, which was made before that of the weight
/// (arguments are cast from the last to the first; seen with PyTorch 2.9 and in recorded programs).
enum class GradientArrival : std::uint8_t { bias_first, weight_first };
/// Returns the order of arrival in a workload.
GradientArrival arrival_in(const Workload& workload);

/// Returns the buckets in launch order. A parameter is appended before the limit is tested, so buckets exceed
/// it and large tensors are never split. The first limit is `first_bucket`, all others are `bucket_cap`. The
/// order of parameters is that of gradient arrival. With find_unused_parameters (and not static_graph) it is
/// registration order and the list is reversed, because PyTorch then never rebuilds the buckets
/// (torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size). Linear in the number of
/// parameters.
std::vector<Bucket> form_buckets(const ExpandedModel& model, const DdpOptions& options,
                                 std::int64_t element_bytes = 4,
                                 GradientArrival arrival = GradientArrival::bias_first);

/// Returns the bytes of one element of a gradient: 2 with 16-bit weights, otherwise 4.
std::int64_t gradient_element_bytes(const Workload& workload);

}  // namespace foretrain
