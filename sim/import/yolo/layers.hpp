// The layers of an Ultralytics network, written one after the other as a model file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// What a layer gives to those behind it.
struct YoloResult {
  std::int64_t channels = 3;
  std::int64_t stride = 1;  ///< pixels of the image for one of its own; 0: no image
};

/// A convolution with its norm and SiLU, as Ultralytics' Conv.
struct YoloConv {
  std::int64_t out = 0, kernel = 1, stride = 1, padding = 0, groups = 1;
};

/// Writes layers and remembers whose blocks they need. Names of results are "l" and the layer's number.
class YoloLayers {
 public:
  /// `side` is that of the image.
  explicit YoloLayers(std::int64_t side) : side_(side) {}

  /// Of the layer `number`, which takes `from` ("l4"; empty: the result before it).
  void begin(std::size_t number, std::string from) {
    number_ = number, from_ = std::move(from), part_.clear();
  }
  /// The name of a part of it, which stands behind its number: "cv2.0".
  void part(std::string name, std::string from = "") { part_ = std::move(name), from_ = std::move(from); }

  void conv(const YoloConv& conv);
  /// A block of a family of the catalog ("yolov8", "c2f"), with the numbers that it takes; `repeat` times.
  void block(std::string_view family, std::string_view block, std::string_view with, std::int64_t repeat = 1);
  /// Any layer: `keys` is its type and what it takes besides its name.
  void plain(std::string_view keys);
  void concat(const std::vector<std::string>& from);
  /// The result of the last line gets this name.
  void name_last(std::string_view name);
  void losses(const std::vector<std::string>& heads);

  std::int64_t side() const { return side_; }
  /// Everything, with the blocks that were used; empty, and reported, where the catalog lacks a family.
  std::string text(std::string_view title, Diagnostics& diagnostics) const;

 private:
  std::string tail(std::string_view suffix = "");

  std::int64_t side_;
  std::size_t number_ = 0;
  std::string from_, part_, lines_;
  std::set<std::string, std::less<>> families_;
};

/// The blocks of a family of the catalog with its name before each of theirs; empty: there is no such family.
std::string blocks_of_family(std::string_view family);

}  // namespace foretrain
