// Chooses the scale of a network. `scales` has [depth, width, most channels] by letters; files of YOLOv5 have
// two numbers of their own.
#include "sim/import/yolo/scale.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/import/models/filled_text.hpp"

namespace foretrain {

namespace {

/// Largest number of a scale, and the letters that Ultralytics uses.
constexpr double kLargestFactor = 100'000;
constexpr std::string_view kScaleLetters = "nsmblxtce";

/// Returns the m of "yolo11m.yaml" and of "yolov8m-seg"; empty: the name has none.
std::string letter_in(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  std::string_view name = slash == std::string_view::npos ? file : file.substr(slash + 1);
  // The form is "yolo", maybe "v", the version, the letter, and then the end, a dot or a dash.
  if (!name.starts_with("yolo")) return "";
  name.remove_prefix(4);
  if (name.starts_with('v')) name.remove_prefix(1);
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits == 0 || digits == name.size()) return "";
  const bool ends = digits + 1 == name.size() || name[digits + 1] == '.' || name[digits + 1] == '-';
  return ends && kScaleLetters.find(name[digits]) != std::string_view::npos ? std::string(1, name[digits])
                                                                            : "";
}

/// Returns a number of a scale; reports one that is not positive or is too large.
double factor_in(const YamlNode& node, double otherwise, Diagnostics& diagnostics) {
  if (node.is_null()) return otherwise;
  const auto value = yolo_number(node);
  if (value && *value > 0 && *value <= kLargestFactor) return *value;
  diagnostics.report(node.span, fmt::format("a scale's number must be above 0, at most {}", kLargestFactor));
  return otherwise;
}

}  // namespace

std::optional<double> yolo_number(const YamlNode& node) {
  double value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto read = std::from_chars(node.text.data(), end, value);
  const bool is_number = node.kind == YamlNode::Kind::scalar && read.ec == std::errc() && read.ptr == end;
  return is_number && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

YoloScale chosen_scale(const YamlNode& tree, const std::string& asked, const std::string& file,
                       std::vector<std::string>& remarks, Diagnostics& diagnostics) {
  YoloScale scale;
  const YamlNode& scales = tree.at("scales");
  if (scales.entries.empty()) {
    // YOLOv5's file is one scale by itself.
    scale.depth = factor_in(tree.at("depth_multiple"), 1, diagnostics);
    scale.width = factor_in(tree.at("width_multiple"), 1, diagnostics);
    return scale;
  }
  const std::string said = !asked.empty() ? asked : letter_in(file);
  const auto found = std::ranges::find_if(scales.entries, [&](const auto& row) { return row.first == said; });
  // Without a name, or with a file of another name, the first scale counts; an unknown name is a mistake.
  const auto& [letter, numbers] = found == scales.entries.end() ? scales.entries.front() : *found;
  scale.letter = quotable(letter.substr(0, 20));
  if (found == scales.entries.end() && !asked.empty()) {
    diagnostics.report(scales.span, fmt::format("there is no scale {}", quotable(asked.substr(0, 20))),
                       fmt::format("--name takes one of `scales`, as in --name {}", scale.letter));
    return scale;
  }
  remarks.push_back(fmt::format("scale {}; another by --name", scale.letter));
  // The three numbers are depth, width, and the most channels.
  if (numbers.items.size() != 3) {
    diagnostics.report(numbers.span, "a scale must be [depth, width, most channels]");
    return scale;
  }
  scale.depth = factor_in(numbers.items[0], 1, diagnostics);
  scale.width = factor_in(numbers.items[1], 1, diagnostics);
  scale.most_channels = factor_in(numbers.items[2], 1, diagnostics);
  return scale;
}

}  // namespace foretrain
