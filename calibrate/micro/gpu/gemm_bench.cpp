// Products by size, precision and count: each checked against the host in small and against ones in its own
// size, then timed.
#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/products.hpp"
#include "calibrate/micro/gpu/timing.hpp"

namespace foretrain::micro {

Measure gemm_measure(const Session& session) {
  const OnDevice current(session.device());
  const auto products = std::make_shared<Products>(session.cublas, Stream());
  return [&session, products](const Point& point, const RepeatRule& rule) {
    const OnDevice here(session.device());
    const GemmShape shape = gemm_shape_of(point.sample);
    const std::string_view precision = setting_of(point.sample, "precision");
    products->expect_right_small(precision);
    const ProductOperands operands(shape, element_of(precision));
    products->expect_right_ones(shape, precision, operands);
    const auto multiply = [&] {
      products->multiply(shape, precision, operands.a.data(), operands.b.data(), operands.c.data());
    };
    return Measured{time_on_stream(products->stream(), multiply, rule), {}};
  };
}

}  // namespace foretrain::micro
