// Packs of gradients, after tensorflow/python/distribute: ConcatAndSplitPacker in cross_device_ops.py,
// group_by_size in cross_device_utils.py.
#include <algorithm>
#include <numeric>

#include "sim/strategy/replicas/gradient_exchange.hpp"

namespace foretrain {

namespace {

Bytes size_of(const ExpandedModel& model, std::uint32_t parameter, std::int64_t element_bytes) {
  return {element_bytes * model.parameters[parameter].elements};
}

}  // namespace

/// Messages of a pack hold its gradients without padding.
Bytes GradientPack::size() const { return std::accumulate(messages.begin(), messages.end(), Bytes{}); }

std::vector<GradientPack> packs_by_number(const ExpandedModel& model, int num_packs,
                                          std::int64_t element_bytes) {
  std::vector<GradientPack> packs;
  if (num_packs == 0) {
    for (const std::uint32_t parameter : model.gradient_ready_order())
      packs.push_back({{parameter}, {size_of(model, parameter, element_bytes)}});
    return packs;
  }
  GradientPack all;
  all.parameters.resize(model.parameters.size());
  std::iota(all.parameters.begin(), all.parameters.end(), 0u);
  const std::int64_t elements = model.parameter_elements(), part = elements / num_packs;
  for (int i = 0; i + 1 < num_packs; ++i) all.messages.push_back({part * element_bytes});
  all.messages.push_back({(elements - part * (num_packs - 1)) * element_bytes});
  // More packs than elements leave parts without any.
  std::erase(all.messages, Bytes{});
  return {all};
}

std::vector<GradientPack> packs_by_size(const ExpandedModel& model, Bytes bytes_per_pack,
                                        std::int64_t element_bytes) {
  std::vector<GradientPack> packs(1);
  packs.front().messages.resize(1);
  for (std::size_t left = model.parameters.size(); left > 0; --left) {
    const auto parameter = static_cast<std::uint32_t>(left - 1);
    if (bytes_per_pack.count > 0 && packs.back().size() > bytes_per_pack) packs.push_back({{}, {Bytes{}}});
    packs.back().parameters.push_back(parameter);
    packs.back().messages.front() += size_of(model, parameter, element_bytes);
  }
  return packs;
}

}  // namespace foretrain
