// Convolutions by shape, precision and pass: each checked against the host in small and by its sum in its own
// size, then timed.
#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/convolutions.hpp"
#include "calibrate/micro/gpu/timing.hpp"

namespace foretrain::micro {

#ifdef FORETRAIN_HAS_CUDNN_HEADER

Measure conv_measure(const Session& session) {
  const OnDevice current(session.device());
  const auto convolutions = std::make_shared<Convolutions>(session.cudnn, Stream());
  return [&session, convolutions](const Point& point, const RepeatRule& rule) {
    const OnDevice here(session.device());
    const ConvShape shape = conv_shape_of(point.sample);
    const std::string_view precision = setting_of(point.sample, "precision");
    const ConvPass pass = pass_of(point.sample.what);
    convolutions->expect_right_small(precision, pass);
    const auto plan =
        convolutions->prepare(shape, precision, setting_of(point.sample, "layout") == "nhwc", pass);
    const ConvOperands operands(shape, element_of(precision));
    convolutions->expect_right_sum(shape, plan, element_of(precision), operands);
    const auto run = [&] {
      convolutions->run(plan, operands.x.data(), operands.w.data(), operands.y.data());
    };
    return Measured{time_on_stream(convolutions->stream(), run, rule, 30e-6), {}};
  };
}

#else

Measure conv_measure(const Session&) {
  return [](const Point&, const RepeatRule&) -> Measured {
    throw PointSkipped("this foretrain-bench was built without the header of cuDNN");
  };
}

#endif

}  // namespace foretrain::micro
