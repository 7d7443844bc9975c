// The table [cluster]: which cluster, the constants measured on it, and how jobs are laid out.
#pragma once

#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// What [cluster] is read into.
struct ClusterSection {
  OpenedCatalogs& opened;
  std::vector<ClusterSpec> kinds{};  ///< of node, each as a cluster alone; empty: could not be read
  std::string name{}, part{};        ///< as asked for, and the part that the name ends in
  std::optional<std::string> partition{};
  std::optional<Calibration> calibration{};  ///< instead of the one that the cluster's file names
  Layout layout = Layout::packed;
  double kernel_speed = 1, link_speed = 1;
};

const Keys<ClusterSection>& cluster_keys();
/// Does not call finish(). A cluster that could not be read stays one without GPUs.
void read_cluster_section(TableReader& cluster, OpenedCatalogs& opened, Scenario& scenario);

}  // namespace foretrain
