// Packing gradients into Horovod's messages: threshold, padding, look-ahead.
#include "sim/strategy/horovod/horovod_fusion.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/drawn.hpp"

namespace horovod_fusion_test {

using namespace foretrain;

namespace {

/// Gradients 0, 1, … of these sizes, all fp32.
std::vector<FusionTensor> gradients(const std::vector<std::int64_t>& bytes) {
  std::vector<FusionTensor> waiting;
  for (const std::int64_t size : bytes)
    waiting.push_back({static_cast<std::uint32_t>(waiting.size()), {size}, 4});
  return waiting;
}

using Parameters = std::vector<std::uint32_t>;

/// The same by its rules alone, over and over from the front of one list.
std::vector<FusedMessage> fuse_simply(std::vector<FusionTensor> waiting, std::int64_t threshold) {
  const auto space = [](const FusionTensor& tensor) { return (tensor.size.count + 15) / 16 * 16; };
  std::vector<FusedMessage> messages;
  while (!waiting.empty()) {
    const FusionTensor first = waiting.front();
    FusedMessage message{{first.parameter}, first.size};
    std::int64_t sum = space(first), skipped = 0;
    std::vector<FusionTensor> left;
    bool is_open = !first.gathered;
    for (std::size_t i = 1; i < waiting.size(); ++i) {
      const FusionTensor& next = waiting[i];
      const bool is_alike = !next.gathered && next.element_bytes == first.element_bytes;
      if (is_open && is_alike && sum + space(next) <= threshold) {
        message.parameters.push_back(next.parameter);
        message.size = {sum += space(next)};
      } else {
        skipped += space(next);
        is_open = is_open && sum + skipped <= threshold;
        left.push_back(next);
      }
    }
    messages.push_back(message);
    waiting = left;
  }
  return messages;
}

}  // namespace

TEST_CASE("gradients that fit the threshold share one message") {
  const auto messages = fuse(gradients({160, 320, 480}), {1000}, true);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].parameters == Parameters{0, 1, 2});
  CHECK(messages[0].size.count == 960);
  CHECK(messages[0].is_fused());
}

TEST_CASE("a message may be as large as the threshold and no byte larger") {
  CHECK(fuse(gradients({160, 320, 480}), {960}, true).size() == 1);
  const auto messages = fuse(gradients({160, 320, 480}), {959}, true);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].parameters == Parameters{0, 1});
  CHECK(messages[1].parameters == Parameters{2});
}

TEST_CASE("a gradient above the threshold goes alone, and those behind it start anew") {
  const auto messages = fuse(gradients({16, 5000, 16, 32}), {1000}, true);
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].parameters == Parameters{0});
  CHECK(messages[1].parameters == Parameters{1});
  CHECK(messages[1].size.count == 5000);
  CHECK(messages[2].parameters == Parameters{2, 3});
}

TEST_CASE("batched copies pad every fused gradient to 16 bytes, single copies do not") {
  // 40 -> 48, 4 -> 16, 16 -> 16.
  CHECK(fuse(gradients({40, 4, 16}), {1000}, true)[0].size.count == 80);
  CHECK(fuse(gradients({40, 4, 16}), {1000}, false)[0].size.count == 60);
}

TEST_CASE("the padding counts against the threshold") {
  CHECK(fuse(gradients({40, 40}), {90}, true).size() == 2);   // 48 + 48
  CHECK(fuse(gradients({40, 40}), {90}, false).size() == 1);  // 40 + 40
}

TEST_CASE("a gradient that stays alone is sent from its own memory without padding") {
  const auto messages = fuse(gradients({40}), {1000}, true);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].size.count == 40);
  CHECK_FALSE(messages[0].is_fused());
}

TEST_CASE("threshold 0 leaves every gradient alone") {
  const auto messages = fuse(gradients({16, 32, 48}), {0}, true);
  REQUIRE(messages.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(messages[i].parameters == Parameters{i});
}

TEST_CASE("fusion looks past gradients of another type while they would fit together") {
  std::vector<FusionTensor> waiting = gradients({160, 160, 160, 160});
  waiting[1].element_bytes = waiting[3].element_bytes = 2;
  const auto messages = fuse(waiting, {640}, true);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].parameters == Parameters{0, 2});  // 160 + skipped 160 <= 640
  CHECK(messages[1].parameters == Parameters{1, 3});
}

TEST_CASE("the look-ahead ends where message and skipped gradients exceed the threshold together") {
  std::vector<FusionTensor> waiting = gradients({160, 160, 160, 160});
  waiting[1].element_bytes = waiting[2].element_bytes = 2;
  // 160 + 160 skipped = 320 <= 400; the next skipped one makes 480: closed before the fourth, which would
  // have fitted.
  const auto messages = fuse(waiting, {400}, true);
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].parameters == Parameters{0});
  CHECK(messages[1].parameters == Parameters{1, 2});
  CHECK(messages[2].parameters == Parameters{3});
}

TEST_CASE("nobody overtakes a large gradient of the same type") {
  // 400 would fit behind 160, but 900 stands between: 160 + 900 > 1000 closes the message.
  const auto messages = fuse(gradients({160, 900, 400}), {1000}, true);
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].parameters == Parameters{0});
  CHECK(messages[2].parameters == Parameters{2});
}

TEST_CASE("the threshold is rounded up to 64 doubles for every GPU of a node") {
  CHECK(rounded_threshold({128LL << 20}, 4).count == 128LL << 20);  // a multiple of 4 x 512 already
  CHECK(rounded_threshold({1}, 4).count == 4 * 8 * 64);
  CHECK(rounded_threshold({64LL << 20}, 3).count == 67'109'376);  // 43,691 x 1,536
  CHECK(rounded_threshold({0}, 8).count == 0);
}

TEST_CASE(
    "a gathered gradient is a message of its own and is not padded, and those around it still share one") {
  const std::vector<FusionTensor> waiting{{0, {100}, 4}, {1, {5004}, 4, true}, {2, {100}, 4}};
  const auto messages = fuse(waiting, Bytes{1 << 20}, true);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].parameters == std::vector<std::uint32_t>{0, 2});
  CHECK(messages[0].size.count == 112 + 112);
  CHECK(messages[1].parameters == std::vector<std::uint32_t>{1});
  CHECK(messages[1].size.count == 5004);
}

TEST_CASE("messages of drawn gradients of two types, some gathered, are those of the plain rules") {
  test::Random random(23);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 300; ++round) {
    std::vector<FusionTensor> waiting;
    for (std::uint32_t i = 0; i < 1 + below(40); ++i)
      waiting.push_back(
          {i, {static_cast<std::int64_t>(4 + below(400))}, below(3) == 0 ? 2 : 4, below(9) == 0});
    const std::int64_t threshold = static_cast<std::int64_t>(below(1500));
    const auto messages = fuse(waiting, {threshold}, true), plain = fuse_simply(waiting, threshold);
    REQUIRE(messages.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      CHECK(messages[i].parameters == plain[i].parameters);
      CHECK(messages[i].size == plain[i].size);
    }
  }
}

}  // namespace horovod_fusion_test
