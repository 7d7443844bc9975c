// Which nodes of a job put the same load on their own links, so that one of them stands for all.
#pragma once

#include <vector>

#include "sim/collective/nccl/job.hpp"

namespace foretrain {

struct NodeClasses {
  std::vector<int> of_node;                ///< by node of the cluster; -1: not in the job
  std::vector<std::vector<int>> of_shape;  ///< by NodeShape of the job: the classes of its nodes
};

/// Rings, alltoall: nodes of one shape do the same.
NodeClasses classes_by_shape(const nccl::Job& job, int cluster_nodes);
/// Trees over nodes: those of one shape that have the same place in both trees; a root has fewer neighbours
/// than others.
NodeClasses classes_by_tree(const nccl::Job& job, int cluster_nodes);
/// Traffic of a rank with its neighbour or a root: every node is a class of its own; `of_shape` is empty.
NodeClasses class_per_node(const nccl::Job& job, int cluster_nodes);

}  // namespace foretrain
