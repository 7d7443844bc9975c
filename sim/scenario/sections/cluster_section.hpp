// The table [cluster]: the cluster, the constants measured on it, and the layout of jobs.
#pragma once

#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// The contents of [cluster] while they are read.
struct ClusterSection {
  OpenedCatalogs& opened;
  /// Kinds of node, each as a cluster of its own; empty: they could not be read.
  std::vector<ClusterSpec> kinds{};
  /// The site's name without its part, and the part that the name ends in.
  std::string name{}, part{};
  std::optional<std::string> partition{};
  /// Replaces the calibration that the cluster's file names.
  std::optional<Calibration> calibration{};
  Layout layout = Layout::packed;
  /// Factors of what-if questions.
  double kernel_speed = 1, link_speed = 1;
};

/// Returns the declared keys of [cluster].
const Keys<ClusterSection>& cluster_keys();
/// Reads [cluster] without calling finish(). A cluster that could not be read stays one without GPUs, and its
/// mistakes are reported.
void read_cluster_section(TableReader& cluster, OpenedCatalogs& opened, Scenario& scenario);

}  // namespace foretrain
