// The shape of one sample's tensor inside a network, and the largest sizes that a network may have.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrain {

/// Largest number of elements of a tensor, weight or activation.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
inline constexpr std::int64_t kMostLayers = 100'000;
inline constexpr int kDeepestBranch = 50;
inline constexpr std::int64_t kMostBranches = 1'000;

/// The kinds of tensors. image: {channels, height, width}. sequence: {length, width}. features: {width}.
/// tokens: {length} of integer ids, 8 bytes each. volume: {channels, depth, height, width}. A one-dimensional
/// signal is an image of height 1.
enum class ShapeKind : std::uint8_t { image, sequence, features, tokens, volume };

/// A shape of at most four dimensions, all at least 1. `size` beyond the rank is 1, so that the product of
/// all four is the number of elements.
struct Shape {
  ShapeKind kind = ShapeKind::features;
  std::array<std::int64_t, 4> size{1, 1, 1, 1};
  friend bool operator==(const Shape&, const Shape&) = default;

  static Shape image(std::int64_t channels, std::int64_t height, std::int64_t width) {
    return {ShapeKind::image, {channels, height, width, 1}};
  }
  static Shape volume(std::int64_t channels, std::int64_t depth, std::int64_t height, std::int64_t width) {
    return {ShapeKind::volume, {channels, depth, height, width}};
  }
  static Shape sequence(std::int64_t length, std::int64_t width) {
    return {ShapeKind::sequence, {length, width, 1, 1}};
  }
  static Shape features(std::int64_t width) { return {ShapeKind::features, {width, 1, 1, 1}}; }

  std::int64_t elements() const { return size[0] * size[1] * size[2] * size[3]; }
  /// Returns the length of a sequence, and 1 for features.
  std::int64_t rows() const { return kind == ShapeKind::sequence ? size[0] : 1; }
  /// Returns the last dimension of a sequence or of features.
  std::int64_t width() const { return kind == ShapeKind::sequence ? size[1] : size[0]; }
  bool is_rows() const { return kind == ShapeKind::sequence || kind == ShapeKind::features; }

  /// Returns the number of dimensions behind the channels: 2 for an image, 3 for a volume, 0 for all others.
  std::size_t sides() const { return kind == ShapeKind::volume ? 3 : (kind == ShapeKind::image ? 2 : 0); }
  /// Returns height times width, times depth for a volume.
  std::int64_t positions() const { return sides() == 0 ? 1 : size[1] * size[2] * size[3]; }
  /// Returns the number of dimensions, 1 to 4.
  std::size_t rank() const;
  /// Returns the dimension in which joined tensors may differ: channels of images and volumes, the last
  /// dimension of the others.
  std::size_t joint() const { return kind == ShapeKind::sequence ? 1 : 0; }
};

/// Returns the sizes as text: "[64, 56, 56]", with a note for tokens.
std::string to_string(const Shape& shape);

/// True for a shape of at most kMostElements elements.
bool is_bounded(const Shape& shape);

/// Returns the product of positive numbers, or nothing when it exceeds kMostElements or a factor is not
/// positive.
std::optional<std::int64_t> bounded_product(const std::vector<std::int64_t>& factors);

/// Returns the shape of a list of one to four sizes (one for tokens), or nothing when it is no shape within
/// the limits.
std::optional<Shape> input_shape(const std::vector<std::int64_t>& input, bool is_tokens);

}  // namespace foretrain
