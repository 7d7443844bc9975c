// The model files against the published networks: parameters, tensors and multiply-adds, layer list by layer
// list.
#include <fmt/format.h>

#include "tests/support/catch.hpp"
#include "tests/support/measured_json.hpp"
#include "tests/support/model_file.hpp"

namespace model_facts {

using namespace foretrain;
using nlohmann::json;
using test::model_file;
using test::traced_network;

namespace {

/// Multiply-adds of the products without their biases: forward FLOPs minus one per output element of a layer
/// with a bias.
double multiply_adds(const ExpandedModel& model, double bias_outputs) {
  return (model.forward_gemm_flops().per_sample - bias_outputs) / 2;
}

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
      {"vgg16", 138'357'544, 32, 15'470'264'320,
       13'556'712},  // 13,547,520 convolution outputs + 4096 + 4096 + 1000
      {"resnet56_cifar", 856'058, 176, 126'009'984, 10},
      {"mnist_net", 1'199'882, 8, 11'992'448, 21'632 + 36'864 + 128 + 10},
      {"mnist_convnet_csc", 29'034, 10, 2'838'080, 12'544 + 6'272 + 10},
      {"mnist_tf", 1'643'370, 8, 7'260'672, 25'088 + 6'272 + 1024 + 10},
      {"cifar_convnet_chtc", 140'902'954, 18, 1'843'806'848,
       (48 + 96) * 1024 + (192 + 256 + 512 + 1024) * 256 + 2048 + 64 + 10},
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

TEST_CASE("model files have the published number of parameters") {
  // torchvision's table of weights, timm's results.csv, the heads of kuangliu/pytorch-cifar's issues; each
  // file names its own.
  const std::vector<std::pair<std::string, std::int64_t>> all{
      {"googlenet", 6'624'904},       {"resnext101_32x4d", 44'177'704}, {"se_resnext101_32x4d", 48'955'416},
      {"inception_v4", 42'679'816},   {"efficientnet_b4", 19'341'616},  {"resnet18_cifar", 11'173'962},
      {"resnet50_cifar", 23'520'842},
  };
  for (const auto& [file, parameters] : all) {
    INFO(file);
    CHECK(model_file(file).parameter_elements() == parameters);
  }
}

TEST_CASE("model files expand to the traced parameters, order, FLOPs and kept bytes") {
  for (const std::string name :
       {"mnist_net", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "vgg16", "alexnet",
        "densenet121", "inception_v3", "mobilenet_v2", "efficientnet_b0", "cifar_tutorial_net",
        "cifar_small_cnn", "mnist_horovod_net"}) {
    INFO(name);
    const json facts = traced_network(name);
    const ExpandedModel model = model_file(name);
    std::vector<std::int64_t> sizes;
    for (const Parameter& parameter : model.parameters) sizes.push_back(parameter.elements);
    CHECK(sizes == facts["param_elements"].get<std::vector<std::int64_t>>());
    CHECK(model.gradient_ready_order() == facts["grad_ready_order"].get<std::vector<std::uint32_t>>());
    CHECK(model.forward_flops().per_sample == facts["fwd_flops_per_sample_total"].get<double>());
    CHECK(model.forward_gemm_flops().per_sample == facts["fwd_flops_per_sample_gemmconv"].get<double>());
    CHECK(model.backward_flops().per_sample == facts["bwd_flops_per_sample_total"].get<double>());
    CHECK(model.saved_bytes.per_sample ==
          facts["saved_for_backward_bytes_per_sample_fp32_cpu"].get<double>());
    CHECK(model.saved_bytes.fixed == facts["saved_for_backward_bytes_fixed_cpu"].get<double>());
    CHECK(model.buffers.size() == facts["n_buffers"].get<std::size_t>());
  }
}

TEST_CASE("model files issue the traced number of kernels but for the fused dropout") {
  // kF / kB of the traced table; each dropout runs as one kernel instead of three, two less. EfficientNet's
  // dropout in place on a view replays it: the table counts the allocation of the copy as one kernel more.
  struct Traced {
    std::string file;
    int forward, backward, dropouts, allocations;
  };
  const std::vector<Traced> all{
      {"resnet18", 90, 92, 0, 0},
      {"resnet34", 162, 164, 0, 0},
      {"resnet50", 229, 231, 0, 0},
      {"resnet101", 450, 452, 0, 0},
      {"resnet152", 671, 673, 0, 0},
      {"densenet121", 553, 1027, 0, 0},
      {"cifar_tutorial_net", 13, 23, 0, 0},
      {"vgg16", 45, 73, 2, 0},
      {"alexnet", 27, 39, 2, 0},
      {"inception_v3", 426, 448, 1, 0},
      {"mobilenet_v2", 243, 208, 1, 0},
      {"efficientnet_b0", 368, 419, 1, 1},
      {"cifar_small_cnn", 35, 43, 1, 0},
  };
  for (const Traced& traced : all) {
    INFO(traced.file);
    const ExpandedModel model = model_file(traced.file);
    int forward = 0, backward = 0;
    for (const Operator& op : model.forward) forward += op.kernels;
    for (const BackwardStep& step : model.backward) backward += step.op.kernels;
    CHECK(forward == traced.forward - 2 * traced.dropouts);
    CHECK(backward == traced.backward - traced.allocations);
  }
}

TEST_CASE("model files without dropout move the traced bytes") {
  for (const std::string name :
       {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "densenet121", "cifar_tutorial_net"}) {
    INFO(name);
    const json facts = traced_network(name);
    const ExpandedModel model = model_file(name);
    double forward = 0, backward = 0;
    for (const Operator& op : model.forward) forward += op.bytes.per_sample;
    for (const BackwardStep& step : model.backward) backward += step.op.bytes.per_sample;
    CHECK(forward == facts["forward_bytes_per_sample"].get<double>());
    CHECK(backward == facts["backward_bytes_per_sample"].get<double>());
  }
}

}  // namespace model_facts
