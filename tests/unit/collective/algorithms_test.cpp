// Algorithms: the trees, the messages of small cases written out, and costs one can check by hand.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/algorithms/double_tree.hpp"
#include "sim/collective/algorithms/rounds.hpp"
#include "tests/support/catch.hpp"

namespace algorithms_test {

using namespace foretrain;

namespace {

std::vector<int> first_ranks(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

const Algorithm& row_of(CollectiveOp op, std::string_view family) {
  const Algorithm* row = find_algorithm(op, family);
  REQUIRE(row != nullptr);
  return *row;
}

LaneCosts costs(CollectiveOp op, std::string_view family, int n, int pieces = 1,
                const std::vector<int>& groups = {}) {
  const std::vector<int> order = first_ranks(n);
  return costs_of(row_of(op, family), {order, 0, pieces, groups});
}

/// "0>1 1>2 …": from and to of every lane.
std::string edges(const Lanes& lanes) {
  std::string text;
  for (const Lane& lane : lanes.lanes)
    text += std::to_string(lane.from) + ">" + std::to_string(lane.to) + " ";
  return text;
}

Lanes lanes_for(CollectiveOp op, std::string_view family, const std::vector<int>& order, int root = 0) {
  return lanes_of(row_of(op, family), {order, root});
}

}  // namespace

TEST_CASE("NCCL's first tree of eight nodes has node 4 below the root and odd nodes as leaves") {
  CHECK(double_tree(8).first == Tree{-1, 2, 4, 2, 0, 6, 4, 6});
  // Five: 4 is the largest power of two, 3 would hang on 2, and nothing on 6.
  CHECK(double_tree(5).first == Tree{-1, 2, 4, 2, 0});
  CHECK(double_tree(2).first == Tree{-1, 0});
}

TEST_CASE("NCCL's second tree is the mirror image for an even number of nodes and shifted for an odd one") {
  CHECK(double_tree(8).second == Tree{1, 3, 1, 7, 5, 3, 5, -1});
  CHECK(double_tree(5).second == Tree{1, -1, 3, 0, 3});
}

TEST_CASE("a node has at most two children in both trees together, and both are ceil(log2 n) deep") {
  for (int n = 2; n <= 200; ++n) {
    const DoubleTree trees = double_tree(n);
    const std::vector<int> a = children_of(trees.first), b = children_of(trees.second);
    for (std::size_t node = 0; node < a.size(); ++node) CHECK(a[node] + b[node] <= 2);
    const int depth = static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1)));
    CHECK(depth_of(trees.first) == depth);
    CHECK(depth_of(trees.second) == depth);
  }
}

TEST_CASE("groups hang on a tree as chains") {
  // Nodes of 2, 1 and 3 ranks; node 1 and node 2 hang on node 0.
  CHECK(with_chains({-1, 0, 0}, {2, 1, 3}) == Tree{-1, 0, 0, 0, 3, 4});
}

TEST_CASE("in a binomial tree the ranks that have the message double") {
  CHECK(binomial_tree(6) == Tree{-1, 0, 0, 1, 0, 1});
}

TEST_CASE("a ring goes around the order it is given") {
  CHECK(edges(lanes_for(CollectiveOp::all_reduce, "ring", {2, 0, 1})) == "2>0 0>1 1>2 ");
  CHECK(edges(lanes_for(CollectiveOp::broadcast, "ring", {2, 0, 1}, 0)) == "0>1 1>2 ");
  CHECK(edges(lanes_for(CollectiveOp::reduce, "ring", {2, 0, 1}, 1)) == "2>0 0>1 ");
}

TEST_CASE("two nodes of a double binary tree send half of the message each way in each tree") {
  const LaneCosts two = costs(CollectiveOp::all_reduce, "double_binary_tree", 2, 8);
  CHECK(two.hops == 2);
  CHECK(two.sent == 1);  // half up in one tree, half down in the other: S per NIC and direction, where a ring
                         // needs 2 (n-1)/n S = S
  CHECK(two.steps == 2 + 7);
}

TEST_CASE("two nodes of eight ranks: a ring sends 15/8 of the message between nodes, the trees 1") {
  // docs/sources/nccl_tuning.md 4.3: the bus bandwidth of two-node trees can exceed the NIC's rate by 2
  // (n-1)/n = 1.875.
  const LaneCosts trees = costs(CollectiveOp::all_reduce, "double_binary_tree", 16, 1, {8, 8});
  CHECK(trees.hops == 2 * (7 + 1));
  const Lanes lanes = lanes_of(row_of(CollectiveOp::all_reduce, "double_binary_tree"),
                               {first_ranks(16), 0, 1, std::vector{8, 8}});
  double between = 0;
  for (const Lane& lane : lanes.lanes) {
    if (lane.from < 8 && lane.to >= 8) between += lane.messages * lanes.message_share(lane);
  }
  CHECK(between == 1);
  CHECK(costs(CollectiveOp::all_reduce, "ring", 16).pair == 1.875);
}

TEST_CASE("an NVSwitch that adds and multicasts needs 1 + 1/n of the message in each direction of a rank") {
  const LaneCosts eight = costs(CollectiveOp::all_reduce, "nvls", 8);
  CHECK(eight.sent == 1.125);
  CHECK(eight.received == 1.125);
  CHECK(eight.added == 0);
  CHECK(eight.hops == 4);
}

TEST_CASE("NVLS is refused beyond one domain and halving beyond powers of two, with the reason") {
  const std::vector<int> order = first_ranks(6), groups{3, 3}, uneven{4, 2};
  CHECK(row_of(CollectiveOp::all_reduce, "nvls").refuse({order, 0, 1, groups}) ==
        "the ranks are not behind one NVSwitch");
  CHECK(row_of(CollectiveOp::reduce_scatter, "recursive_halving").refuse({order}) ==
        "the number of ranks is not a power of two");
  CHECK(row_of(CollectiveOp::all_reduce, "hierarchical_ring").refuse({order, 0, 1, uneven}) ==
        "the nodes have different numbers of ranks");
  CHECK(row_of(CollectiveOp::all_reduce, "hierarchical_ring").refuse({order, 0, 1, groups}).empty());
}

TEST_CASE("two levels send a shard between groups") {
  // Four groups of eight: inside 2 x 7/8, between 2 x 3/4 of an eighth.
  const LaneCosts ring = costs(CollectiveOp::all_reduce, "hierarchical_ring", 32, 1, std::vector<int>(4, 8));
  CHECK(ring.hops == 2 * 7 + 2 * 3);
  CHECK(ring.sent == Approx(2 * 7.0 / 8 + 2 * 3.0 / 4 / 8));
  // Two trees are ceil(log2 4) = 2 deep.
  CHECK(costs(CollectiveOp::all_reduce, "hierarchical_tree", 32, 1, std::vector<int>(4, 8)).hops ==
        2 * 7 + 2 * 2);
}

TEST_CASE("one group of a two-level all-reduce is a ring, groups of one rank are too") {
  const LaneCosts ring = costs(CollectiveOp::all_reduce, "ring", 8);
  CHECK(costs(CollectiveOp::all_reduce, "hierarchical_ring", 8, 1, {8}) == ring);
  CHECK(costs(CollectiveOp::all_reduce, "hierarchical_ring", 8) == ring);
}

TEST_CASE("recursive doubling of eight ranks exchanges the whole message three times") {
  const LaneCosts eight = costs(CollectiveOp::all_reduce, "recursive_doubling", 8);
  CHECK(eight.hops == 3);
  CHECK(eight.sent == 3);
  // Six = four and two more: they fold into places 1 and 3, and get the result back.
  CHECK(edges(lanes_for(CollectiveOp::all_reduce, "recursive_doubling", first_ranks(6))) ==
        "0>1 2>3 1>3 3>1 4>5 5>4 1>4 3>5 4>1 5>3 1>0 3>2 ");
}

TEST_CASE("halving and doubling eight ranks moves a half, a quarter, an eighth, and back") {
  const std::vector<int> order = first_ranks(8);
  const Lanes lanes = lanes_of(row_of(CollectiveOp::all_reduce, "recursive_halving_doubling"), {order});
  std::vector<double> shares;
  for (std::size_t round = 0; round < 6; ++round)
    shares.push_back(lanes.message_share(lanes.lanes[8 * round]));
  CHECK(shares == std::vector{0.5, 0.25, 0.125, 0.125, 0.25, 0.5});
}

TEST_CASE("reduction to one rank goes through that rank's links n - 1 times in each direction") {
  const LaneCosts eight = costs(CollectiveOp::all_reduce, "reduce_to_one", 8);
  CHECK(eight.sent == 7);
  CHECK(eight.received == 7);
  CHECK(eight.hops == 2);
}

TEST_CASE("TensorFlow's hierarchical copy never leaves a half but for the exchange") {
  const Lanes lanes = lanes_for(CollectiveOp::all_reduce, "hierarchical_copy", first_ranks(8));
  std::set<std::string> across;
  for (const Lane& lane : lanes.lanes) {
    if (lane.from / 4 != lane.to / 4) across.insert(std::to_string(lane.from) + std::to_string(lane.to));
  }
  CHECK(across == std::set<std::string>{"04", "15", "26", "37", "40", "51", "62", "73"});
  // Each rank is a main device of two chunks of eight: 2 x 3 copies in, 2 out across, 2 x 3 out, all of an
  // eighth.
  CHECK(costs(CollectiveOp::all_reduce, "hierarchical_copy", 8).sent == Approx((6 + 2 + 6) / 8.0));
}

TEST_CASE("Bruck's alltoall of eight ranks sends half of the chunks in each of three rounds") {
  const LaneCosts bruck = costs(CollectiveOp::alltoall, "bruck", 8);
  CHECK(bruck.hops == 3);
  CHECK(bruck.sent == 1.5);
  CHECK(costs(CollectiveOp::alltoall, "direct", 8).sent == 0.875);
  CHECK(costs(CollectiveOp::alltoall, "pairwise", 8).hops == 7);
}

TEST_CASE("sendrecv is a shift of ranks, not of places") {
  CHECK(edges(lanes_for(CollectiveOp::sendrecv, "shift", {1, 2, 0})) == "0>1 1>2 2>0 ");
}

TEST_CASE("a gather along a binomial tree brings whole subtrees") {
  const Lanes lanes = lanes_for(CollectiveOp::gather, "binomial", first_ranks(6));
  CHECK(edges(lanes) == "1>0 3>2 5>4 2>0 4>0 ");
  CHECK(lanes.lanes[3].width == 2);
  CHECK(lanes.lanes[4].width == 2);  // 4 and 5: there is no 6
}

TEST_CASE("rounds: a message waits for what reached its sender earlier, or only for what it carries") {
  for (const Rounds::Waits waits : {Rounds::for_all, Rounds::for_its_chunks}) {
    Lanes lanes{.ranks = 3, .chunks = 4};
    Rounds rounds(lanes, waits);
    rounds.send(0, 1, {0, 2}, Transfer::reduce);
    rounds.send(1, 2, {0, 4}, Transfer::reduce);  // same round: waits for nothing
    rounds.next();
    rounds.send(1, 2, {2, 2}, Transfer::copy);
    rounds.send(1, 2, {3, 2}, Transfer::copy);  // chunks 3 and, around the end, 0
    CHECK(lanes.lanes[1].needs == 0);
    CHECK(lanes.lanes[2].needs == (waits == Rounds::for_all ? 1 : 0));
    CHECK(lanes.lanes[3].needs == 1);
  }
}

}  // namespace algorithms_test
