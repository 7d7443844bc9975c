// Declares a writer for the layers of an Ultralytics network, one after the other, as a model file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The result of a layer, as later layers need it.
struct YoloResult {
  std::int64_t channels = 3;
  /// Pixels of the image for one pixel of the result; 0: the result is no image.
  std::int64_t stride = 1;
};

/// A convolution with its norm and SiLU, as Ultralytics' Conv.
struct YoloConv {
  std::int64_t out = 0, kernel = 1, stride = 1, padding = 0, groups = 1;
};

/// Writes layers and collects the families whose blocks they use. A result is named "l" and the layer's
/// number.
class YoloLayers {
 public:
  /// `side` is that of the image, in pixels.
  explicit YoloLayers(std::int64_t side) : side_(side) {}

  /// Begins the layer `number`, which takes `from` ("l4"; empty: the result before it).
  void begin(std::size_t number, std::string from) {
    number_ = number, from_ = std::move(from), part_.clear();
  }
  /// Begins a part of the layer. Its name stands behind the layer's number: "cv2.0".
  void part(std::string name, std::string from = "") { part_ = std::move(name), from_ = std::move(from); }

  /// Writes a convolution with norm and activation.
  void conv(const YoloConv& conv);
  /// Writes a block of a catalog's family ("yolov8", "c2f") with its arguments, `repeat` times.
  void block(std::string_view family, std::string_view block, std::string_view with, std::int64_t repeat = 1);
  /// Writes any layer: `keys` is its type and its keys except name and input.
  void plain(std::string_view keys);
  /// Writes a layer that joins results by their channels.
  void concat(const std::vector<std::string>& from);
  /// Names the result of the last line. Requires that a line was written.
  void name_last(std::string_view name);
  /// Writes a loss for each of these results.
  void losses(const std::vector<std::string>& heads);

  std::int64_t side() const { return side_; }
  /// Returns the model file with the blocks that are used. Reports a family that the catalog lacks.
  std::string text(std::string_view title, Diagnostics& diagnostics) const;

 private:
  std::string tail(std::string_view suffix = "");

  std::int64_t side_;
  std::size_t number_ = 0;
  std::string from_, part_, lines_;
  std::set<std::string, std::less<>> families_;
};

/// Returns the blocks of a catalog's family, with the family's name in front of theirs. Empty: there is no
/// such family.
std::string blocks_of_family(std::string_view family);

}  // namespace foretrain
