// Where tensors go: TensorFlow's, MXNet's and BytePS's rules on a network of eight tensors.
#include "sim/strategy/servers/server_layout.hpp"

#include <numeric>

#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace server_layout_test {

using namespace foretrain;

namespace {

/// 288, 32, 18,432, 64, 1,179,648, 128, 1,280 and 10 elements; gradients come in the order 7 6 5 4 2 3 0 1.
ExpandedModel mnist() { return expand(test::mnist_net()).model; }

std::int64_t total(const std::vector<Shard>& shards) {
  return std::accumulate(shards.begin(), shards.end(), std::int64_t{0},
                         [](std::int64_t sum, const Shard& s) { return sum + s.elements; });
}

}  // namespace

TEST_CASE("TensorFlow gives whole variables to servers in turn") {
  const std::vector<Shard> shards = shards_in_turn(mnist(), 3);
  REQUIRE(shards.size() == 8);
  CHECK(shards[4] == Shard{4, 1, 1'179'648});
  CHECK(shards[5] == Shard{5, 2, 128});
  // 288 + 64 + 1,280; 32 + 1,179,648 + 10; 18,432 + 128.
  CHECK(elements_of_servers(shards, 3) == std::vector<double>{1'632, 1'179'690, 18'560});
}

TEST_CASE("MXNet cuts tensors of a million elements over all servers and hashes the others") {
  const std::vector<Shard> shards = shards_by_size(mnist(), 4);
  REQUIRE(shards.size() == 8);
  CHECK(shards[4] == Shard{4, kEveryServer, 1'179'648});
  CHECK(shards[5] == Shard{5, 1, 128});  // 5 x 9973 = 49,865 = 4 x 12,466 + 1
  // A quarter of the large one is 294,912; beside it 288; 32 + 128; 18,432 + 1,280; 64 + 10.
  CHECK(elements_of_servers(shards, 4) == std::vector<double>{295'200, 295'072, 314'624, 294'986});
}

TEST_CASE("one server gets everything whole") {
  for (const Shard& shard : shards_by_size(mnist(), 1)) CHECK(shard.server == 0);
  CHECK(elements_of_servers(shards_by_size(mnist(), 1), 1) == std::vector<double>{1'199'882});
}

TEST_CASE("BytePS cuts gradients as they come and hashes part after part to a server") {
  const std::vector<Shard> parts = shards_of_gradients(mnist(), 1'000'000, 2);
  REQUIRE(parts.size() == 9);
  // By name: conv2d1.bias, conv2d1.weight, conv2d2.bias, …; linear2.bias is the seventh, key 6 x 65,536 =
  // 393,216. Modulo 2, DJB2 is 5381 and the sum of the characters, '0' being 48: 1 + 3 + 9 + 3 + 2 + 1 + 6 =
  // 25, odd.
  CHECK(parts[0] == Shard{7, 1, 10});
  // linear1.weight is the sixth, 327,680 and 327,681: 1 + 26 and 1 + 27.
  CHECK(parts[3] == Shard{4, 1, 1'000'000});
  CHECK(parts[4] == Shard{4, 0, 179'648});
}

TEST_CASE("no rule loses an element") {
  for (const int servers : {1, 2, 3, 7, 100}) {
    CHECK(total(shards_in_turn(mnist(), servers)) == 1'199'882);
    CHECK(total(shards_by_size(mnist(), servers)) == 1'199'882);
    CHECK(total(shards_of_gradients(mnist(), 1000, servers)) == 1'199'882);
  }
}

TEST_CASE("a tensor goes to the GPU that has fewest elements so far") {
  // In the order of the model the first GPU has 288, then 352 elements when the large tensor comes, the
  // second 18,464.
  CHECK(tensors_over_gpus(mnist(), 2, TensorOrder::of_model) == std::vector<int>{0, 1, 1, 0, 0, 1, 1, 1});
  CHECK(tensors_over_gpus(mnist(), 2, TensorOrder::largest_first) ==
        std::vector<int>{1, 1, 1, 1, 0, 1, 1, 1});
  CHECK(tensors_over_gpus(mnist(), 1, TensorOrder::of_model) == std::vector<int>(8, 0));
}

TEST_CASE("what 4096 servers hold of a million tensors is counted in one pass over each") {
  const std::vector<Shard> shards(1'000'000, Shard{0, 7, 3});
  CHECK(elements_of_servers(shards, 4096)[7] == 3'000'000);
}

}  // namespace server_layout_test
