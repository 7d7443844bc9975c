// A cluster file with several kinds of node as a site: a job gets nodes of one kind, and a partition, a type
// of GPU or a feature leads it there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Whether a job gets nodes of one kind only: a partition names kinds, or a kind has a type of GPU, features
/// or a network of its own. Kinds without any of these are nodes of one machine, and a job may mix them.
bool is_site(const ClusterSpec& spec);

/// Every kind as a cluster alone: its nodes, its network, what leads to it. They are called "site/kind". A
/// cluster that is no site is returned as it is.
std::vector<ClusterSpec> clusters_of_site(const ClusterSpec& site);

/// Whether a cluster has a partition of that name.
bool has_partition(const ClusterSpec& cluster, std::string_view name);

/// "a100: 20 nodes with 8x a100-sxm4-40gb", for messages.
std::string kind_in_words(const ClusterSpec& cluster);
/// The same of the first three, and how many more there are.
std::string kinds_in_words(const std::vector<ClusterSpec>& clusters);

/// "a100" of "site/a100"; the whole name where there is no slash.
std::string_view part_name(const ClusterSpec& cluster);

}  // namespace foretrain
