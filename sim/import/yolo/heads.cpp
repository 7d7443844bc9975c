// Writes the heads of Ultralytics' networks. Widths inside a head follow the channels of its first level
// (ultralytics/nn/modules/head.py 8.4).
#include "sim/import/yolo/heads.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Modules that are heads, and the width of the classifier's convolution.
constexpr std::array<std::string_view, 5> kHeads{"Detect", "Segment", "Pose", "OBB", "Classify"};
constexpr std::int64_t kClassifierWidth = 1280;

/// Writes Classify: convolution, mean over positions, linear layer.
void classify(const YoloHead& head, YoloLayers& out) {
  out.part("conv", head.levels.front().result);
  out.conv({.out = kClassifierWidth});
  out.plain("\"adaptive_avg_pool\"");
  out.plain("\"flatten\"");
  out.part("linear");
  out.plain(fmt::format("\"linear\", out = {}", head.classes));
  out.plain("\"loss\"");
}

/// Writes YOLOv5's own head: one convolution for each level, with boxes, objectness (5 numbers) and classes
/// for each anchor.
void with_anchors(const YoloHead& head, YoloLayers& out) {
  for (std::size_t i = 0; i < head.levels.size(); ++i) {
    out.part(fmt::format("m.{}", i), head.levels[i].result);
    out.plain(fmt::format("\"conv2d\", out = {}, kernel = 1", head.anchors * (head.classes + 5)));
    out.plain("\"loss\", kind = \"bce\"");
  }
}

/// Writes boxes and classes of each level, joined where the losses read them. The second branch has depthwise
/// convolutions in newer versions (yolo11).
void detect(const YoloHead& head, YoloLayers& out) {
  const std::int64_t first = head.levels.front().channels;
  // The widths of the two branches, as Detect computes them from the first level.
  const std::int64_t boxes = std::max<std::int64_t>({16, first / 4, 4 * kBoxBins}),
                     classes = std::max<std::int64_t>(first, std::min<std::int64_t>(head.classes, 100));
  const auto name = [](const char* what, std::size_t i) { return fmt::format("{}{}", what, i); };
  for (std::size_t i = 0; i < head.levels.size(); ++i) {
    out.part(fmt::format("cv2.{}", i), head.levels[i].result);
    out.block("yolov8", "boxes", fmt::format("boxes = {}", boxes));
    out.name_last(name("boxes", i));
  }
  for (std::size_t i = 0; i < head.levels.size(); ++i) {
    out.part(fmt::format("cv3.{}", i), head.levels[i].result);
    out.block(head.is_older ? "yolov8" : "yolo11", "classes",
              fmt::format("classes = {}, kinds = {}{}", classes, head.classes,
                          head.is_older ? "" : fmt::format(", seen = {}", head.levels[i].channels)));
    out.name_last(name("classes", i));
  }
  // The weights that turn bins into a side of a box are fixed, but they are registered as a parameter.
  out.part("dfl");
  out.plain(fmt::format("\"parameter\", out = {}, trained = false", kBoxBins));
  for (std::size_t i = 0; i < head.levels.size(); ++i) {
    out.concat({name("boxes", i), name("classes", i)});
    out.name_last(name("seen", i));
    out.losses({name("seen", i)});
  }
}

/// Writes the outputs beside boxes and classes: two convolutions and one without a norm on each level, with a
/// loss of their own.
void predict_further(const YoloHead& head, YoloLayers& out) {
  // The width follows from the first level, as that of the boxes does.
  const std::int64_t width = std::max<std::int64_t>(head.levels.front().channels / 4, head.further);
  for (std::size_t i = 0; i < head.levels.size(); ++i) {
    out.part(fmt::format("cv4.{}.0", i), head.levels[i].result);
    out.conv({.out = width, .kernel = 3, .padding = 1});
    out.part(fmt::format("cv4.{}.1", i));
    out.conv({.out = width, .kernel = 3, .padding = 1});
    out.part(fmt::format("cv4.{}.2", i));
    out.plain(fmt::format("\"conv2d\", out = {}, kernel = 1", head.further));
    out.plain("\"loss\", kind = \"bce\"");
  }
}

/// Writes the prototypes of masks, at twice the first level's sides. Every object's mask is a weighted sum of
/// them.
void prototypes(const YoloHead& head, YoloLayers& out) {
  out.part("proto.cv1", head.levels.front().result);
  out.conv({.out = head.prototypes, .kernel = 3, .padding = 1});
  // The transposed convolution doubles the sides.
  out.part("proto.upsample");
  out.plain(fmt::format("\"conv_transpose\", out = {}, kernel = 2, stride = 2", head.prototypes));
  out.part("proto.cv2");
  out.conv({.out = head.prototypes, .kernel = 3, .padding = 1});
  out.part("proto.cv3");
  out.conv({.out = head.further});
  out.plain("\"loss\", kind = \"bce\"");
}

}  // namespace

bool is_yolo_head(std::string_view module) { return std::ranges::find(kHeads, module) != kHeads.end(); }

std::string known_heads() { return fmt::format("{}", fmt::join(kHeads, ", ")); }

void write_yolo_head(const YoloHead& head, YoloLayers& out) {
  if (head.kind == "Classify") return classify(head, out);
  // The head of YOLOv5 has neither masks nor further outputs.
  if (head.anchors > 0) return with_anchors(head, out);
  detect(head, out);
  if (head.kind == "Segment") prototypes(head, out);
  if (head.further > 0) predict_further(head, out);
}

}  // namespace foretrain
