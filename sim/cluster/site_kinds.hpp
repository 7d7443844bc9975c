// A cluster file with several kinds of node as a site. A job gets nodes of one kind; a partition, a type of
// GPU or a feature leads it there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Returns whether a job gets nodes of one kind only. This holds if a partition names kinds, or if a kind has
/// a type of GPU, features or a network of its own. Otherwise the kinds are nodes of one machine, and a job
/// may mix them.
bool is_site(const ClusterSpec& spec);

/// Returns every kind as a cluster of its own, with its nodes, its network and the partitions that lead to
/// it. The names are "site/kind". A cluster that is no site is returned unchanged.
std::vector<ClusterSpec> clusters_of_site(const ClusterSpec& site);

/// Returns whether a cluster has a partition of that name.
bool has_partition(const ClusterSpec& cluster, std::string_view name);

/// Returns a description for messages: "a100: 20 nodes with 8x a100-sxm4-40gb".
std::string kind_in_words(const ClusterSpec& cluster);
/// Returns the descriptions of the first three clusters, and how many more there are.
std::string kinds_in_words(const std::vector<ClusterSpec>& clusters);

/// Returns "a100" for "site/a100"; the whole name if it has no slash.
std::string_view part_name(const ClusterSpec& cluster);

}  // namespace foretrain
