// DataParallel's messages: where the limit of 10 MiB is tested.
#include "sim/strategy/ddp/coalesced_groups.hpp"

#include "tests/support/catch.hpp"

namespace coalesced_groups_test {

using namespace foretrain;

namespace {

constexpr std::int64_t kMebi = 1 << 20;

std::vector<std::int64_t> sizes(const std::vector<CoalescedGroup>& groups) {
  std::vector<std::int64_t> out;
  for (const CoalescedGroup& group : groups) out.push_back(group.size.count);
  return out;
}

}  // namespace

TEST_CASE("a broadcast group takes the tensor that fills it, a reduce group leaves it to the next") {
  // Tensors of 4 MiB in fp32: 4 + 4 + 4 = 12 MiB is the first sum of at least 10 MiB, 4 + 4 = 8 MiB the last
  // below it.
  const std::vector<std::int64_t> elements(5, kMebi);
  CHECK(sizes(broadcast_groups(elements, 4)) == std::vector<std::int64_t>{12 * kMebi, 8 * kMebi});
  CHECK(sizes(reduce_groups(elements, 4)) == std::vector<std::int64_t>{8 * kMebi, 8 * kMebi, 4 * kMebi});
}

TEST_CASE("a group of exactly 10 MiB is full for the broadcast and still fits for the reduction") {
  const std::vector<std::int64_t> elements{kMebi, 3 * kMebi / 2, 1};
  CHECK(sizes(broadcast_groups(elements, 4)) == std::vector<std::int64_t>{10 * kMebi, 4});
  CHECK(sizes(reduce_groups(elements, 4)) == std::vector<std::int64_t>{10 * kMebi, 4});
}

TEST_CASE("a tensor larger than a group is never split") {
  const std::vector<std::int64_t> elements{1, 25 * kMebi, 1};
  CHECK(sizes(broadcast_groups(elements, 4)) == std::vector<std::int64_t>{100 * kMebi + 4, 4});
  CHECK(sizes(reduce_groups(elements, 4)) == std::vector<std::int64_t>{4, 100 * kMebi, 4});
}

TEST_CASE("groups count their tensors and lose no byte") {
  const std::vector<std::int64_t> elements{100, 3 * kMebi, 7, 5 * kMebi, 1};
  for (const auto& groups : {broadcast_groups(elements, 2), reduce_groups(elements, 2)}) {
    std::size_t tensors = 0;
    std::int64_t bytes = 0;
    for (const CoalescedGroup& group : groups) tensors += group.tensors, bytes += group.size.count;
    CHECK(tensors == 5);
    CHECK(bytes == 2 * (8 * kMebi + 108));
  }
}

TEST_CASE("no tensors make no message") {
  CHECK(broadcast_groups({}, 4).empty());
  CHECK(reduce_groups({}, 4).empty());
}

}  // namespace coalesced_groups_test
