// Placement rules of TensorFlow, MXNet and BytePS, each a few lines of their sources.
#include "sim/strategy/servers/server_layout.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>

#include "sim/strategy/servers/server_options.hpp"

namespace foretrain {

namespace {
/// Elements from which MXNet cuts a tensor, and the factor of its hash.
constexpr std::int64_t kBigTensor = 1'000'000;
constexpr std::uint64_t kKeyFactor = 9973;

/// Returns the place of every parameter when they are sorted by name.
std::vector<std::uint64_t> places_by_name(const ExpandedModel& model) {
  std::vector<std::uint32_t> sorted(model.parameters.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return model.parameters[a].name < model.parameters[b].name;
  });
  std::vector<std::uint64_t> places(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) places[sorted[i]] = i;
  return places;
}

/// DJB2 over the decimal digits, with its start value 5381 and factor 33.
std::uint64_t hash_of_digits(std::uint64_t key) {
  std::uint64_t hash = 5381;
  for (const char c : std::to_string(key)) hash = hash * 33 + static_cast<std::uint64_t>(c);
  return hash;
}
}  // namespace

int server_count(const PlanRequest& request) {
  const int asked = request.options<ServerOptions>().servers;
  return asked > 0 ? asked : request.placement.nodes;
}

std::vector<Shard> shards_in_turn(const ExpandedModel& model, int servers) {
  assert(servers >= 1);
  std::vector<Shard> shards;
  for (std::uint32_t p = 0; p < model.parameters.size(); ++p) {
    shards.push_back(
        {p, static_cast<int>(p % static_cast<std::uint32_t>(servers)), model.parameters[p].elements});
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
    shards.push_back({p, servers == 1 ? 0 : kEveryServer, elements});
  }
  return shards;
}

std::vector<Shard> shards_of_gradients(const ExpandedModel& model, std::int64_t most, int servers) {
  assert(servers >= 1 && most >= 1);
  const std::vector<std::uint64_t> places = places_by_name(model);
  std::vector<Shard> shards;
  for (const std::uint32_t p : model.gradient_ready_order()) {
    // The high bits of the key are the tensor, the low 16 bits the part.
    std::uint64_t key = places[p] << 16;
    for (std::int64_t left = model.parameters[p].elements; left > 0; left -= most) {
      const std::uint64_t server = hash_of_digits(key++) % static_cast<std::uint64_t>(servers);
      shards.push_back({p, static_cast<int>(server), std::min(left, most)});
    }
  }
  return shards;
}

std::vector<double> elements_of_servers(const std::vector<Shard>& shards, int servers) {
  std::vector<double> held(static_cast<std::size_t>(servers), 0);
  double everywhere = 0;
  for (const Shard& shard : shards)
    (shard.server == kEveryServer ? everywhere : held[static_cast<std::size_t>(shard.server)]) +=
        static_cast<double>(shard.elements);
  for (double& of_one : held) of_one += everywhere / servers;
  return held;
}

std::vector<int> tensors_over_gpus(const ExpandedModel& model, int gpus, TensorOrder order) {
  const auto elements = [&](std::uint32_t p) { return model.parameters[p].elements; };
  std::vector<std::uint32_t> tensors(model.parameters.size());
  std::iota(tensors.begin(), tensors.end(), 0u);
  if (order == TensorOrder::largest_first)
    std::stable_sort(tensors.begin(), tensors.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return elements(a) > elements(b); });
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
