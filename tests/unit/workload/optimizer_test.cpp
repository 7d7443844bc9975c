// Optimizer launches: counts of the three forms, bytes, packing rule, host cost.
#include "sim/workload/optimizer.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

using namespace foretrain;

namespace {

std::vector<std::int64_t> tensors_of(const Model& model) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : expand(model).model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

Optimizer optimizer(OptimizerKind kind, OptimizerForm form, bool weight_decay = false) { return {kind, form, weight_decay}; }

std::int64_t bytes_of(const std::vector<OptimizerLaunch>& launches) {
  std::int64_t sum = 0;
  for (const OptimizerLaunch& launch : launches) sum += launch.bytes.count;
  return sum;
}

Time host_of(const std::vector<OptimizerLaunch>& launches) {
  Time sum{};
  for (const OptimizerLaunch& launch : launches) sum += launch.host;
  return sum;
}

}  // namespace

TEST_CASE("SGD with momentum and decay loops over four kernels a tensor and packs them") {
  const Optimizer loop = optimizer(OptimizerKind::momentum, OptimizerForm::for_loop, true);
  const Optimizer packed = optimizer(OptimizerKind::momentum, OptimizerForm::foreach, true);
  const auto resnet50 = tensors_of(test::resnet50()), vgg16 = tensors_of(test::vgg16());
  CHECK(optimizer_launches(loop, resnet50).size() == 644);  // 4 * 161
  CHECK(optimizer_launches(packed, resnet50).size() == 12);
  CHECK(optimizer_launches(loop, vgg16).size() == 128);  // 4 * 32
  CHECK(optimizer_launches(packed, vgg16).size() == 28);
  CHECK(optimizer_launches(packed, tensors_of(test::resnet18())).size() == 4);
}

TEST_CASE("kernels a tensor of the looping forms") {
  const auto count = [](OptimizerKind kind, bool decay) {
    return optimizer_launches(optimizer(kind, OptimizerForm::for_loop, decay), {1000}).size();
  };
  CHECK(count(OptimizerKind::sgd, false) == 1);
  CHECK(count(OptimizerKind::sgd, true) == 2);
  CHECK(count(OptimizerKind::momentum, false) == 3);
  CHECK(count(OptimizerKind::adam, false) == 8);
  CHECK(count(OptimizerKind::adamw, true) == 9);
  CHECK(count(OptimizerKind::adadelta, false) == 11);
}

TEST_CASE("bytes per element, unfused and fused") {
  const auto per_element = [](OptimizerKind kind, OptimizerForm form, bool decay) {
    return bytes_of(optimizer_launches(optimizer(kind, form, decay), {1000})) / 1000;
  };
  for (const OptimizerForm form : {OptimizerForm::for_loop, OptimizerForm::foreach}) {
    CHECK(per_element(OptimizerKind::sgd, form, false) == 12);
    CHECK(per_element(OptimizerKind::sgd, form, true) == 24);
    CHECK(per_element(OptimizerKind::momentum, form, false) == 32);
    CHECK(per_element(OptimizerKind::momentum, form, true) == 44);
    CHECK(per_element(OptimizerKind::adam, form, false) == 84);
    CHECK(per_element(OptimizerKind::adadelta, form, false) == 116);
  }
  CHECK(per_element(OptimizerKind::sgd, OptimizerForm::fused, true) == 12);
  CHECK(per_element(OptimizerKind::momentum, OptimizerForm::fused, true) == 20);
  CHECK(per_element(OptimizerKind::adamw, OptimizerForm::fused, true) == 28);
}

TEST_CASE("there is no fused Adadelta, so its lists are packed") {
  CHECK(optimizer_launches(optimizer(OptimizerKind::adadelta, OptimizerForm::fused), {10, 20}).size() == 11);
}

TEST_CASE("a launch carries 110 tensors of one list, 64 of two, 48 of three") {
  const std::vector<std::int64_t> tensors(111, 10);
  const auto launches = optimizer_launches(optimizer(OptimizerKind::momentum, OptimizerForm::foreach), tensors);
  // mul_ (one list) 110 + 1; two add_ (two lists) 64 + 47 each.
  REQUIRE(launches.size() == 6);
  CHECK(launches[0].bytes.count == 8 * 1100);
  CHECK(launches[1].bytes.count == 8 * 10);
  CHECK(launches[2].bytes.count == 12 * 640);
  CHECK(launches[3].bytes.count == 12 * 470);
}

TEST_CASE("a launch carries 320 chunks of 65,536 elements and a cut tensor continues in the next") {
  // 321 chunks, the last of one element.
  const auto launches = optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach), {320LL * 65'536 + 1, 5});
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].bytes.count == 12LL * 320 * 65'536);
  CHECK(launches[1].bytes.count == 12 * 6);
}

TEST_CASE("a full last launch is not followed by an empty one") {
  CHECK(optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach), {320LL * 65'536}).size() == 1);
  CHECK(optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach), std::vector<std::int64_t>(64, 1)).size() == 1);
}

TEST_CASE("looping costs the host what was measured per tensor") {
  const auto cost = [](OptimizerKind kind, bool decay) {
    return to_seconds(host_of(optimizer_launches(optimizer(kind, OptimizerForm::for_loop, decay), {7}))) * 1e6;
  };
  CHECK(cost(OptimizerKind::sgd, false) == Approx(1.07));
  CHECK(cost(OptimizerKind::momentum, true) == Approx(4.6));
  CHECK(cost(OptimizerKind::adam, false) == Approx(14.8));
  CHECK(cost(OptimizerKind::adamw, true) == Approx(17.0));
  CHECK(cost(OptimizerKind::adadelta, false) == Approx(14.0));
}

TEST_CASE("packing costs 1.5 us a tensor and 5 us a list operation") {
  const auto launches = optimizer_launches(optimizer(OptimizerKind::momentum, OptimizerForm::foreach), std::vector<std::int64_t>(161, 100));
  CHECK(to_seconds(host_of(launches)) * 1e6 == Approx(161 * 1.5 + 3 * 5));
}

TEST_CASE("state is nothing, a momentum, or two moments") {
  CHECK(state_bytes_per_element({OptimizerKind::sgd}) == 0);
  CHECK(state_bytes_per_element({OptimizerKind::momentum}) == 4);
  CHECK(state_bytes_per_element({OptimizerKind::adam}) == 8);
  CHECK(state_bytes_per_element({OptimizerKind::adamw}) == 8);
  CHECK(state_bytes_per_element({OptimizerKind::adadelta}) == 8);
}

TEST_CASE("no tensors, no launches, and monstrous tensors, still a short list") {
  for (const OptimizerForm form : {OptimizerForm::for_loop, OptimizerForm::foreach, OptimizerForm::fused}) {
    CHECK(optimizer_launches(optimizer(OptimizerKind::adam, form), {}).empty());
  }
  const std::vector<std::int64_t> monsters(100, std::int64_t{1} << 40);
  const auto launches = optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach), monsters);
  CHECK(launches.size() < 60'000);
  CHECK(bytes_of(launches) == 12LL * 100 * (std::int64_t{1} << 40));
}
