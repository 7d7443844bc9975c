// Reads a network of Ultralytics as its YAML has it (yolov5.yaml, yolov8-seg.yaml, yolo11.yaml, or one of a
// user). Below `backbone:` and `head:` are lists of [from, repeats, module, arguments]:
//   - [-1, 1, Conv, [64, 3, 2]]
// The arithmetic is that of parse_model (ultralytics/nn/tasks.py 8.4): repeats times the scale's depth,
// channels times its width. Taken are modules, channels, strides, classes and anchors. Activations count as
// SiLU. Modules, arguments and heads that are not known are reported at their place.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/yaml.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/readers.hpp"
#include "sim/import/yolo/heads.hpp"
#include "sim/import/yolo/scale.hpp"

namespace foretrain {

namespace {

// Limits on a file: bytes, layers and values of the YAML, and the numbers in it.
constexpr std::size_t kLargestYolo = std::size_t{1} << 18, kMostYoloLayers = 500, kMostYoloValues = 20'000;
constexpr std::int64_t kMostChannels = 100'000, kMostKernel = 64, kMostRepeats = 1000,
                       kMostClasses = 1'000'000;
/// Pixels of the image for one of a result; larger ones are refused with the network.
constexpr std::int64_t kMostStride = 1'000'000;
/// Sides of images where --image is not given, as Ultralytics trains: detection, and classification.
constexpr std::int64_t kUsualSide = 640, kClassifierSide = 224;

/// Reads one file. Reading stops at the first layer with a mistake, because later channels depend on it.
class YoloReader {
 public:
  YoloReader(const YamlNode& tree, const ModelImportOptions& options, ImportedModel& made,
             Diagnostics& diagnostics)
      : tree_(tree), made_(made), diagnostics_(diagnostics), layers_(side_of(options)) {}

  /// Returns the model file; empty where something was reported.
  std::string read(const std::string& asked_scale, const std::string& file) {
    scale_ = chosen_scale(tree_, asked_scale, file, made_.remarks, diagnostics_);
    classes_ = integer_at("nc", 80, kMostClasses);
    if (const double bins = yolo_number(tree_.at("reg_max")).value_or(kBoxBins); bins != kBoxBins)
      refuse(tree_.at("reg_max"), fmt::format("reg_max is {}, and heads of 16 are known", bins));
    if (tree_.at("end2end").text == "True" || tree_.at("end2end").text == "true")
      refuse(tree_.at("end2end"), "heads that are trained twice (end2end) are not known");
    if (!tree_.at("activation").is_null())
      made_.remarks.push_back(
          "its activation is taken as SiLU, whose time and memory are those of the others");
    std::vector<const YamlNode*> rows;
    for (const char* part : {"backbone", "head"})
      for (const YamlNode& row : tree_.at(part).items) rows.push_back(&row);
    if (rows.empty() || rows.size() > kMostYoloLayers)
      return refuse(tree_, fmt::format("backbone and head must hold 1 to {} layers", kMostYoloLayers)), "";
    mark_used(rows);
    for (std::size_t i = 0; i < rows.size() && diagnostics_.empty(); ++i) add(*rows[i], i);
    if (!diagnostics_.empty()) return "";
    if (!has_head_)
      return refuse(*rows.back(), "the last layer is no head that is known", "known: " + known_heads()), "";
    return layers_.text(
        fmt::format("{}, {} x {} pixels (Ultralytics)", quotable_file(file), layers_.side(), layers_.side()),
        diagnostics_);
  }

 private:
  /// Returns the side of the image, which depends on whether the network classifies.
  std::int64_t side_of(const ModelImportOptions& options) const {
    if (options.image) return std::clamp<std::int64_t>(*options.image, 32, 16384);
    const YamlNode& head = tree_.at("head");
    const bool classifies = !head.items.empty() && head.items.back().items.size() > 2 &&
                            head.items.back().items[2].text == "Classify";
    return classifies ? kClassifierSide : kUsualSide;
  }

  void refuse(const YamlNode& node, std::string message, std::string hint = "") {
    diagnostics_.report(node.span, std::move(message), std::move(hint));
  }

  /// Returns a whole number of the file's head from 1 to `most`; reports others.
  std::int64_t integer_at(const char* key, std::int64_t otherwise, std::int64_t most) {
    const YamlNode& node = tree_.at(key);
    if (node.is_null()) return otherwise;
    const auto value = yolo_number(node);
    if (value && *value >= 1 && *value <= static_cast<double>(most) && *value == std::floor(*value))
      return static_cast<std::int64_t>(*value);
    refuse(node, fmt::format("{} must be a whole number from 1 to {}", key, most));
    return otherwise;
  }

  /// Returns the layer that a number names. -1 counts back, others from the first layer on; -1 of the first
  /// layer is the image, which is no layer. Reports a layer that does not come before this one.
  std::optional<std::size_t> source_of(const YamlNode& node, std::size_t i) {
    const auto value = yolo_number(node);
    const auto count = static_cast<double>(i);
    if (value && *value == std::floor(*value) && *value < count && *value + count >= 0)
      return static_cast<std::size_t>(*value < 0 ? count + *value : *value);
    if (value && *value == -1) return std::nullopt;
    refuse(node, fmt::format("layer {} takes a result that is not there", i));
    return std::nullopt;
  }

  /// Finds the results that another layer than the next one takes; only those need a name.
  void mark_used(const std::vector<const YamlNode*>& rows) {
    used_.assign(rows.size(), false);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& cells = rows[i]->items;
      if (cells.size() < 3) continue;
      const bool is_list = cells[0].kind == YamlNode::Kind::list;
      const bool joins = is_list || is_yolo_head(cells[2].text);
      for (const YamlNode& node : is_list ? cells[0].items : std::vector<YamlNode>{cells[0]}) {
        const auto at = yolo_number(node);
        if (!at) continue;
        const double from = *at < 0 ? static_cast<double>(i) + *at : *at;
        if (from >= 0 && from < static_cast<double>(i) && (joins || from + 1 < static_cast<double>(i)))
          used_[static_cast<std::size_t>(from)] = true;
      }
    }
  }

  /// Adds one layer; reports a row of another form.
  void add(const YamlNode& row, std::size_t i) {
    if (row.items.size() != 4 || row.items[3].kind != YamlNode::Kind::list)
      return refuse(row, "a layer must be [from, repeats, module, [arguments]]");
    const YamlNode& from = row.items[0];
    std::vector<std::size_t> sources;
    for (const YamlNode& node :
         from.kind == YamlNode::Kind::list ? from.items : std::vector<YamlNode>{from}) {
      const auto source = source_of(node, i);
      if (source) sources.push_back(*source);
    }
    const auto repeats = yolo_number(row.items[1]);
    if (!repeats || *repeats < 1 || *repeats > kMostRepeats || *repeats != std::floor(*repeats))
      refuse(row.items[1], fmt::format("repeats must be a whole number from 1 to {}", kMostRepeats));
    if (!diagnostics_.empty()) return;
    Row layer{row.items[2].text, &row.items[2], &row.items[3].items, std::move(sources), i, 1};
    // Python's round() goes to the even neighbour, as nearbyint does.
    layer.repeats = *repeats > 1 ? std::max<std::int64_t>(
                                       1, static_cast<std::int64_t>(std::nearbyint(*repeats * scale_.depth)))
                                 : 1;
    if (layer.repeats > kMostRepeats)
      return refuse(row.items[1], fmt::format("the scale makes more than {} repeats", kMostRepeats));
    const bool follows = layer.sources.empty() || layer.sources.front() + 1 == i;
    const YoloResult before = layer.sources.empty() ? YoloResult{} : results_[layer.sources.front()];
    layers_.begin(i, follows ? "" : name_of_result(layer.sources.front()));
    YoloResult result = write(layer, before);
    results_.push_back(result);
    if (diagnostics_.empty() && used_[i]) layers_.name_last(name_of_result(i));
  }

  /// One layer, checked: `repeats` is scaled already.
  struct Row {
    std::string module;
    const YamlNode* at;
    const std::vector<YamlNode>* arguments;
    std::vector<std::size_t> sources;
    std::size_t number;
    std::int64_t repeats;
  };

  static std::string name_of_result(std::size_t i) { return fmt::format("l{}", i); }

  /// Returns a whole number of the arguments; `nc` stands for the number of classes. `otherwise` where it is
  /// missing; reports others.
  std::int64_t argument(const Row& row, std::size_t at, std::int64_t otherwise, std::int64_t most) {
    if (at >= row.arguments->size()) return otherwise;
    const YamlNode& node = (*row.arguments)[at];
    if (node.is_null() || node.text == "None") return otherwise;
    if (node.text == "nc") return classes_;
    const auto value = yolo_number(node);
    if (value && *value >= 0 && *value <= static_cast<double>(most) && *value == std::floor(*value))
      return static_cast<std::int64_t>(*value);
    refuse(node, fmt::format("{} takes a whole number from 0 to {} here", quotable(row.module), most));
    return std::max<std::int64_t>(otherwise, 1);
  }
  /// Returns a truth value of the arguments, in Python's or YAML's spelling.
  bool truth(const Row& row, std::size_t at, bool otherwise) const {
    if (at >= row.arguments->size() || (*row.arguments)[at].is_null()) return otherwise;
    const std::string word = lower_case((*row.arguments)[at].text);
    return word == "true" || word == "1";
  }
  double share(const Row& row, std::size_t at, double otherwise) const {
    return at < row.arguments->size() ? yolo_number((*row.arguments)[at]).value_or(otherwise) : otherwise;
  }

  /// Returns channels times the width, rounded up to a multiple of 8: make_divisible(min(channels, most) *
  /// width, 8).
  std::int64_t scaled(std::int64_t channels) const {
    return std::max<std::int64_t>(
        8, static_cast<std::int64_t>(
               std::ceil(std::min(static_cast<double>(channels), scale_.most_channels) * scale_.width / 8)) *
               8);
  }

  /// Writes one layer and returns its result.
  YoloResult write(const Row& row, const YoloResult& before) {
    const std::string& module = row.module;
    if (module == "Concat") return concat(row);
    if (module == "nn.Upsample") return upsample(row, before);
    if (module == "nn.Identity") return layers_.plain("\"scale\""), before;
    if (module == "nn.MaxPool2d" || module == "nn.ZeroPad2d") return pool(row, before);
    if (is_yolo_head(module)) return head(row);
    const std::int64_t out = scaled(argument(row, 0, 1, kMostChannels));
    if (module == "nn.ConvTranspose2d") return transposed(row, before, out);
    if (module == "Conv" || module == "DWConv") return convolution(row, before, out);
    const YoloResult result{out, before.stride};
    if (module == "C2f" || module == "C3" || module == "C3k2") return split(row, out), result;
    if (module == "SPPF" || module == "C2PSA") return whole(row, before, out), result;
    refuse(*row.at, fmt::format("the module {} is not known", quotable(module.substr(0, 60))),
           "known: Conv, DWConv, C2f, C3, C3k2, SPPF, C2PSA, Concat, nn.Upsample, nn.ConvTranspose2d, "
           "nn.MaxPool2d, " +
               known_heads() + "; `foretrain record` takes every network");
    return result;
  }

  YoloResult convolution(const Row& row, const YoloResult& before, std::int64_t out) {
    YoloConv conv{.out = out, .kernel = std::max<std::int64_t>(1, argument(row, 1, 1, kMostKernel))};
    conv.stride = std::max<std::int64_t>(1, argument(row, 2, 1, kMostKernel));
    const bool is_deep = row.module == "DWConv";
    // A depthwise convolution has as many groups as both sides allow.
    conv.padding = is_deep ? conv.kernel / 2 : argument(row, 3, conv.kernel / 2, kMostKernel);
    conv.groups = is_deep ? std::gcd(before.channels, out)
                          : std::max<std::int64_t>(1, argument(row, 4, 1, kMostChannels));
    for (std::int64_t i = 0; i < row.repeats; ++i) {
      if (row.repeats > 1) layers_.part(std::to_string(i));
      layers_.conv(conv);
    }
    std::int64_t stride = before.stride;
    for (std::int64_t i = 0; i < row.repeats; ++i) stride = std::min(kMostStride, stride * conv.stride);
    return {out, stride};
  }

  YoloResult transposed(const Row& row, const YoloResult& before, std::int64_t out) {
    const std::int64_t kernel = std::max<std::int64_t>(1, argument(row, 1, 1, kMostKernel)),
                       stride = std::max<std::int64_t>(1, argument(row, 2, 1, kMostKernel));
    layers_.plain(fmt::format("\"conv_transpose\", out = {}, kernel = {}, stride = {}, padding = {}", out,
                              kernel, stride, argument(row, 3, 0, kMostKernel)));
    return {out, std::max<std::int64_t>(1, before.stride / stride)};
  }

  /// An upsampling divides the stride; the first argument is a size, the second the factor.
  YoloResult upsample(const Row& row, const YoloResult& before) {
    const std::int64_t factor = std::max<std::int64_t>(1, argument(row, 1, 2, kMostKernel));
    layers_.plain(fmt::format("\"upsample\", factor = {}", factor));
    return {before.channels, std::max<std::int64_t>(1, before.stride / factor)};
  }

  YoloResult pool(const Row& row, const YoloResult& before) {
    if (row.module == "nn.ZeroPad2d")
      return refuse(*row.at, "nn.ZeroPad2d is not known", "pad the layer behind it"), before;
    const std::int64_t kernel = std::max<std::int64_t>(1, argument(row, 0, 2, kMostKernel)),
                       stride = std::max<std::int64_t>(1, argument(row, 1, kernel, kMostKernel));
    layers_.plain(fmt::format("\"max_pool\", kernel = {}, stride = {}, padding = {}", kernel, stride,
                              argument(row, 2, 0, kMostKernel)));
    return {before.channels, std::min(kMostStride, before.stride * stride)};
  }

  YoloResult concat(const Row& row) {
    YoloResult out{0, row.sources.empty() ? 1 : results_[row.sources.front()].stride};
    std::vector<std::string> names;
    for (const std::size_t source : row.sources) {
      out.channels += results_[source].channels;
      names.push_back(name_of_result(source));
    }
    if (names.empty()) return refuse(*row.at, "Concat joins nothing"), out;
    return layers_.concat(names), out;
  }

  /// Writes blocks that work on a part of their channels: C2f(out, shortcut, groups, share), C3 with the same
  /// arguments, and C3k2(out, nested, share). Other shares than a half are known for C3k2 only.
  void split(const Row& row, std::int64_t out) {
    const bool is_c3k2 = row.module == "C3k2";
    const double e = share(row, is_c3k2 ? 2 : 3, 0.5);
    const bool is_grouped = !is_c3k2 && argument(row, 2, 1, kMostChannels) != 1;
    const bool is_other = is_c3k2 ? row.arguments->size() > 3 || e <= 0 || e > 1 : e != 0.5;
    if (is_grouped || is_other)
      return refuse(*row.at, fmt::format("{} with these arguments is not known", row.module),
                    "groups, attention and another share of channels are not read");
    if (is_c3k2) {
      uses_c3k2_ = true;
      // parse_model nests the blocks of the scales m, l and x, whatever the argument says.
      const bool nested =
          scale_.letter == "m" || scale_.letter == "l" || scale_.letter == "x" || truth(row, 1, false);
      return layers_.block(
          "yolo11", "c3k2",
          fmt::format("out = {}, hidden = {}, plain = {}, nested = {}", out,
                      std::max<std::int64_t>(2, static_cast<std::int64_t>(static_cast<double>(out) * e)),
                      nested ? 0 : row.repeats, nested ? row.repeats : 0));
    }
    const bool is_c3 = row.module == "C3";
    const bool adds = truth(row, 1, is_c3);
    layers_.block(is_c3 ? "yolov5" : "yolov8", is_c3 ? "c3" : "c2f",
                  fmt::format("out = {}, residual = {}, straight = {}", out, adds ? row.repeats : 0,
                              adds ? 0 : row.repeats));
  }

  /// Writes SPPF and C2PSA, which must keep their channels.
  void whole(const Row& row, const YoloResult& before, std::int64_t out) {
    if (before.channels != out)
      return refuse(*row.at, fmt::format("{} gets {} channels and gives {}, which is not known", row.module,
                                         before.channels, out));
    if (row.module == "SPPF") {
      if (argument(row, 1, 5, kMostKernel) != 5 || row.arguments->size() > 2)
        return refuse(*row.at, "SPPF with these arguments is not known", "it pools three times over 5 x 5");
      return layers_.block("yolov8", "sppf", fmt::format("out = {}", out));
    }
    // Attention of C2PSA runs over the positions of the image, and a head has 128 channels of the block.
    layers_.block(
        "yolo11", "c2psa",
        fmt::format("out = {}, depth = {}, grid = {}, heads = {}", out, row.repeats,
                    std::max<std::int64_t>(1, layers_.side() / std::max<std::int64_t>(1, before.stride)),
                    std::max<std::int64_t>(1, out / 128)));
  }

  YoloResult head(const Row& row) {
    YoloHead head;
    head.kind = row.module;
    head.classes = std::max<std::int64_t>(1, argument(row, 0, classes_, kMostClasses));
    // Ultralytics changes to the newer form of heads where a network has C3k2.
    head.is_older = !uses_c3k2_;
    for (const std::size_t source : row.sources)
      head.levels.push_back({name_of_result(source), results_[source].channels});
    if (head.levels.empty()) return refuse(*row.at, "a head needs layers to look at"), YoloResult{};
    head.further = further(row);
    if (row.module == "Segment") head.prototypes = scaled(argument(row, 2, 256, kMostChannels));
    if (row.module == "Detect" && row.arguments->size() > 1) head.anchors = anchors(row);
    if (!diagnostics_.empty()) return {};
    write_yolo_head(head, layers_);
    has_head_ = true;
    // Nothing follows a head, so its result needs no name.
    used_[row.number] = false;
    return {1, 0};
  }

  /// Returns the outputs for each position beside boxes and classes: coefficients of masks, coordinates of
  /// points, or angles.
  std::int64_t further(const Row& row) {
    if (row.module == "Segment") return argument(row, 1, 32, kMostChannels);
    if (row.module == "OBB") return argument(row, 1, 1, kMostChannels);
    if (row.module != "Pose") return 0;
    std::int64_t product = 1;
    for (const YamlNode& side : tree_.at("kpt_shape").items)
      product *= std::clamp<std::int64_t>(static_cast<std::int64_t>(yolo_number(side).value_or(1)), 1, 1000);
    // The default are 17 points with two coordinates and visibility.
    return tree_.at("kpt_shape").items.size() == 2 ? product : 17 * 3;
  }

  /// Returns the boxes for each position in YOLOv5's own head: pairs of numbers in a level's list.
  std::int64_t anchors(const Row& row) {
    const YamlNode& listed =
        (*row.arguments)[1].text == "anchors" ? tree_.at("anchors") : (*row.arguments)[1];
    const std::size_t pairs = listed.items.empty() ? 0 : listed.items.front().items.size() / 2;
    if (pairs >= 1 && pairs <= 100) return static_cast<std::int64_t>(pairs);
    const auto count = yolo_number(listed);
    if (count && *count >= 1 && *count <= 100) return static_cast<std::int64_t>(*count);
    return refuse((*row.arguments)[1], "anchors must be a list of pairs for each level"), 1;
  }

  const YamlNode& tree_;
  ImportedModel& made_;
  Diagnostics& diagnostics_;
  YoloLayers layers_;
  YoloScale scale_;
  std::int64_t classes_ = 80;
  bool uses_c3k2_ = false, has_head_ = false;
  std::vector<YoloResult> results_;
  std::vector<bool> used_;
};

bool has_line(std::string_view text, std::string_view beginning) {
  for (std::size_t at = text.find(beginning); at != std::string_view::npos;
       at = text.find(beginning, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

}  // namespace

bool is_ultralytics_yaml(std::string_view text) {
  return has_line(text, "backbone:") && has_line(text, "head:");
}

ImportedModel read_ultralytics_yaml(const SourceText& source, const ModelImportOptions& options,
                                    Diagnostics& diagnostics) {
  ImportedModel made;
  const std::vector<YamlNode> documents = read_yaml(source, {kLargestYolo, kMostYoloValues});
  const YamlNode tree = documents.empty() ? YamlNode{} : documents.front();
  const std::string text = YoloReader(tree, options, made, diagnostics).read(options.name, source.name);
  if (!text.empty())
    made.text = fmt::format("# Made by `foretrain model import` of {}, a network of Ultralytics.\n{}",
                            quotable_file(source.name), text);
  return made;
}

}  // namespace foretrain
