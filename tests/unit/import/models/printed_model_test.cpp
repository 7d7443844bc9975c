// print(model): shapes from module to module, and what is asked for.
#include "sim/import/models/printed_modules.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/import/models/imported.hpp"

namespace printed_model_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::string net() {
  return read_text_file(FORETRAIN_SOURCE_DIR "/tests/fuzz/corpus/fuzz_printed_model/net.txt").text;
}

ModelImportOptions with_image(std::int64_t side) {
  ModelImportOptions options;
  options.image = side;
  return options;
}

std::string norm(int channels) {
  return "BatchNorm2d(" + std::to_string(channels) + ", eps=1e-05, momentum=0.1, affine=True)";
}
std::string convolution(int in, int out, int kernel, int stride, int padding) {
  const auto pair = [](int value) {
    return "(" + std::to_string(value) + ", " + std::to_string(value) + ")";
  };
  return "Conv2d(" + std::to_string(in) + ", " + std::to_string(out) + ", kernel_size=" + pair(kernel) +
         ", stride=" + pair(stride) + ", padding=" + pair(padding) + ", bias=False)";
}

/// ResNet-18 as torchvision's prints itself.
std::string resnet18() {
  std::string out =
      "ResNet(\n  (conv1): " + convolution(3, 64, 7, 2, 3) + "\n  (bn1): " + norm(64) +
      "\n  (relu): ReLU(inplace=True)\n"
      "  (maxpool): MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)\n";
  int in = 64;
  for (const int width : {64, 128, 256, 512}) {
    out += "  (layer): Sequential(\n";
    for (const int stride : {width > 64 ? 2 : 1, 1}) {
      out += "    (0): BasicBlock(\n      (conv1): " + convolution(in, width, 3, stride, 1) +
             "\n      (bn1): " + norm(width) +
             "\n      (relu): ReLU(inplace=True)\n      (conv2): " + convolution(width, width, 3, 1, 1) +
             "\n      (bn2): " + norm(width) + "\n";
      if (stride > 1)
        out += "      (downsample): Sequential(\n        (0): " + convolution(in, width, 1, 2, 0) +
               "\n        (1): " + norm(width) + "\n      )\n";
      out += "    )\n";
      in = width;
    }
    out += "  )\n";
  }
  return out +
         "  (avgpool): AdaptiveAvgPool2d(output_size=(1, 1))\n"
         "  (fc): Linear(in_features=512, out_features=1000, bias=True)\n)\n";
}

}  // namespace

TEST_CASE("a printed network needs the side of its image, and is told which would fit") {
  CHECK_THAT(mistakes_of(net()),
             ContainsSubstring("does not tell the size of the input") &&
                 ContainsSubstring("--image 224; of the usual sizes these fit all layers: 28"));
}

TEST_CASE("a pool that forward calls is found by what the next layer takes, and said") {
  const ImportedModel made = imported(net(), with_image(28));
  CHECK(expanded_text(made).parameter_elements() == 320 + 18'496 + 1'179'776 + 1'290);
  CHECK_THAT(made.text, ContainsSubstring("type = \"max_pool\", kernel = 2, stride = 2"));
  CHECK(remarks(made, "a 2 x 2 max pool before fc1 is assumed"));
  CHECK(remarks(made, "best effort"));
}

TEST_CASE("a printed ResNet-18 has the catalog's parameters and products") {
  const ExpandedModel model = network_of(resnet18(), with_image(224)), catalog = model_file("resnet18");
  CHECK(model.parameter_elements() == catalog.parameter_elements());
  CHECK(model.forward_gemm_flops().per_sample == catalog.forward_gemm_flops().per_sample);
}

TEST_CASE("blocks that are printed once with their number are written out") {
  const ImportedModel made = imported(
      "Encoder(\n  (embed): Embedding(1000, 64)\n  (layers): ModuleList(\n    (0-11): 12 x Block(\n"
      "      (up): Linear(in_features=64, out_features=256, bias=True)\n      (act): "
      "GELU(approximate='none')\n"
      "      (down): Linear(in_features=256, out_features=64, bias=True)\n    )\n  )\n)\n");
  CHECK(expanded_text(made).parameter_elements() == 64'000 + 12 * (64 * 256 + 256 + 256 * 64 + 64));
  CHECK(remarks(made, "samples of 128 tokens are assumed"));
}

TEST_CASE("a printed model is found in a longer text") {
  CHECK_THAT(imported(">>> print(model)\n" + net() + "step 1: 9 it/s\n", with_image(28)).text,
             ContainsSubstring("type = \"linear\", out = 10"));
}

TEST_CASE("a printed model that is cut or does not fit is refused with its line") {
  const std::string whole = net();
  CHECK_THAT(mistakes_of(whole.substr(0, whole.size() - 2)),
             ContainsSubstring("ends before its last bracket"));
  CHECK_THROWS_WITH(
      imported(net(), with_image(20)),
      ContainsSubstring("file:5:1: error: fc1 takes 9216 numbers, and before it are 64 x 16 x 16"));
  CHECK_THAT(mistakes_of("Net(\n  (a): 30000 x Linear(in_features=4, out_features=4)\n)\n"),
             ContainsSubstring("more than 20000 modules"));
}

TEST_CASE("arguments of a module are found by name and by place") {
  const PrintedModule module{"c", "Conv2d", "3, 64, kernel_size=(7, 7), padding=same, bias=False", 1};
  CHECK(module.number("", 1) == 64);
  CHECK(module.number("kernel_size") == 7);
  CHECK(module.argument("padding") == "same");
  CHECK_FALSE(module.number("stride"));
}

}  // namespace printed_model_test
