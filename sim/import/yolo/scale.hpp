// How deep and wide a network of Ultralytics is: the row of `scales` that a name chooses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

/// Depth and width factors of a size of a YOLO family.
struct YoloScale {
  double depth = 1, width = 1;  ///< what repeats and channels are multiplied by
  double most_channels = 1e9;   ///< before they are multiplied
  std::string letter{};         ///< "m"; empty: the file has one scale
};

/// The number that a scalar is; nothing for a text, a list and what is not finite.
std::optional<double> yolo_number(const YamlNode& node);

/// The scale that is asked for, the one in the file's name ("yolo11m.yaml"), or the first, as Ultralytics
/// takes it; says which in `remarks`.
YoloScale chosen_scale(const YamlNode& tree, const std::string& asked, const std::string& file,
                       std::vector<std::string>& remarks, Diagnostics& diagnostics);

}  // namespace foretrain
