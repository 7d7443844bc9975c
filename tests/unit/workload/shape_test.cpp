// Shapes: what an input may be, and products that cannot overflow.
#include "sim/workload/layers/shape.hpp"

#include <limits>

#include "tests/support/catch.hpp"

namespace shape_test {

using namespace foretrain;

TEST_CASE("an input is read by the number of its dimensions") {
  CHECK(input_shape({10}, false) == Shape::features(10));
  CHECK(input_shape({16, 8}, false) == Shape::sequence(16, 8));
  CHECK(input_shape({3, 5, 7}, false) == Shape::image(3, 5, 7));
  CHECK(input_shape({16}, true)->kind == ShapeKind::tokens);
  CHECK_FALSE(input_shape({16, 8}, true));
  CHECK_FALSE(input_shape({}, false));
  CHECK_FALSE(input_shape({3, -5, 7}, false));
}

TEST_CASE("products stop at 2^40") {
  CHECK(bounded_product({1 << 20, 1 << 20}) == kMostElements);
  CHECK_FALSE(bounded_product({1 << 20, 1 << 20, 2}));
  CHECK_FALSE(
      bounded_product({std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()}));
  CHECK_FALSE(bounded_product({0}));
  CHECK_FALSE(bounded_product({-1, -1}));
  CHECK(bounded_product({}) == 1);
}

TEST_CASE("rows and width of a sequence and of features") {
  CHECK(Shape::sequence(16, 8).rows() == 16);
  CHECK(Shape::sequence(16, 8).width() == 8);
  CHECK(Shape::features(8).rows() == 1);
  CHECK(Shape::features(8).width() == 8);
  CHECK(Shape::image(3, 5, 7).elements() == 105);
  CHECK_FALSE(Shape::image(3, 5, 7).is_rows());
}

TEST_CASE("shapes print as lists") {
  CHECK(to_string(Shape::image(3, 5, 7)) == "[3, 5, 7]");
  CHECK(to_string(Shape::sequence(16, 8)) == "[16, 8]");
  CHECK(to_string(Shape::features(8)) == "[8]");
  CHECK(to_string(*input_shape({16}, true)) == "[16] (tokens)");
}

}  // namespace shape_test
