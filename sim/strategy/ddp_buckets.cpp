// Bucket formation: one pass over the parameters with two limits.
#include "sim/strategy/ddp_buckets.hpp"

#include <algorithm>
#include <numeric>

namespace foretrain {

namespace {

std::vector<Bucket> fill_buckets(const ExpandedModel& model, const std::vector<std::uint32_t>& order, Bytes first, Bytes cap) {
  std::vector<Bucket> buckets;
  Bucket open;
  Bytes limit = first;
  for (const std::uint32_t parameter : order) {
    open.parameters.push_back(parameter);
    open.size += Bytes{4 * model.parameters[parameter].elements};
    if (open.size < limit) continue;
    buckets.push_back(std::move(open));
    open = {};
    limit = cap;
  }
  if (!open.parameters.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace

std::vector<Bucket> form_buckets(const ExpandedModel& model, const StrategyKnobs& knobs) {
  const bool rebuilt = !knobs.find_unused_parameters || knobs.static_graph;
  if (rebuilt) return fill_buckets(model, model.gradient_ready_order(), knobs.first_bucket, knobs.bucket_cap);
  std::vector<std::uint32_t> registration(model.parameters.size());
  std::iota(registration.begin(), registration.end(), 0u);
  auto buckets = fill_buckets(model, registration, knobs.first_bucket, knobs.bucket_cap);
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

}  // namespace foretrain
