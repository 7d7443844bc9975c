// Bucket formation: one pass over the parameters with two limits.
//
// PyTorch fills buckets in the order in which gradients arrive, which the first iteration records. A bucket
// is closed as soon as its size reaches the limit, so it may exceed the limit by one parameter. The first
// limit is small (1 MiB), so that communication starts early. With find_unused_parameters the order is that
// of registration, reversed, and is never updated. Every parameter is in exactly one bucket.
#include "sim/strategy/ddp/ddp_buckets.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// True for "fc.bias" and "fc.weight".
bool is_bias_of(std::string_view bias, std::string_view weight) {
  constexpr std::string_view kBias = "bias", kWeight = "weight";
  if (!bias.ends_with(kBias) || !weight.ends_with(kWeight)) return false;
  bias.remove_suffix(kBias.size()), weight.remove_suffix(kWeight.size());
  return bias == weight;
}

/// Returns the parameters in order of arrival. Only in linear layers does a bias come directly before its
/// weight (BackwardStep::ready).
std::vector<std::uint32_t> arrival_order(const ExpandedModel& model, GradientArrival arrival) {
  std::vector<std::uint32_t> order = model.gradient_ready_order();
  if (arrival == GradientArrival::bias_first) return order;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (is_bias_of(model.parameters[order[i]].name, model.parameters[order[i + 1]].name))
      std::swap(order[i], order[i + 1]);
  }
  return order;
}

/// Fills buckets in the given order; the last one may stay below its limit.
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

// A given bucket_cap limits the first bucket too, since PyTorch 2.0.
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
  // A network recorded under autocast has that order already.
  const bool has_own_order =
      workload.model && workload.model->recording && workload.model->recording->autocast;
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
