// Shapes of one sample's tensors: ranks, printing and checked products.
#include "sim/workload/layers/shape.hpp"

#include <fmt/format.h>

namespace foretrain {

std::size_t Shape::rank() const {
  switch (kind) {
    case ShapeKind::volume:
      return 4;
    case ShapeKind::image:
      return 3;
    case ShapeKind::sequence:
      return 2;
    case ShapeKind::features:
    case ShapeKind::tokens:
      return 1;
  }
  return 1;
}

std::string to_string(const Shape& shape) {
  const auto* begin = shape.size.data();
  return fmt::format("[{}]{}", fmt::join(begin, begin + shape.rank(), ", "),
                     shape.kind == ShapeKind::tokens ? " (tokens)" : "");
}

bool is_bounded(const Shape& shape) {
  return bounded_product({shape.size.begin(), shape.size.end()}).has_value();
}

std::optional<std::int64_t> bounded_product(const std::vector<std::int64_t>& factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor < 1 || __builtin_mul_overflow(product, factor, &product) || product > kMostElements)
      return std::nullopt;
  }
  return product;
}

// The number of sizes decides the kind: features, sequence, image or volume.
std::optional<Shape> input_shape(const std::vector<std::int64_t>& input, bool is_tokens) {
  if (input.empty() || input.size() > 4 || !bounded_product(input)) return std::nullopt;
  if (is_tokens) {
    if (input.size() != 1) return std::nullopt;
    return Shape{ShapeKind::tokens, {input[0], 1, 1, 1}};
  }
  if (input.size() == 1) return Shape::features(input[0]);
  if (input.size() == 2) return Shape::sequence(input[0], input[1]);
  if (input.size() == 3) return Shape::image(input[0], input[1], input[2]);
  return Shape::volume(input[0], input[1], input[2], input[3]);
}

}  // namespace foretrain
