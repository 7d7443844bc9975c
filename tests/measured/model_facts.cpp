// The model files against the published networks: parameters, tensors and multiply-adds, layer list by layer list.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/scenario/schemas.hpp"
#include "sim/workload/operators.hpp"
#include "tests/support/catch.hpp"

using namespace foretrain;
using nlohmann::json;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ExpandedModel model_file(const std::string& name) {
  const SourceText source{name + ".toml", text_of(fmt::format("{}/models/{}.toml", FORETRAIN_SOURCE_DIR, name))};
  Diagnostics diagnostics(source);
  const Model model = read_model(source, diagnostics);
  diagnostics.throw_if_any();
  return expand(model).model;
}

/// Multiply-adds of the products without their biases: forward FLOPs minus one per output element of a layer with a bias.
double multiply_adds(const ExpandedModel& model, double bias_outputs) { return (model.forward_gemm_flops().per_sample - bias_outputs) / 2; }

struct Published {
  std::string file;
  std::int64_t parameters;
  std::size_t tensors;
  double multiply_adds;
  double bias_outputs;  ///< output elements of layers with a bias
};

}  // namespace

TEST_CASE("model files have the published parameters, tensors and multiply-adds") {
  // Seed workloads (layer lists of the original programs) and torchvision's published counts.
  const std::vector<Published> all{
      {"resnet50", 25'557'032, 161, 4'089'184'256, 1000},
      {"resnet18", 11'689'512, 62, 1'814'073'344, 1000},
      {"vgg16", 138'357'544, 32, 15'470'264'320, 13'556'712},  // 13,547,520 convolution outputs + 4096 + 4096 + 1000
      {"resnet56_cifar", 856'058, 176, 126'009'984, 10},
      {"mnist_net", 1'199'882, 8, 11'992'448, 21'632 + 36'864 + 128 + 10},
      {"mnist_convnet_csc", 29'034, 10, 2'838'080, 12'544 + 6'272 + 10},
      {"mnist_tf", 1'643'370, 8, 7'260'672, 25'088 + 6'272 + 1024 + 10},
      {"cifar_convnet_chtc", 140'902'954, 18, 1'843'806'848, (48 + 96) * 1024 + (192 + 256 + 512 + 1024) * 256 + 2048 + 64 + 10},
      {"spiral_mlp", 2'834, 8, 2'720, 64 + 32 + 16 + 2},
  };
  for (const Published& published : all) {
    INFO(published.file);
    const ExpandedModel model = model_file(published.file);
    CHECK(model.parameter_elements() == published.parameters);
    CHECK(model.parameters.size() == published.tensors);
    CHECK(multiply_adds(model, published.bias_outputs) == published.multiply_adds);
  }
}

TEST_CASE("model files expand to the traced order, FLOPs and kept bytes") {
  for (const std::string name : {"mnist_net", "resnet18", "resnet50", "vgg16"}) {
    const std::string path = fmt::format("{}/../shared/facts/models/{}.json", FORETRAIN_SOURCE_DIR, name);
    if (!std::filesystem::exists(path)) FORETRAIN_SKIP("no ../shared/facts");
    INFO(name);
    const json facts = json::parse(text_of(path));
    const ExpandedModel model = model_file(name);
    CHECK(model.gradient_ready_order() == facts["grad_ready_order"].get<std::vector<std::uint32_t>>());
    CHECK(model.forward_flops().per_sample == facts["fwd_flops_per_sample_total"].get<double>());
    CHECK(model.backward_flops().per_sample == facts["bwd_flops_per_sample_total"].get<double>());
    CHECK(model.saved_bytes.per_sample == facts["saved_for_backward_bytes_per_sample_fp32_cpu"].get<double>());
  }
}
