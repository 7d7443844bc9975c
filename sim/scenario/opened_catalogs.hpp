// What was read from the catalogs already, so that a hundred scenarios of one cluster read its files once.
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

/// A network and what it expands to.
struct OpenedModel {
  Model model;
  std::shared_ptr<const ExpandedModel> expanded;
};

/// By the name or path they were opened with; only what has no mistakes. The files must not change meanwhile.
struct OpenedCatalogs {
  std::map<std::string, OpenedModel> models{};
  std::map<std::string, std::string> networks{};  ///< ScenarioOverrides::networks
  /// By the paths of all recordings of a program.
  std::map<std::vector<std::string>, std::shared_ptr<const ProgramReplays>> programs{};
  std::map<std::string, ClusterSpec> clusters{};  ///< without the constants of their calibration in place
};

}  // namespace foretrain
