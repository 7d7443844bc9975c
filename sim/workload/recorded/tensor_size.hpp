// Sizes of recorded tensors, such as "f32[B,3,224,224]": the type of the elements, and how each dimension
// grows with the batch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// torch's element types by their short names.
enum class ElementType : std::uint8_t { f64, f32, f16, bf16, f8, i64, i32, i16, i8, u8, b8, c64 };

/// Returns the short name: "f32", ….
std::string_view name_of(ElementType type);
/// Returns the bytes of one element.
int bytes_of(ElementType type);
/// True for floating-point types, which stand first in ElementType.
inline bool is_floating(ElementType type) { return type <= ElementType::f8; }
inline bool is_16_bit(ElementType type) { return type == ElementType::f16 || type == ElementType::bf16; }

/// A dimension, fixed + batch * per_sample, written as "7", "B", "49B" or "1+2B".
struct Extent {
  std::int64_t fixed = 0, per_sample = 0;
  double at(double batch) const {
    return static_cast<double>(fixed) + batch * static_cast<double>(per_sample);
  }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// Most dimensions of a recorded tensor; parse_tensor_size() refuses more.
inline constexpr std::size_t kMostRecordedDimensions = 8;
/// Largest value of a dimension, and largest number of elements of a tensor.
inline constexpr std::int64_t kLargestExtent = std::int64_t{1} << 40;

/// The element type and shape of a tensor. A dimension may grow with the batch.
struct TensorSize {
  ElementType type = ElementType::f32;
  std::vector<Extent> dimensions;  ///< none: a scalar

  /// Returns the number of elements at a batch; grows() is true where it depends on the batch.
  double elements(double batch) const;
  bool grows() const;
  friend bool operator==(const TensorSize&, const TensorSize&) = default;
};

/// Returns the text that parse_tensor_size() reads.
std::string to_string(const TensorSize& size);

/// The result of parse_tensor_size(). The size is valid where `fault` is empty.
struct ParsedTensorSize {
  TensorSize size;
  /// The fault follows the name of the tensor in a message; the hint may be empty.
  std::string fault, hint;
};

/// Parses "DTYPE[d0,d1,…]" without spaces around it. Each dimension is `a`, `B`, `bB` or `a+bB`.
ParsedTensorSize parse_tensor_size(std::string_view text);

}  // namespace foretrain
