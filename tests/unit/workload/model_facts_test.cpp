// The expanded networks against operator tables traced from the real framework (docs/measured/networks).
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured_json.hpp"
#include "tests/support/test_models.hpp"

namespace model_facts_test {

using namespace foretrain;
using nlohmann::json;
using test::traced_network;

namespace {

std::vector<ExpandedModel> traced_models() {
  std::vector<ExpandedModel> models;
  for (const Model& model : {test::mnist_net(), test::resnet18(), test::resnet50(), test::vgg16()})
    models.push_back(expand(model).model);
  return models;
}

}  // namespace

TEST_CASE("parameters have the traced sizes in registration order") {
  for (const ExpandedModel& model : traced_models()) {
    INFO(model.name);
    const json facts = traced_network(model.name);
    REQUIRE(model.parameters.size() == facts["param_elements"].size());
    for (std::size_t i = 0; i < model.parameters.size(); ++i)
      CHECK(model.parameters[i].elements == facts["param_elements"][i]);
    CHECK(model.parameter_elements() == facts["n_params"]);
    CHECK(model.gradient_bytes().count == facts["param_bytes_fp32"]);
  }
}

TEST_CASE("gradients become ready in the traced order") {
  for (const ExpandedModel& model : traced_models()) {
    INFO(model.name);
    CHECK(model.gradient_ready_order() ==
          traced_network(model.name)["grad_ready_order"].get<std::vector<std::uint32_t>>());
  }
}

TEST_CASE("forward and backward FLOPs equal the traced sums") {
  for (const ExpandedModel& model : traced_models()) {
    INFO(model.name);
    const json facts = traced_network(model.name);
    CHECK(model.forward_flops().per_sample == facts["fwd_flops_per_sample_total"].get<double>());
    CHECK(model.forward_gemm_flops().per_sample == facts["fwd_flops_per_sample_gemmconv"].get<double>());
    CHECK(model.backward_flops().per_sample == facts["bwd_flops_per_sample_total"].get<double>());
  }
}

TEST_CASE("saved activations equal the traced storages") {
  for (const ExpandedModel& model : traced_models()) {
    INFO(model.name);
    const json facts = traced_network(model.name);
    CHECK(model.saved_bytes.per_sample ==
          facts["saved_for_backward_bytes_per_sample_fp32_cpu"].get<double>());
    CHECK(model.saved_bytes.fixed == facts["saved_for_backward_bytes_fixed_cpu"].get<double>());
  }
}

TEST_CASE("buffers have the traced number and size") {
  for (const ExpandedModel& model : traced_models()) {
    INFO(model.name);
    const json facts = traced_network(model.name);
    std::int64_t bytes = 0;
    for (const Buffer& buffer : model.buffers) bytes += buffer.elements * buffer.element_bytes;
    CHECK(model.buffers.size() == facts["n_buffers"]);
    CHECK(bytes == facts["buffer_bytes"]);
  }
}

TEST_CASE("modules are counted to a twentieth where activations are modules") {
  for (const Model& model : {test::resnet18(), test::resnet50(), test::vgg16()}) {
    const double traced = traced_network(model.name)["n_modules"].get<double>();
    // 64 of 68, 147 of 151, 40 of 42: the stages' containers are not in the description.
    CHECK(static_cast<double>(expand(model).model.modules) == Approx(traced).epsilon(0.06));
  }
}

TEST_CASE("kernels are those of the traced table but for the fused dropout") {
  // kF / kB of the measured table: mnist 16 / 20, resnet18 90 / 92, resnet50 229 / 231, vgg16 45 / 73. Each
  // dropout runs as one kernel here instead of three: 2 less per dropout, two dropouts in mnist_net and in
  // vgg16.
  const auto count = [](const ExpandedModel& model) {
    std::pair<int, int> kernels;
    for (const Operator& op : model.forward) kernels.first += op.kernels;
    for (const BackwardStep& step : model.backward) kernels.second += step.op.kernels;
    return kernels;
  };
  CHECK(count(expand(test::mnist_net()).model) == std::pair(16 - 4, 20));
  CHECK(count(expand(test::resnet18()).model) == std::pair(90, 92));
  CHECK(count(expand(test::resnet50()).model) == std::pair(229, 231));
  CHECK(count(expand(test::vgg16()).model) == std::pair(45 - 4, 73));
}

TEST_CASE("every convolution, norm and pool moves the traced bytes") {
  const json facts = traced_network("resnet50");
  // Name, FLOPs a sample, bytes whatever the batch, bytes a sample.
  const json& traced = facts["forward_ops"];
  std::size_t at = 0;
  for (const Operator& op : expand(test::resnet50()).model.forward) {
    double fixed = 0, per_sample = 0, flops = 0;
    // batch_norm folds the batch counter in, one traced operator more.
    for (int part = 0; part < (op.call == HostCall::batch_norm ? 2 : 1); ++part, ++at) {
      flops += traced.at(at).at(1).get<double>(), fixed += traced.at(at).at(2).get<double>(),
          per_sample += traced.at(at).at(3).get<double>();
    }
    INFO(traced.at(at - 1).dump());
    CHECK(op.bytes.fixed == fixed);
    CHECK(op.bytes.per_sample == per_sample);
    CHECK(op.flops.per_sample == flops);
  }
  CHECK(at == traced.size());
}

TEST_CASE("every backward operator of ResNet-50 does the traced work") {
  double bytes = 0, fixed = 0;
  const json facts = traced_network("resnet50");
  for (const BackwardStep& step : expand(test::resnet50()).model.backward) {
    bytes += step.op.bytes.per_sample, fixed += step.op.bytes.fixed;
  }
  CHECK(bytes == facts["backward_bytes_per_sample"].get<double>());
  CHECK(fixed == facts["backward_bytes_fixed"].get<double>());
}

}  // namespace model_facts_test
