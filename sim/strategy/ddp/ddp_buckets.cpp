// Bucket formation: one pass over the parameters with two limits.
#include "sim/strategy/ddp/ddp_buckets.hpp"

#include <algorithm>
#include <numeric>

namespace foretrain {

namespace {

std::vector<Bucket> fill_buckets(const ExpandedModel& model, const std::vector<std::uint32_t>& order,
                                 const StrategyKnobs& knobs, std::int64_t element_bytes) {
  std::vector<Bucket> buckets;
  Bucket open;
  Bytes limit = knobs.first_bucket;
  for (const std::uint32_t parameter : order) {
    open.parameters.push_back(parameter);
    open.size += Bytes{element_bytes * model.parameters[parameter].elements};
    if (open.size < limit) continue;
    buckets.push_back(std::move(open));
    open = {};
    limit = knobs.bucket_cap;
  }
  if (!open.parameters.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace

std::vector<Bucket> form_buckets(const ExpandedModel& model, const StrategyKnobs& knobs,
                                 std::int64_t element_bytes) {
  const bool rebuilt = !knobs.find_unused_parameters || knobs.static_graph;
  if (rebuilt) return fill_buckets(model, model.gradient_ready_order(), knobs, element_bytes);
  std::vector<std::uint32_t> registration(model.parameters.size());
  std::iota(registration.begin(), registration.end(), 0u);
  auto buckets = fill_buckets(model, registration, knobs, element_bytes);
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

std::int64_t gradient_element_bytes(const Workload& workload) {
  return is_half(workload.precision) && workload.half_weights ? 2 : 4;
}

}  // namespace foretrain
