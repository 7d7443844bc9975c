// Bucket formation: one pass over the parameters with two limits.
#include "sim/strategy/ddp/ddp_buckets.hpp"

#include <algorithm>
#include <numeric>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

std::vector<std::uint32_t> arrival_order(const ExpandedModel& model, GradientArrival arrival) {
  if (arrival == GradientArrival::bias_first) return model.gradient_ready_order();
  std::vector<std::uint32_t> order;
  for (const BackwardStep& step : model.backward) {
    const bool is_linear = step.op.call == HostCall::linear && step.ready.size() == 2;
    if (is_linear)
      order.insert(order.end(), step.ready.rbegin(), step.ready.rend());
    else
      order.insert(order.end(), step.ready.begin(), step.ready.end());
  }
  return order;
}

std::vector<Bucket> fill_buckets(const ExpandedModel& model, const std::vector<std::uint32_t>& order,
                                 const DdpOptions& options, std::int64_t element_bytes) {
  std::vector<Bucket> buckets;
  Bucket open;
  Bytes limit = options.first_bucket;
  for (const std::uint32_t parameter : order) {
    open.parameters.push_back(parameter);
    open.size += Bytes{element_bytes * model.parameters[parameter].elements};
    if (open.size < limit) continue;
    buckets.push_back(std::move(open));
    open = {};
    limit = options.bucket_cap;
  }
  if (!open.parameters.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace

DdpOptions options_in(DdpOptions options, FrameworkVersion version) {
  constexpr FrameworkVersion kCapLimitsAll{2, 0};
  if (options.cap_is_given && version >= kCapLimitsAll) options.first_bucket = options.bucket_cap;
  return options;
}

std::vector<Bucket> form_buckets(const ExpandedModel& model, const DdpOptions& options,
                                 std::int64_t element_bytes, GradientArrival arrival) {
  const bool rebuilt = !options.find_unused_parameters || options.static_graph;
  if (rebuilt) return fill_buckets(model, arrival_order(model, arrival), options, element_bytes);
  std::vector<std::uint32_t> registration(model.parameters.size());
  std::iota(registration.begin(), registration.end(), 0u);
  auto buckets = fill_buckets(model, registration, options, element_bytes);
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

GradientArrival arrival_in(const Workload& workload) {
  const bool is_autocast =
      is_half(workload.precision) && !has_half_weights(workload) && profile_of(workload.framework).autocasts;
  const bool has_own_order = workload.model && workload.model->recording != nullptr;
  return is_autocast && !has_own_order ? GradientArrival::weight_first : GradientArrival::bias_first;
}

std::int64_t gradient_element_bytes(const Workload& workload) {
  constexpr std::int64_t kHalfBytes = 2, kFullBytes = 4;
  const ExpandedModel* model = workload.model.get();
  const bool has_own =
      !workload.half_weights && model != nullptr && model->has_half_weights && !model->parameters.empty();
  if (has_own) return model->parameters.front().element_bytes;
  return has_half_weights(workload) ? kHalfBytes : kFullBytes;
}

}  // namespace foretrain
