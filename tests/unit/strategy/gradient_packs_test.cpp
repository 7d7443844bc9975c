// Packs of TensorFlow's gradients against sums done by hand for the MNIST network.
#include "sim/strategy/replicas/gradient_exchange.hpp"
#include "sim/workload/layers/layer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace gradient_packs_test {

using namespace foretrain;

namespace {

// Tensors in registration order: 288, 32, 18,432, 64, 1,179,648, 128, 1,280, 10 elements; 1,199,882 in all.
ExpandedModel mnist() { return expand(test::mnist_net()).model; }

std::vector<std::int64_t> bytes_of(const std::vector<Bytes>& messages) {
  std::vector<std::int64_t> bytes;
  for (const Bytes message : messages) bytes.push_back(message.count);
  return bytes;
}

using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("one pack holds all gradients in one message") {
  const auto packs = packs_by_number(mnist(), 1, 4);
  REQUIRE(packs.size() == 1);
  CHECK(packs[0].parameters.size() == 8);
  CHECK(packs[0].is_copied());
  CHECK(bytes_of(packs[0].messages) == Sizes{4 * 1'199'882});
}

TEST_CASE("several packs are equal parts of whole elements, and the last takes what is left") {
  // 1,199,882 / 3 = 399,960 elements; 399,962 are left.
  const auto packs = packs_by_number(mnist(), 3, 4);
  REQUIRE(packs.size() == 1);
  CHECK(bytes_of(packs[0].messages) == Sizes{4 * 399'960, 4 * 399'960, 4 * 399'962});
  CHECK(packs[0].size().count == 4 * 1'199'882);
}

TEST_CASE("parts of no element are not sent") {
  ExpandedModel model = mnist();
  model.parameters.resize(1);
  model.parameters[0].elements = 2;
  // 2 / 5 = 0 elements in each of the first four, both in the last.
  CHECK(bytes_of(packs_by_number(model, 5, 4).front().messages) == Sizes{8});
}

TEST_CASE("no packs: each gradient by itself, in the order of arrival, without a copy") {
  const ExpandedModel model = mnist();
  const auto packs = packs_by_number(model, 0, 4);
  REQUIRE(packs.size() == 8);
  const auto order = model.gradient_ready_order();
  for (std::size_t i = 0; i < packs.size(); ++i) {
    CHECK(packs[i].parameters == std::vector{order[i]});
    CHECK_FALSE(packs[i].is_copied());
    CHECK(packs[i].size().count == 4 * model.parameters[order[i]].elements);
  }
}

TEST_CASE("packs by size begin with the last layers and close when they have grown beyond the limit") {
  // 10 + 1,280 + 128 + 1,179,648 elements are 4,724,264 bytes, more than 1 MiB; 64 + 18,432 + 32 + 288 are
  // left.
  const auto packs = packs_by_size(mnist(), {1 << 20}, 4);
  REQUIRE(packs.size() == 2);
  CHECK(packs[0].parameters == std::vector<std::uint32_t>{7, 6, 5, 4});
  CHECK(packs[0].size().count == 4'724'264);
  CHECK(packs[1].size().count == 75'264);
}

TEST_CASE("a pack that is as large as the limit still takes one more") {
  // 4 x (10 + 1,280) = 5,160 bytes are not beyond 5,160; with 128 more elements it is closed at 5,672.
  const auto packs = packs_by_size(mnist(), {5'160}, 4);
  CHECK(packs[0].size().count == 5'672);
  CHECK(packs[1].size().count == 4 * 1'179'648);
}

TEST_CASE("without a limit there is one pack, and 16-bit gradients make it half as large") {
  const auto packs = packs_by_size(mnist(), {0}, 2);
  REQUIRE(packs.size() == 1);
  CHECK(packs[0].size().count == 2 * 1'199'882);
}

}  // namespace gradient_packs_test
