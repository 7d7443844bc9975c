// Kernels that only move data: copy, add, reduce. Small ones run in the cache, as their buffers stay there
// between launches.
#include <cmath>

#include <fmt/format.h>

#include "calibrate/micro/gpu/catalog.hpp"
#include "calibrate/micro/gpu/read_back.hpp"
#include "calibrate/micro/gpu/timing.hpp"

namespace foretrain::micro {

namespace {

/// How many tensors each moves.
int tensors_of(std::string_view what) { return what == "reduce" ? 1 : what == "copy" ? 2 : 3; }

struct Tensors {
  Tensors(std::int64_t count, int tensors) : elements(count) {
    for (int i = 0; i < tensors; ++i) buffers.emplace_back(static_cast<std::size_t>(count) * sizeof(float));
  }
  float* at(std::size_t i) const { return buffers[i].as<float>(); }
  std::int64_t elements;
  std::vector<DeviceBuffer> buffers;
  DeviceBuffer total{sizeof(float)};
};

void launch(std::string_view what, const Tensors& t, const Stream& stream) {
  if (what == "copy") FORETRAIN_CUDA(launch_copy(t.at(0), t.at(1), t.elements, stream.get()));
  if (what == "add") FORETRAIN_CUDA(launch_add(t.at(0), t.at(1), t.at(2), t.elements, stream.get()));
  if (what == "reduce") FORETRAIN_CUDA(launch_reduce(t.at(0), t.total.as<float>(), t.elements, stream.get()));
}

/// Inputs are ones: copies are ones, sums two; the reduced one is the number of elements, in floats of 24
/// bits added up by warps.
void expect_right(std::string_view what, const Tensors& t, const Stream& stream) {
  FORETRAIN_CUDA(cudaMemsetAsync(t.total.data(), 0, sizeof(float), stream.get()));
  for (std::size_t i = 0; i < t.buffers.size(); ++i)
    FORETRAIN_CUDA(launch_fill(Element::fp32, t.at(i), t.elements, i < 2 ? 1 : 0, stream.get()));
  if (what == "copy") FORETRAIN_CUDA(launch_fill(Element::fp32, t.at(1), t.elements, 0, stream.get()));
  launch(what, t, stream);
  if (what == "reduce") {
    constexpr double kTolerance = 0.01;
    const double sum = read_elements(Element::fp32, t.total.data(), 1, stream).front(),
                 expected = static_cast<double>(t.elements);
    if (!(std::abs(sum - expected) <= kTolerance * expected))
      throw WrongResult(fmt::format("the sum is {}, expected {}", sum, expected));
    return;
  }
  const std::int64_t wrong =
      count_wrong(Element::fp32, t.at(t.buffers.size() - 1), t.elements, what == "add" ? 2 : 1, 0, stream);
  if (wrong > 0) throw WrongResult(fmt::format("{} of {} elements are wrong", wrong, t.elements));
}

}  // namespace

Measure memory_measure(const Session& session) {
  return [&session](const Point& point, const RepeatRule& rule) {
    const OnDevice current(session.device());
    const std::string& what = point.sample.what;
    const int tensors = tensors_of(what);
    const Stream stream;
    const Tensors t(point.sample.bytes / tensors / static_cast<std::int64_t>(sizeof(float)), tensors);
    expect_right(what, t, stream);
    return Measured{time_on_stream(
                        stream, [&] { launch(what, t, stream); }, rule),
                    {}};
  };
}

}  // namespace foretrain::micro
