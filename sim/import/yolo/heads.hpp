// Heads of Ultralytics' networks: what is trained at the end of detection, segmentation, poses, rotated boxes
// and classification.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/import/yolo/layers.hpp"

namespace foretrain {

/// Bins of a box's side (reg_max) in every head that is known.
inline constexpr std::int64_t kBoxBins = 16;

/// The detection head of a YOLO model.
struct YoloHead {
  struct Level {
    std::string result;
    std::int64_t channels = 0;
  };
  std::string kind;  ///< "Detect", "Segment", "Pose", "OBB", "Classify"
  std::int64_t classes = 80;
  std::vector<Level> levels;
  bool is_older = true;         ///< of YOLOv8 and before: plain convolutions for the classes
  std::int64_t further = 0;     ///< outputs for each place beside boxes and classes
  std::int64_t prototypes = 0;  ///< channels of a mask's prototypes
  std::int64_t anchors = 0;     ///< boxes for each place, of YOLOv5's own head; 0: none are fixed
};

bool is_yolo_head(std::string_view module);
std::string known_heads();

/// With the losses at its end.
void write_yolo_head(const YoloHead& head, YoloLayers& out);

}  // namespace foretrain
