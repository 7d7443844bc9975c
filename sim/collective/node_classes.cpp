// A class is the set of nodes with the same key. Numbers are given in the order of the job's nodes.
#include <array>
#include <compare>
#include <map>

#include "sim/collective/communicator_traffic.hpp"
#include "sim/collective/nccl/double_tree.hpp"

namespace foretrain {

namespace {

/// The ports by which a node exchanges data in a tree, and how often it does.
struct TreeRole {
  /// Port at the parent; -1: no parent.
  int port_at_parent = -1;
  std::array<bool, 2> children{};
  auto operator<=>(const TreeRole&) const = default;
};

/// The role of a node in both trees.
struct Role {
  int shape = 0;
  TreeRole first, second;
  auto operator<=>(const Role&) const = default;
};

TreeRole role_of(const nccl::TreePlace& place, int node, const nccl::TreePlace& parent) {
  return {place.parent < 0             ? -1
          : parent.children[1] == node ? 1
                                       : 0,
          {place.children[0] >= 0, place.children[1] >= 0}};
}

/// Puts nodes with equal `key(i)` into one class, for node i of the job.
template <typename Key>
NodeClasses classes_by(const nccl::Job& job, int cluster_nodes, Key key) {
  NodeClasses classes{std::vector<int>(static_cast<std::size_t>(cluster_nodes), -1),
                      std::vector<std::vector<int>>(job.shapes.size())};
  std::map<decltype(key(0)), int> known;
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    const auto [row, is_new] = known.try_emplace(key(static_cast<int>(i)), static_cast<int>(known.size()));
    classes.of_node[static_cast<std::size_t>(job.nodes[i].node)] = row->second;
    if (is_new) classes.of_shape[static_cast<std::size_t>(job.nodes[i].shape)].push_back(row->second);
  }
  return classes;
}

}  // namespace

NodeClasses classes_by_shape(const nccl::Job& job, int cluster_nodes) {
  return classes_by(job, cluster_nodes,
                    [&](int node) { return job.nodes[static_cast<std::size_t>(node)].shape; });
}

NodeClasses classes_by_tree(const nccl::Job& job, int cluster_nodes) {
  const std::vector<nccl::DoubleTreePlace> places =
      nccl::double_tree_places(static_cast<int>(job.nodes.size()));
  return classes_by(job, cluster_nodes, [&](int node) {
    const std::size_t n = static_cast<std::size_t>(node);
    const auto role = [&](nccl::TreePlace nccl::DoubleTreePlace::*tree) {
      const nccl::TreePlace& place = places[n].*tree;
      return role_of(
          place, node,
          place.parent < 0 ? nccl::TreePlace{} : places[static_cast<std::size_t>(place.parent)].*tree);
    };
    return Role{job.nodes[n].shape, role(&nccl::DoubleTreePlace::first),
                role(&nccl::DoubleTreePlace::second)};
  });
}

NodeClasses class_per_node(const nccl::Job& job, int cluster_nodes) {
  NodeClasses classes = classes_by(job, cluster_nodes,
                                   [&](int node) { return job.nodes[static_cast<std::size_t>(node)].node; });
  classes.of_shape.clear();
  return classes;
}

}  // namespace foretrain
