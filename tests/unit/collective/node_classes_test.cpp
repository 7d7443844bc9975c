// Which nodes stand for each other: by shape, by place in the two trees, or none.
#include <set>

#include "sim/collective/communicator_traffic.hpp"
#include "sim/collective/nccl/double_tree.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace node_classes_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("nodes with the same GPUs of a job are one class, nodes outside have none") {
  Placement placement;
  placement.nodes = 4;
  placement.ranks = {{1, 0}, {1, 1}, {2, 0}, {3, 0}, {3, 1}};
  const OneJob job(nvlink_cluster(5, 1), placement);
  const NodeClasses classes = classes_by_shape(job.communicator.job(), 5);
  CHECK(classes.of_node == std::vector<int>{-1, 0, 1, 0, -1});
  CHECK(classes.of_shape == std::vector<std::vector<int>>{{0}, {1}});
}

TEST_CASE("four nodes have four places in their trees") {
  const OneJob job(pcie_cluster(4, 2), 8);
  const NodeClasses classes = classes_by_tree(job.communicator.job(), 4);
  // First tree: 0 is the root of 2, which has 1 and 3; second: mirrored, 3 is the root of 1, which has 2 and
  // 0.
  CHECK(std::set<int>(classes.of_node.begin(), classes.of_node.end()).size() == 4);
  CHECK(classes.of_shape.front().size() == 4);
}

TEST_CASE("the places in trees are few, however many nodes there are") {
  const OneJob job(star_cluster(2000, {10e9}), 2000);
  const NodeClasses classes = classes_by_tree(job.communicator.job(), 2000);
  CHECK(classes.of_shape.front().size() <= 40);
  // Nodes of one class have as many children in both trees.
  std::vector<int> children(classes.of_shape.front().size(), -1);
  for (int node = 0; node < 2000; ++node) {
    const nccl::DoubleTreePlace place = nccl::double_tree_place(node, 2000);
    int count = 0;
    for (const nccl::TreePlace& tree : {place.first, place.second})
      count += (tree.children[0] >= 0 ? 1 : 0) + (tree.children[1] >= 0 ? 1 : 0);
    int& known = children[static_cast<std::size_t>(classes.of_node[static_cast<std::size_t>(node)])];
    if (known < 0) known = count;
    CHECK(known == count);
  }
}

TEST_CASE("where no node is like another each is a class") {
  const OneJob job(star_cluster(3, {10e9}), 3);
  const NodeClasses classes = class_per_node(job.communicator.job(), 3);
  CHECK(classes.of_node == std::vector<int>{0, 1, 2});
  CHECK(classes.of_shape.empty());
}

}  // namespace node_classes_test
