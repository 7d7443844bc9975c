// The network of a made scenario: convolutions while the image is large enough, then linear layers and a
// loss.
#include <fmt/format.h>

#include "tests/fuzz/scenarios/made_cluster.hpp"

namespace foretrain::test {

namespace {

constexpr int kSmallestPooled = 4;

std::string convolution(int& side, Choices& choices) {
  const int kernel = choices.one_in(2) ? 1 : 3, stride = side >= kSmallestPooled ? choices.between(1, 2) : 1;
  side = (side - 1) / stride + 1;
  return fmt::format("{{ type = \"conv2d\", out = {}, kernel = {}, stride = {}, padding = {} }},\n",
                     8 * choices.between(1, 32), kernel, stride, kernel / 2);
}

std::string after_convolution(int& side, Choices& choices) {
  std::string text;
  if (choices.one_in(2)) text += "{ type = \"batch_norm\" },\n";
  if (choices.one_in(2)) text += "{ type = \"relu\" },\n";
  if (side >= kSmallestPooled && choices.one_in(3))
    text += "{ type = \"max_pool\", kernel = 2 },\n", side /= 2;
  return text;
}

std::string linear_layers(Choices& choices) {
  std::string text;
  for (int layers = choices.between(1, 6); layers > 0; --layers) {
    text += fmt::format("{{ type = \"linear\", out = {} }},\n", 1 << choices.between(3, 12));
    if (choices.one_in(2)) text += "{ type = \"relu\" },\n";
    if (choices.one_in(4)) text += "{ type = \"dropout\" },\n";
    if (choices.one_in(4)) text += "{ type = \"layer_norm\" },\n";
  }
  return text + "{ type = \"loss\" },\n]\n";
}

}  // namespace

std::string make_model(Choices& choices) {
  if (choices.one_in(3))
    return fmt::format("input = [{}]\nlayers = [\n", 16 * choices.between(1, 64)) + linear_layers(choices);
  int side = 8 * choices.between(1, 8);
  std::string text = fmt::format("input = [{}, {}, {}]\nlayers = [\n", choices.between(1, 3), side, side);
  for (int layers = choices.between(1, 8); layers > 0; --layers) {
    text += convolution(side, choices);
    text += after_convolution(side, choices);
  }
  if (choices.one_in(2)) text += "{ type = \"adaptive_avg_pool\" },\n";
  return text + "{ type = \"flatten\" },\n" + linear_layers(choices);
}

}  // namespace foretrain::test
