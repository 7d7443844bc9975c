// Optimizer launches: counts of the three forms, bytes, packing rule, host cost.
#include "sim/workload/lowering/optimizer.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace optimizer_test {

using namespace foretrain;

namespace {

std::vector<std::int64_t> tensors_of(const Model& model) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : expand(model).model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

Optimizer optimizer(OptimizerKind kind, OptimizerForm form, bool weight_decay = false) {
  return {kind, form, weight_decay};
}

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

TEST_CASE("kernels and bytes of the rarer optimizers") {
  const auto launches = [](OptimizerKind kind, OptimizerForm form) {
    return optimizer_launches(optimizer(kind, form), {1000});
  };
  using K = OptimizerKind;
  using F = OptimizerForm;
  // Nesterov: one more addition than momentum. Adagrad: square, root, epsilon, quotient. RMSprop: a decay
  // before those.
  CHECK(launches(K::nesterov, F::for_loop).size() == 4);
  CHECK(bytes_of(launches(K::nesterov, F::for_loop)) == 44 * 1000);
  CHECK(launches(K::adagrad, F::for_loop).size() == 4);
  CHECK(bytes_of(launches(K::adagrad, F::for_loop)) == (16 + 8 + 8 + 16) * 1000);
  CHECK(launches(K::rmsprop, F::for_loop).size() == 5);
  CHECK(bytes_of(launches(K::rmsprop, F::foreach)) == (8 + 16 + 8 + 8 + 16) * 1000);
  // LAMB fused: norm of the gradients 4, moments 28, norms of weights and steps 4 + 4, the step 12.
  CHECK(launches(K::lamb, F::fused).size() == 5);
  CHECK(bytes_of(launches(K::lamb, F::fused)) == 52 * 1000);
  CHECK(bytes_of(launches(K::lamb, F::for_loop)) > 2 * 52 * 1000);
}

TEST_CASE("TensorFlow runs one kernel per variable that passes once over weight, gradient and state") {
  const auto apply = [](OptimizerKind kind) {
    return optimizer_launches(optimizer(kind, OptimizerForm::variable, true), {10, 1000});
  };
  CHECK(apply(OptimizerKind::momentum).size() == 2);
  CHECK(bytes_of(apply(OptimizerKind::sgd)) == 12 * 1010);
  CHECK(bytes_of(apply(OptimizerKind::momentum)) == 20 * 1010);
  CHECK(bytes_of(apply(OptimizerKind::adam)) == 28 * 1010);
}

TEST_CASE("the framework's version decides the form of an optimizer") {
  Framework old = usual_framework(FrameworkKind::pytorch);
  old.version = {1, 13};
  CHECK(forms_of(OptimizerKind::adam, old).front() == OptimizerForm::for_loop);
  CHECK(forms_of(OptimizerKind::adam, usual_framework(FrameworkKind::pytorch)).front() ==
        OptimizerForm::foreach);
  CHECK(forms_of(OptimizerKind::lamb, old).front() == OptimizerForm::fused);
  CHECK(forms_of(OptimizerKind::adam, usual_framework(FrameworkKind::tensorflow)) ==
        std::vector{OptimizerForm::variable});
}

TEST_CASE("Adadelta, Adagrad and RMSprop have no fused form, LAMB no packed one") {
  const auto has = [](OptimizerKind kind, OptimizerForm form) {
    const auto forms = forms_of(kind, usual_framework(FrameworkKind::pytorch));
    return std::find(forms.begin(), forms.end(), form) != forms.end();
  };
  for (const OptimizerKind kind : {OptimizerKind::adadelta, OptimizerKind::adagrad, OptimizerKind::rmsprop}) {
    CHECK_FALSE(has(kind, OptimizerForm::fused));
    CHECK(has(kind, OptimizerForm::foreach));
  }
  CHECK_FALSE(has(OptimizerKind::lamb, OptimizerForm::foreach));
  CHECK(has(OptimizerKind::sgd, OptimizerForm::fused));
}

TEST_CASE("a launch carries 110 tensors of one list, 64 of two, 48 of three") {
  const std::vector<std::int64_t> tensors(111, 10);
  const auto launches =
      optimizer_launches(optimizer(OptimizerKind::momentum, OptimizerForm::foreach), tensors);
  // mul_ (one list) 110 + 1; two add_ (two lists) 64 + 47 each.
  REQUIRE(launches.size() == 6);
  CHECK(launches[0].bytes.count == 8 * 1100);
  CHECK(launches[1].bytes.count == 8 * 10);
  CHECK(launches[2].bytes.count == 12 * 640);
  CHECK(launches[3].bytes.count == 12 * 470);
}

TEST_CASE("a launch carries 320 chunks of 65,536 elements and a cut tensor continues in the next") {
  // 321 chunks, the last of one element.
  const auto launches =
      optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach), {320LL * 65'536 + 1, 5});
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].bytes.count == 12LL * 320 * 65'536);
  CHECK(launches[1].bytes.count == 12 * 6);
}

TEST_CASE("a full last launch is not followed by an empty one") {
  CHECK(optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach), {320LL * 65'536}).size() ==
        1);
  CHECK(optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach),
                           std::vector<std::int64_t>(64, 1))
            .size() == 1);
}

TEST_CASE("looping costs the host what was measured per tensor") {
  const auto cost = [](OptimizerKind kind, bool decay) {
    return to_seconds(host_of(optimizer_launches(optimizer(kind, OptimizerForm::for_loop, decay), {7}))) *
           1e6;
  };
  CHECK(cost(OptimizerKind::sgd, false) == Approx(1.07));
  CHECK(cost(OptimizerKind::momentum, true) == Approx(4.6));
  CHECK(cost(OptimizerKind::adam, false) == Approx(14.8));
  CHECK(cost(OptimizerKind::adamw, true) == Approx(17.0));
  CHECK(cost(OptimizerKind::adadelta, false) == Approx(14.0));
}

TEST_CASE("packing costs 40 us a step, 2 us a tensor and 7 us a list operation") {
  const auto launches = optimizer_launches(optimizer(OptimizerKind::momentum, OptimizerForm::foreach),
                                           std::vector<std::int64_t>(161, 100));
  CHECK(to_seconds(host_of(launches)) * 1e6 == Approx(40 + 161 * 2 + 3 * 7));
}

TEST_CASE("state is nothing, a momentum, or two moments") {
  CHECK(state_bytes_per_element({OptimizerKind::sgd}) == 0);
  CHECK(state_bytes_per_element({OptimizerKind::momentum}) == 4);
  CHECK(state_bytes_per_element({OptimizerKind::adam}) == 8);
  CHECK(state_bytes_per_element({OptimizerKind::adamw}) == 8);
  CHECK(state_bytes_per_element({OptimizerKind::adadelta}) == 8);
  CHECK(state_bytes_per_element({OptimizerKind::nesterov}) == 4);
  CHECK(state_bytes_per_element({OptimizerKind::adagrad}) == 4);
  CHECK(state_bytes_per_element({OptimizerKind::rmsprop}) == 4);
  CHECK(state_bytes_per_element({OptimizerKind::lamb}) == 8);
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

TEST_CASE("many launches that are alike are counted, few stay as they are") {
  const auto of_sgd = [](std::int64_t elements) {
    return optimizer_launches(optimizer(OptimizerKind::sgd, OptimizerForm::foreach), {elements});
  };
  constexpr std::int64_t kOfLaunch = 320LL * 65'536;
  CHECK(counted_launches(of_sgd(10 * kOfLaunch), 10).size() == 10);
  const auto counted = counted_launches(of_sgd(100 * kOfLaunch + 7), 10);  // 11 or 10 alike in one entry
  CHECK(counted.size() <= 11);
  std::int64_t bytes = 0;
  int launches = 0;
  Time host{};
  for (const OptimizerLaunch& launch : counted) {
    bytes += launch.bytes.count * launch.count, launches += launch.count;
    host += launch.host * launch.count;
  }
  CHECK(bytes == 12 * (100 * kOfLaunch + 7));
  CHECK(launches == 101);
  CHECK(host == host_of(of_sgd(100 * kOfLaunch + 7)));
}

TEST_CASE("one fused pass of Adam reads the gradient, and reads and writes weight and two moments") {
  CHECK(fused_bytes_per_element(OptimizerKind::adam) == 4 + 2 * 4 * 3);
  CHECK(fused_bytes_per_element(OptimizerKind::adadelta) == 0);
}

}  // namespace optimizer_test
