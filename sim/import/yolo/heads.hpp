// Declares the heads of Ultralytics' networks: what is trained at the end for detection, segmentation, poses,
// rotated boxes and classification.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/yolo/layers.hpp"

namespace foretrain {

/// Bins for a side of a box (reg_max) in every head that is known.
inline constexpr std::int64_t kBoxBins = 16;

/// The head of a YOLO network with the layers that it reads.
/// Levels stand in the order of the file; the first one gives the widths inside the head.
struct YoloHead {
  /// A layer that the head reads: its name and channels.
  struct Level {
    std::string result;
    std::int64_t channels = 0;
  };
  /// Module: "Detect", "Segment", "Pose", "OBB" or "Classify".
  std::string kind;
  std::int64_t classes = 80;
  std::vector<Level> levels;
  /// Form of YOLOv8 and before: plain convolutions for the classes.
  bool is_older = true;
  /// Outputs for each position beside boxes and classes; 0: none.
  std::int64_t further = 0;
  /// Channels of the prototypes of masks.
  std::int64_t prototypes = 0;
  /// Boxes for each position in YOLOv5's own head; 0: no fixed boxes.
  std::int64_t anchors = 0;
};

/// Returns whether a module of the YAML is a head that is known.
bool is_yolo_head(std::string_view module);
/// Returns the names of the known heads, for messages.
std::string known_heads();

/// Writes a head and the losses at its end. Requires at least one level.
void write_yolo_head(const YoloHead& head, YoloLayers& out);

}  // namespace foretrain
