// Buckets by hand: which tensors share one, and in which order they go out.
#include "sim/strategy/ddp/ddp_buckets.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace ddp_buckets_test {

using namespace foretrain;

namespace {

/// A model of bare tensors whose gradients arrive in reversed order of registration.
ExpandedModel tensors(const std::vector<std::int64_t>& elements) {
  ExpandedModel model;
  model.layer_names = {"all"};
  for (const std::int64_t n : elements) model.parameters.push_back({"p", n, 0});
  for (std::size_t i = elements.size(); i-- > 0;) {
    BackwardStep step;
    step.ready = {static_cast<std::uint32_t>(i)};
    model.backward.push_back(step);
  }
  return model;
}

std::vector<std::int64_t> sizes(const std::vector<Bucket>& buckets) {
  std::vector<std::int64_t> out;
  for (const Bucket& bucket : buckets) out.push_back(bucket.size.count);
  return out;
}

DdpOptions limits(std::int64_t first, std::int64_t cap) {
  DdpOptions options;
  options.first_bucket = {first}, options.bucket_cap = {cap};
  return options;
}

using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("under autocast the gradient of a linear layer's weight comes before that of its bias") {
  ExpandedModel model = tensors({100, 10, 200, 20});
  const char* names[] = {"first.weight", "first.bias", "last.weight", "last.bias"};
  for (std::size_t i = 0; i < 4; ++i) model.parameters[i].name = names[i];
  const DdpOptions small = limits(400, 400);
  CHECK(sizes(form_buckets(model, small)) == std::vector<std::int64_t>{880, 440});
  // The bias of the last layer comes behind the weight that fills the bucket.
  CHECK(sizes(form_buckets(model, small, 4, GradientArrival::weight_first)) ==
        std::vector<std::int64_t>{800, 480, 40});
  Workload workload;
  workload.precision = Precision::bf16;
  CHECK(arrival_in(workload) == GradientArrival::weight_first);
  // A network recorded in fp32 is trained under autocast like any other; one recorded under it has its order.
  Recording recording;
  model.recording = std::make_shared<const Recording>(recording);
  workload.model = std::make_shared<const ExpandedModel>(model);
  CHECK(arrival_in(workload) == GradientArrival::weight_first);
  recording.autocast = Precision::bf16;
  model.recording = std::make_shared<const Recording>(recording);
  workload.model = std::make_shared<const ExpandedModel>(model);
  CHECK(arrival_in(workload) == GradientArrival::bias_first);
  workload.model = nullptr, workload.half_weights = true;
  CHECK(arrival_in(workload) == GradientArrival::bias_first);
  workload.precision = Precision::fp32, workload.half_weights = false;
  CHECK(arrival_in(workload) == GradientArrival::bias_first);
}

TEST_CASE("a tensor goes in first, then the limit is tested, so buckets exceed it") {
  // 4 bytes an element, arrival 10, 20, 30: 40 < 100, 40 + 80 = 120 closes the first; 120 >= 100 closes the
  // second.
  CHECK(sizes(form_buckets(tensors({30, 20, 10}), limits(100, 100))) == Sizes{120, 120});
}

TEST_CASE("a bucket that just meets its limit is closed") {
  CHECK(sizes(form_buckets(tensors({1, 25}), limits(100, 100))) == Sizes{100, 4});
}

TEST_CASE("the first bucket has its own, smaller limit") {
  // 40 closes the first (>= 40); then 40 + 40 + 40 = 120 >= 120.
  CHECK(sizes(form_buckets(tensors({10, 10, 10, 10}), limits(40, 120))) == Sizes{40, 120});
}

TEST_CASE("a large tensor is never split") {
  CHECK(sizes(form_buckets(tensors({1'000'000, 1}), limits(4, 100))) == Sizes{4, 4'000'000});
}

TEST_CASE("what is left makes the last bucket") {
  CHECK(sizes(form_buckets(tensors({1, 1, 25}), limits(100, 100))) == Sizes{100, 8});
}

TEST_CASE("a model without parameters has no buckets") {
  CHECK(form_buckets(tensors({}), limits(1, 1)).empty());
}

TEST_CASE("with find_unused_parameters buckets fill in registration order and go out reversed") {
  DdpOptions options = limits(100, 100);
  options.find_unused_parameters = true;
  // Registration 30, 20, 10: 120 closes; 80 + 40 = 120 closes; reversed.
  const auto buckets = form_buckets(tensors({30, 20, 10}), options);
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].parameters == std::vector<std::uint32_t>{1, 2});
  CHECK(buckets[1].parameters == std::vector<std::uint32_t>{0});
}

TEST_CASE(
    "find_unused_parameters puts the small first limit on the first registered tensors, which go out last") {
  DdpOptions options = limits(40, 120);
  options.find_unused_parameters = true;
  CHECK(sizes(form_buckets(tensors({10, 10, 10, 10}), options)) == Sizes{120, 40});
}

TEST_CASE("a static graph is rebuilt by arrival even with find_unused_parameters") {
  DdpOptions plain, both;
  both.find_unused_parameters = both.static_graph = true;
  const ExpandedModel model = expand(test::resnet18()).model;
  CHECK(sizes(form_buckets(model, both)) == sizes(form_buckets(model, plain)));
}

TEST_CASE("every parameter is in exactly one bucket, whatever the limits") {
  const ExpandedModel model = expand(test::resnet50()).model;
  for (const std::int64_t cap : {1LL, 4096LL, 1LL << 20, 25LL << 20, 1LL << 40}) {
    for (const bool unused : {false, true}) {
      DdpOptions options = limits(1 << 20, cap);
      options.find_unused_parameters = unused;
      std::vector<std::uint32_t> all;
      std::int64_t total = 0;
      for (const Bucket& bucket : form_buckets(model, options)) {
        all.insert(all.end(), bucket.parameters.begin(), bucket.parameters.end());
        total += bucket.size.count;
      }
      std::sort(all.begin(), all.end());
      std::vector<std::uint32_t> expected(model.parameters.size());
      std::iota(expected.begin(), expected.end(), 0u);
      CHECK(all == expected);
      CHECK(total == 4 * 25'557'032);
    }
  }
}

TEST_CASE("a limit of one byte gives each tensor its own bucket") {
  const ExpandedModel model = expand(test::resnet18()).model;
  CHECK(form_buckets(model, limits(1, 1)).size() == model.parameters.size());
}

TEST_CASE("gradients of 16-bit weights take half, so a bucket holds twice as many") {
  CHECK(sizes(form_buckets(tensors({30, 20, 10}), limits(100, 100), 2)) == Sizes{120});
  Workload workload;
  workload.half_weights = true;
  CHECK(gradient_element_bytes(workload) == 4);  // fp32
  workload.precision = Precision::amp_fp16;
  CHECK(gradient_element_bytes(workload) == 2);
  workload.half_weights = false;
  CHECK(gradient_element_bytes(workload) == 4);  // autocast
}

}  // namespace ddp_buckets_test
