// The shape of one sample's tensor inside a network: printing and checked products.
#include "sim/workload/shape.hpp"

#include <fmt/format.h>

namespace foretrain {

std::string to_string(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::image:
      return fmt::format("[{}, {}, {}]", shape.size[0], shape.size[1], shape.size[2]);
    case ShapeKind::sequence:
      return fmt::format("[{}, {}]", shape.size[0], shape.size[1]);
    case ShapeKind::features:
      return fmt::format("[{}]", shape.size[0]);
    case ShapeKind::tokens:
      return fmt::format("[{}] (tokens)", shape.size[0]);
  }
  return "[]";
}

std::optional<std::int64_t> bounded_product(const std::vector<std::int64_t>& factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor < 1 || __builtin_mul_overflow(product, factor, &product) || product > kMostElements) return std::nullopt;
  }
  return product;
}

std::optional<Shape> input_shape(const std::vector<std::int64_t>& input, bool is_tokens) {
  if (input.empty() || input.size() > 3 || !bounded_product(input)) return std::nullopt;
  if (is_tokens) {
    if (input.size() != 1) return std::nullopt;
    return Shape{ShapeKind::tokens, {input[0], 1, 1}};
  }
  if (input.size() == 1) return Shape::features(input[0]);
  if (input.size() == 2) return Shape::sequence(input[0], input[1]);
  return Shape::image(input[0], input[1], input[2]);
}

}  // namespace foretrain
