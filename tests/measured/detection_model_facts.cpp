// Detection and segmentation networks against published counts of parameters.
#include <algorithm>

#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/model_file.hpp"

namespace detection_model_facts {

using namespace foretrain;
using test::model_file;

namespace {

struct Published {
  std::string file;
  std::int64_t parameters;
  std::size_t tensors;
};

/// Weights and biases of a convolution or transposed convolution with `window` taps.
constexpr std::int64_t conv(std::int64_t in, std::int64_t out, std::int64_t window) {
  return in * out * window + out;
}

}  // namespace

TEST_CASE("detection and segmentation networks have the published parameters") {
  const std::vector<Published> all{
      // torchvision, MaskRCNN_ResNet50_FPN_Weights.COCO_V1: num_params 44,401,393.
      {"mask_rcnn_r50_fpn", 44'401'393, 95},
      // yolov3.weights of darknet: 62,001,757 numbers, less the running means and variances of 26,304
      // channels.
      {"yolov3", 62'001'757 - 2 * 26'304, 222},
      // milesial/Pytorch-UNet, 3 channels and 2 classes: 31.04 M; the paper's U-Net has 31.03 M.
      {"unet2d", 31'037'698, 64},
  };
  for (const Published& published : all) {
    const ExpandedModel model = model_file(published.file);
    INFO(published.file);
    CHECK(model.parameter_elements() == published.parameters);
    CHECK(model.parameters.size() == published.tensors);
  }
}

TEST_CASE("SSD300 has the parameters of its parts") {
  // ResNet-50 of 25,557,032 without its last stage (14,964,736) and its classifier, and NVIDIA's additional
  // stages and heads.
  const std::int64_t trunk = 25'557'032 - 14'964'736 - 2'049'000;
  const auto stage = [](std::int64_t in, std::int64_t width, std::int64_t out) {
    return in * width + 2 * width + 9 * width * out + 2 * out;
  };
  const std::int64_t stages =
      stage(1024, 256, 512) + stage(512, 256, 512) + stage(512, 128, 256) + 2 * stage(256, 128, 256);
  const auto head = [](std::int64_t in, std::int64_t boxes) {
    return conv(in, 85 * boxes, 9);
  };  // 4 coordinates, 81 classes
  const std::int64_t heads = head(1024, 4) + 2 * head(512, 6) + head(256, 6) + 2 * head(256, 4);
  const ExpandedModel model = model_file("ssd300_resnet50");
  CHECK(model.parameter_elements() == trunk + stages + heads);
  CHECK(model.parameters.size() == 183);
}

TEST_CASE("the 3-D U-Net of NERSC's tutorial has the parameters of its source") {
  const std::int64_t down =
      conv(4, 64, 64) + conv(64, 128, 64) + conv(128, 256, 64) + conv(256, 512, 64) + 2 * conv(512, 512, 64);
  const std::int64_t up = conv(512, 512, 64) + conv(1024, 512, 64) + conv(1024, 256, 64) +
                          conv(512, 128, 64) + conv(256, 64, 64) + conv(128, 5, 64);
  const ExpandedModel model = model_file("unet3d");
  CHECK(model.parameter_elements() == down + up);
  CHECK(model.parameters.size() == 24);
  CHECK(model.input_elements == 4 * 64 * 64 * 64);
}

TEST_CASE("every gradient of a detection network is ready once") {
  for (const char* name : {"mask_rcnn_r50_fpn", "ssd300_resnet50", "yolov3", "unet2d", "unet3d"}) {
    const ExpandedModel model = model_file(name);
    std::vector<std::uint32_t> order = model.gradient_ready_order();
    std::sort(order.begin(), order.end());
    INFO(name);
    REQUIRE(order.size() == model.parameters.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) CHECK(order[i] == i);
  }
}

}  // namespace detection_model_facts
