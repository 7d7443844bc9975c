// Contents of the catalogs that were read already, so that many scenarios of one cluster read its files once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/hardware.hpp"
#include "sim/workload/layers/layer.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

class ProgramReplays;

/// A network and its expansion.
struct OpenedModel {
  Model model;
  std::shared_ptr<const ExpandedModel> expanded;
};

/// Contents by the name or path with which they were opened; only those without mistakes. The files must not
/// change meanwhile. Not thread-safe.
struct OpenedCatalogs {
  std::map<std::string, OpenedModel> models{};
  /// See ScenarioOverrides::networks.
  std::map<std::string, std::string> networks{};
  /// Programs by the paths of all their recordings.
  std::map<std::vector<std::string>, std::shared_ptr<const ProgramReplays>> programs{};
  /// Clusters without the constants of their calibration.
  std::map<std::string, ClusterSpec> clusters{};
};

}  // namespace foretrain
