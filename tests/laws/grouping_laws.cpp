// How gradients are grouped into messages and shared out, against rules written the long way, on drawn
// networks of bare tensors.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/horovod/horovod_fusion.hpp"
#include "sim/strategy/servers/server_layout.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drawn.hpp"

namespace grouping_laws {

using namespace foretrain;
using test::pick;
using test::Random;

namespace {

using Parameters = std::vector<std::uint32_t>;

constexpr int kDraws = 1000;

/// Tensors of 1 to 2,000,000 elements, small ones more often, whose gradients arrive in a drawn order.
ExpandedModel drawn_tensors(Random& random) {
  ExpandedModel model;
  model.layer_names = {"all"};
  const std::size_t tensors = 1 + random() % 30;
  for (std::size_t i = 0; i < tensors; ++i) {
    const auto most = pick<std::int64_t>(random, {2, 100, 10'000, 2'000'000});
    model.parameters.push_back(
        {"p" + std::to_string(random() % 1000), 1 + static_cast<std::int64_t>(random()) % most, 0});
  }
  Parameters arrival(tensors);
  std::iota(arrival.begin(), arrival.end(), 0U);
  std::shuffle(arrival.begin(), arrival.end(), random);
  for (const std::uint32_t p : arrival) {
    BackwardStep step;
    step.ready = {p};
    model.backward.push_back(step);
  }
  return model;
}

std::int64_t bytes_of(const ExpandedModel& model, const Parameters& parameters) {
  std::int64_t bytes = 0;
  for (const std::uint32_t p : parameters) bytes += 4 * model.parameters[p].elements;
  return bytes;
}

/// Cuts `order` behind every place at which what stands before it, back to the last cut, has reached the
/// limit of that bucket.
std::vector<Parameters> cut_at_limits(const ExpandedModel& model, const Parameters& order, std::int64_t first,
                                      std::int64_t others) {
  std::vector<Parameters> groups;
  std::size_t begin = 0;
  while (begin < order.size()) {
    std::size_t end = begin + 1;
    const std::int64_t limit = groups.empty() ? first : others;
    const auto group = [&] {
      return Parameters(order.begin() + static_cast<std::ptrdiff_t>(begin),
                        order.begin() + static_cast<std::ptrdiff_t>(end));
    };
    while (end < order.size() && bytes_of(model, group()) < limit) ++end;
    groups.push_back(group());
    begin = end;
  }
  return groups;
}

struct DrawnFusion {
  std::vector<FusionTensor> waiting;
  Bytes threshold{};
  bool padded = false;
  std::int64_t space(const FusionTensor& tensor) const {
    return padded ? (tensor.size.count + 15) / 16 * 16 : tensor.size.count;
  }
};

DrawnFusion drawn_fusion(Random& random) {
  DrawnFusion drawn{{}, {pick<std::int64_t>(random, {0, 100, 1000, 10'000})}, random() % 2 == 0};
  const std::size_t tensors = random() % 25;
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::int64_t size =
        4 * static_cast<std::int64_t>(1 + random() % pick<unsigned>(random, {4, 100, 1000}));
    FusionTensor tensor{static_cast<std::uint32_t>(i), {size}, random() % 4 == 0 ? 2 : 4};
    tensor.gathered = random() % 10 == 0;
    drawn.waiting.push_back(tensor);
  }
  return drawn;
}

}  // namespace

TEST_CASE("law: DDP's buckets are the arrival cut behind each tensor that reaches the limit") {
  Random random(21);
  for (int draw = 0; draw < kDraws; ++draw) {
    const ExpandedModel model = drawn_tensors(random);
    DdpOptions options;
    options.first_bucket = {pick<std::int64_t>(random, {1, 400, 1 << 20})};
    options.bucket_cap = {pick<std::int64_t>(random, {1, 4000, 25 << 20})};
    options.find_unused_parameters = random() % 2 == 0;
    Parameters order = model.gradient_ready_order();
    if (options.find_unused_parameters) std::iota(order.begin(), order.end(), 0U);
    std::vector<Parameters> should =
        cut_at_limits(model, order, options.first_bucket.count, options.bucket_cap.count);
    if (options.find_unused_parameters) std::reverse(should.begin(), should.end());
    const std::vector<Bucket> buckets = form_buckets(model, options);
    REQUIRE(buckets.size() == should.size());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      CHECK(buckets[i].parameters == should[i]);
      CHECK(buckets[i].size.count == bytes_of(model, should[i]));
    }
  }
}

TEST_CASE(
    "law: Horovod's messages hold every tensor once, of one type, and exceed the threshold alone only") {
  Random random(22);
  for (int draw = 0; draw < kDraws; ++draw) {
    const DrawnFusion drawn = drawn_fusion(random);
    const std::vector<FusedMessage> messages = fuse(drawn.waiting, drawn.threshold, drawn.padded);
    std::multiset<std::uint32_t> sent;
    for (const FusedMessage& message : messages) {
      REQUIRE_FALSE(message.parameters.empty());
      sent.insert(message.parameters.begin(), message.parameters.end());
      const FusionTensor& first = drawn.waiting[message.parameters.front()];
      std::int64_t space = 0;
      for (const std::uint32_t p : message.parameters) {
        CHECK(drawn.waiting[p].element_bytes == first.element_bytes);
        CHECK((!drawn.waiting[p].gathered || !message.is_fused()));
        space += drawn.space(drawn.waiting[p]);
      }
      CHECK(message.size.count == (message.is_fused() ? space : first.size.count));
      CHECK((!message.is_fused() || message.size <= drawn.threshold));
      CHECK(std::is_sorted(message.parameters.begin(), message.parameters.end()));
    }
    std::multiset<std::uint32_t> all;
    for (const FusionTensor& tensor : drawn.waiting) all.insert(tensor.parameter);
    CHECK(sent == all);
    // Each message begins with the first tensor that none before it took.
    std::set<std::uint32_t> gone;
    for (const FusedMessage& message : messages) {
      std::uint32_t next = 0;
      while (gone.contains(next)) ++next;
      CHECK(message.parameters.front() == next);
      gone.insert(message.parameters.begin(), message.parameters.end());
    }
  }
}

TEST_CASE("law: of tensors of one type each message takes what follows until the next would not fit") {
  Random random(23);
  for (int draw = 0; draw < kDraws; ++draw) {
    DrawnFusion drawn = drawn_fusion(random);
    for (FusionTensor& tensor : drawn.waiting) tensor.element_bytes = 4, tensor.gathered = false;
    std::vector<Parameters> should;
    std::int64_t filled = 0;
    for (const FusionTensor& tensor : drawn.waiting) {
      const std::int64_t space = drawn.space(tensor);
      if (should.empty() || filled + space > drawn.threshold.count) should.emplace_back(), filled = 0;
      should.back().push_back(tensor.parameter), filled += space;
    }
    std::vector<Parameters> made;
    for (const FusedMessage& message : fuse(drawn.waiting, drawn.threshold, drawn.padded))
      made.push_back(message.parameters);
    CHECK(made == should);
  }
}

TEST_CASE("law: however tensors are shared out over servers, all their elements are there once") {
  Random random(24);
  for (int draw = 0; draw < kDraws; ++draw) {
    const ExpandedModel model = drawn_tensors(random);
    const int servers = static_cast<int>(1 + random() % 9);
    const auto most = pick<std::int64_t>(random, {1000, 4096, 1'024'000});
    for (const std::vector<Shard>& shards : {shards_in_turn(model, servers), shards_by_size(model, servers),
                                             shards_of_gradients(model, most, servers)}) {
      std::map<std::uint32_t, std::int64_t> elements;
      for (const Shard& shard : shards) {
        elements[shard.parameter] += shard.elements;
        CHECK(shard.elements > 0);
        CHECK((shard.server == kEveryServer || (shard.server >= 0 && shard.server < servers)));
      }
      REQUIRE(elements.size() == model.parameters.size());
      for (const auto& [parameter, count] : elements) CHECK(count == model.parameters[parameter].elements);
      const std::vector<double> held = elements_of_servers(shards, servers);
      REQUIRE(held.size() == static_cast<std::size_t>(servers));
      CHECK(std::accumulate(held.begin(), held.end(), 0.0) ==
            Approx(static_cast<double>(model.parameter_elements())));
    }
  }
}

TEST_CASE("law: tensors over GPUs leave none fuller than the emptiest by more than its last tensor") {
  Random random(25);
  for (int draw = 0; draw < kDraws; ++draw) {
    const ExpandedModel model = drawn_tensors(random);
    const int gpus = static_cast<int>(1 + random() % 8);
    std::int64_t largest = 0;
    for (const Parameter& parameter : model.parameters) largest = std::max(largest, parameter.elements);
    for (const TensorOrder order : {TensorOrder::of_model, TensorOrder::largest_first}) {
      const std::vector<int> gpu_of = tensors_over_gpus(model, gpus, order);
      REQUIRE(gpu_of.size() == model.parameters.size());
      std::vector<std::int64_t> held(static_cast<std::size_t>(gpus), 0);
      for (std::size_t p = 0; p < gpu_of.size(); ++p) {
        REQUIRE((gpu_of[p] >= 0 && gpu_of[p] < gpus));
        held[static_cast<std::size_t>(gpu_of[p])] += model.parameters[p].elements;
      }
      // A GPU was the emptiest when it got its last tensor, and others have only grown since.
      const auto [least, most] = std::minmax_element(held.begin(), held.end());
      CHECK(*most - *least <= largest);
    }
  }
}

}  // namespace grouping_laws
