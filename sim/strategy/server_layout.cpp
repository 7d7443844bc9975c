// Placement rules of TensorFlow and MXNet, each a few lines of their sources.
#include "sim/strategy/server_layout.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace foretrain {

namespace {
constexpr std::int64_t kBigTensor = 1'000'000;
constexpr std::uint64_t kKeyFactor = 9973;
}  // namespace

std::vector<Shard> shards_in_turn(const ExpandedModel& model, int servers) {
  assert(servers >= 1);
  std::vector<Shard> shards;
  for (std::uint32_t p = 0; p < model.parameters.size(); ++p) {
    shards.push_back({p, static_cast<int>(p % static_cast<std::uint32_t>(servers)), model.parameters[p].elements});
  }
  return shards;
}

std::vector<Shard> shards_by_size(const ExpandedModel& model, int servers) {
  assert(servers >= 1);
  std::vector<Shard> shards;
  for (std::uint32_t p = 0; p < model.parameters.size(); ++p) {
    const std::int64_t elements = model.parameters[p].elements;
    if (elements < kBigTensor) {
      shards.push_back({p, static_cast<int>(p * kKeyFactor % static_cast<std::uint64_t>(servers)), elements});
      continue;
    }
    // Server s gets the elements from s / servers to (s + 1) / servers, so no two parts differ by more than one.
    for (int s = 0; s < servers; ++s) shards.push_back({p, s, elements * (s + 1) / servers - elements * s / servers});
  }
  return shards;
}

std::int64_t fullest_server(const std::vector<Shard>& shards, int servers) {
  std::vector<std::int64_t> held(static_cast<std::size_t>(servers), 0);
  for (const Shard& shard : shards) held[static_cast<std::size_t>(shard.server)] += shard.elements;
  return *std::max_element(held.begin(), held.end());
}

std::vector<int> tensors_over_gpus(const ExpandedModel& model, int gpus, TensorOrder order) {
  const auto elements = [&](std::uint32_t p) { return model.parameters[p].elements; };
  std::vector<std::uint32_t> tensors(model.parameters.size());
  std::iota(tensors.begin(), tensors.end(), 0u);
  if (order == TensorOrder::largest_first)
    std::stable_sort(tensors.begin(), tensors.end(), [&](std::uint32_t a, std::uint32_t b) { return elements(a) > elements(b); });
  std::vector<std::int64_t> held(static_cast<std::size_t>(gpus), 0);
  std::vector<int> gpu_of(tensors.size());
  for (const std::uint32_t p : tensors) {
    const auto least = std::min_element(held.begin(), held.end());
    *least += elements(p);
    gpu_of[p] = static_cast<int>(least - held.begin());
  }
  return gpu_of;
}

}  // namespace foretrain
