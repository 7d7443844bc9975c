// Layers with windows against loops that place every window by hand: where windows fit, how many elements
// come out, and how often a number is multiplied.
#include <algorithm>

#include "sim/workload/lowering/operators.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/expanded_layers.hpp"

namespace window_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// One direction of a window; `reach` is the distance between its first and last position.
struct Window {
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::int64_t reach() const { return dilation * (kernel - 1); }
};

Window drawn(Random& random, bool dilates) {
  Window window;
  window.kernel = pick<std::int64_t>(random, {1, 2, 3, 5, 7});
  window.stride = pick<std::int64_t>(random, {1, 1, 2, 3});
  window.padding = static_cast<std::int64_t>(random() % static_cast<unsigned>(window.kernel / 2 + 1));
  if (dilates) window.dilation = pick<std::int64_t>(random, {1, 1, 2});
  return window;
}

/// Windows from the left edge of the padding on, as long as they end before that of the right.
std::int64_t windows_that_fit(const Window& window, std::int64_t side) {
  std::int64_t count = 0;
  for (std::int64_t first = -window.padding; first + window.reach() < side + window.padding;
       first += window.stride)
    ++count;
  return count;
}

/// With a further one for what they leave at the right edge, if it begins left of the right padding.
std::int64_t windows_that_cover(const Window& window, std::int64_t side) {
  std::int64_t count = 0, covered = -window.padding;
  std::int64_t first = -window.padding;
  for (; first + window.reach() < side + window.padding; first += window.stride)
    ++count, covered = first + window.reach() + 1;
  return covered < side + window.padding && first < side ? count + 1 : count;
}

/// The furthest element that any input element of a transposed convolution is spread to, without the padding.
std::int64_t spread_over(const Window& window, std::int64_t side) {
  std::int64_t last = 0;
  for (std::int64_t place = 0; place < side; ++place) {
    for (std::int64_t k = 0; k < window.kernel; ++k)
      last = std::max(last, place * window.stride + k * window.dilation);
  }
  return last + 1 - 2 * window.padding;
}

Layer with_window(std::string_view type, const Window& window) {
  Layer layer = plain(type);
  set(layer, "kernel", window.kernel), set(layer, "stride", window.stride);
  set(layer, "padding", window.padding);
  return layer;
}

struct Image {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t elements() const { return channels * height * width; }
};

Image drawn_image(Random& random) {
  const auto side = [&] { return static_cast<std::int64_t>(7 + random() % 20); };
  return {4 * static_cast<std::int64_t>(1 + random() % 4), side(), side()};
}

/// The layer behind a 1x1 convolution that keeps the channels, so that it is not the first.
ExpandedModel behind_first(const Image& image, const Layer& layer) {
  return expanded({image.channels, image.height, image.width}, {conv(image.channels, 1, 1, 0, false), layer});
}

std::string shape_text(const Image& image) {
  return "[" + std::to_string(image.channels) + ", " + std::to_string(image.height) + ", " +
         std::to_string(image.width) + "]";
}

constexpr int kDraws = 300;

}  // namespace

TEST_CASE("law: a convolution has the windows that fit, and multiplies each with every filter of its group") {
  Random random(11);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Image in = drawn_image(random);
    const Window window = drawn(random, true);
    const auto groups = pick<std::int64_t>(random, {1, 1, 2, 4});
    Image out{4 * static_cast<std::int64_t>(1 + random() % 5), windows_that_fit(window, in.height),
              windows_that_fit(window, in.width)};
    if (out.height < 1 || out.width < 1) continue;
    Layer layer = with_window("conv2d", window);
    const bool bias = random() % 2 == 0;
    set(layer, "out", out.channels), set(layer, "bias", bias), set(layer, "dilation", window.dilation);
    set(layer, "groups", groups);
    double products = 0;
    for (std::int64_t filter = 0; filter < out.channels; ++filter)
      products += static_cast<double>(out.height * out.width * (in.channels / groups) * window.kernel *
                                      window.kernel);
    INFO(shape_text(in) << " -> " << shape_text(out) << ", kernel " << window.kernel << " stride "
                        << window.stride << " padding " << window.padding << " dilation " << window.dilation
                        << " groups " << groups);
    const ExpandedModel model = behind_first(in, layer);
    CHECK(to_string(model.layer_traces[1].result) == shape_text(out));
    const double added = bias ? static_cast<double>(out.elements()) : 0;
    CHECK(model.forward[1].flops.at(1) == 2 * products + added);
    CHECK(model.parameters[1].elements ==
          out.channels * (in.channels / groups) * window.kernel * window.kernel);
    CHECK(model.parameters.size() == (bias ? 3 : 2));
  }
}

TEST_CASE("law: a pool has the windows that fit, or those that cover, and looks at each position of them") {
  Random random(12);
  int hanging = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Image in = drawn_image(random);
    const Window window = drawn(random, false);
    const bool covers = random() % 2 == 0;
    const auto windows = covers ? windows_that_cover : windows_that_fit;
    const Image out{in.channels, windows(window, in.height), windows(window, in.width)};
    if (out.height < 1 || out.width < 1) continue;
    hanging += out.height > windows_that_fit(window, in.height) ? 1 : 0;
    Layer layer = with_window("max_pool", window);
    set(layer, "ceil", covers);
    INFO(shape_text(in) << " -> " << shape_text(out) << ", kernel " << window.kernel << " stride "
                        << window.stride << " padding " << window.padding << (covers ? " ceil" : ""));
    const ExpandedModel model = behind_first(in, layer);
    CHECK(to_string(model.layer_traces[1].result) == shape_text(out));
    CHECK(model.forward[1].flops.at(1) ==
          static_cast<double>(out.elements() * window.kernel * window.kernel));
  }
  CHECK(hanging > 10);
}

TEST_CASE("law: a transposed convolution spreads every input element over a window of every output channel") {
  Random random(13);
  for (int draw = 0; draw < kDraws; ++draw) {
    const Image in = drawn_image(random);
    const Window window = drawn(random, false);
    const Image out{4 * static_cast<std::int64_t>(1 + random() % 3), spread_over(window, in.height),
                    spread_over(window, in.width)};
    if (out.height < 1 || out.width < 1) continue;
    Layer layer = with_window("conv_transpose", window);
    set(layer, "out", out.channels), set(layer, "bias", false);
    INFO(shape_text(in) << " -> " << shape_text(out) << ", kernel " << window.kernel << " stride "
                        << window.stride << " padding " << window.padding);
    const ExpandedModel model = behind_first(in, layer);
    CHECK(to_string(model.layer_traces[1].result) == shape_text(out));
    CHECK(model.forward[1].flops.at(1) ==
          static_cast<double>(2 * in.elements() * out.channels * window.kernel * window.kernel));
  }
}

TEST_CASE("law: a linear layer multiplies every row with every column, whatever stands before its features") {
  Random random(14);
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::int64_t length = 1 + random() % 9, in = 1 + random() % 40, out = 1 + random() % 40;
    const bool bias = random() % 2 == 0;
    double products = 0;
    for (std::int64_t row = 0; row < length; ++row) products += static_cast<double>(in * out);
    const ExpandedModel model = expanded({length, in}, {linear(out, bias)});
    INFO(length << " rows of " << in << " to " << out << (bias ? " with bias" : ""));
    CHECK(model.forward[0].flops.at(1) == 2 * products + (bias ? static_cast<double>(length * out) : 0));
    CHECK(model.parameter_elements() == in * out + (bias ? out : 0));
    // Its gradients: of the weights as many products again, of the input too unless it is the first layer.
    CHECK(model.backward.back().op.products[0].flops_per_sample() == 2 * products);
  }
}

}  // namespace window_laws
