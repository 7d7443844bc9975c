// Declares how deep and wide a network of Ultralytics is: the row of `scales` that a name chooses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

/// Depth and width factors for one size of a YOLO family.
struct YoloScale {
  /// Factors for repeats and channels.
  double depth = 1, width = 1;
  /// Channels are cut to this number before they are multiplied.
  double most_channels = 1e9;
  /// Name of the scale, such as "m"; empty: the file has one scale only.
  std::string letter{};
};

/// Returns a scalar as a number; nothing for a text, a list, or a number that is not finite.
std::optional<double> yolo_number(const YamlNode& node);

/// Returns the scale that is asked for, the one in the file's name ("yolo11m.yaml"), or the first one, as
/// Ultralytics does. Adds a remark about the choice. Reports an unknown name and a scale of another form.
YoloScale chosen_scale(const YamlNode& tree, const std::string& asked, const std::string& file,
                       std::vector<std::string>& remarks, Diagnostics& diagnostics);

}  // namespace foretrain
