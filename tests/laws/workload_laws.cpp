// Laws of expansion and of the device models over all the test networks, precisions, architectures and
// optimizers.
#include <algorithm>
#include <numeric>

#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace workload_laws {

using namespace foretrain;

namespace {

std::vector<Model> networks() {
  return {test::mnist_net(), test::resnet18(),   test::resnet50(),
          test::vgg16(),     test::spiral_mlp(), test::encoder(2, 64, 128, 4, 1000)};
}

std::vector<Architecture> architectures() {
  return {Architecture::cpu,       Architecture::kepler, Architecture::pascal, Architecture::volta,
          Architecture::turing,    Architecture::ampere, Architecture::ada,    Architecture::hopper,
          Architecture::blackwell, Architecture::cdna,   Architecture::cdna2,  Architecture::cdna3};
}

std::vector<Precision> precisions() {
  return {Precision::fp32, Precision::tf32, Precision::amp_fp16, Precision::bf16};
}

Gpu gpu_of(Architecture architecture) {
  Gpu gpu;
  gpu.architecture = architecture;
  gpu.fp32 = {15e12}, gpu.fp16 = {120e12}, gpu.bf16 = {120e12};
  gpu.tf32 = {architecture >= Architecture::ampere ? 60e12 : 0.0};
  gpu.memory_bandwidth = {900e9};
  return gpu;
}

std::vector<Operator> all_operators(const ExpandedModel& model) {
  std::vector<Operator> operators = model.forward;
  for (const BackwardStep& step : model.backward) operators.push_back(step.op);
  return operators;
}

Time total_time(const ExpandedModel& model, const Gpu& gpu, Precision precision, std::int64_t batch) {
  const KernelCalibration calibration = default_kernel_calibration(gpu);
  Time sum{};
  for (const Operator& op : all_operators(model))
    sum += kernel_time(op, {gpu, calibration, precision, {}, false}, batch);
  return sum;
}

}  // namespace

TEST_CASE("law: every parameter becomes ready exactly once") {
  for (const Model& network : networks()) {
    const ExpandedModel model = expand(network).model;
    std::vector<std::uint32_t> order = model.gradient_ready_order();
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> all(model.parameters.size());
    std::iota(all.begin(), all.end(), 0U);
    CHECK(order == all);
  }
}

TEST_CASE("law: operators do work, name a layer and know their direction") {
  for (const Model& network : networks()) {
    const ExpandedModel model = expand(network).model;
    for (const Operator& op : all_operators(model)) {
      CHECK(op.kernels >= 1);
      CHECK(op.layer < model.layer_names.size());
      CHECK(op.bytes.at(1) > 0);
    }
    for (const Operator& op : model.forward) CHECK_FALSE(op.backward);
    for (const BackwardStep& step : model.backward) CHECK(step.op.backward);
  }
}

TEST_CASE("law: backward products are between one and two times the forward ones") {
  for (const Model& network : networks()) {
    const ExpandedModel model = expand(network).model;
    CHECK(model.backward_flops().per_sample <= 2.1 * model.forward_flops().per_sample);
    CHECK(model.backward_flops().per_sample >= 1.0 * model.forward_gemm_flops().per_sample);
  }
}

TEST_CASE("law: expanding twice gives the same") {
  for (const Model& network : networks()) {
    const ExpandedModel a = expand(network).model, b = expand(network).model;
    CHECK(a.layer_names == b.layer_names);
    CHECK(a.gradient_ready_order() == b.gradient_ready_order());
    CHECK(a.saved_bytes.per_sample == b.saved_bytes.per_sample);
  }
}

TEST_CASE("law: an identity block around a network's tail changes no parameter") {
  Model plain = test::spiral_mlp(), wrapped = plain;
  wrapped.layers.insert(wrapped.layers.end() - 1, test::add({}, {}));
  CHECK(expand(plain).model.parameter_elements() == expand(wrapped).model.parameter_elements());
  CHECK(expand(plain).model.gradient_ready_order() == expand(wrapped).model.gradient_ready_order());
}

TEST_CASE("law: more samples, slower memory or slower arithmetic never take less time") {
  for (const Model& network : networks()) {
    const ExpandedModel model = expand(network).model;
    for (const Architecture architecture : architectures()) {
      const Gpu gpu = gpu_of(architecture);
      Gpu slow_memory = gpu, slow_cores = gpu;
      slow_memory.memory_bandwidth = gpu.memory_bandwidth * 0.5;
      for (FlopRate* rate : {&slow_cores.fp32, &slow_cores.tf32, &slow_cores.fp16, &slow_cores.bf16})
        *rate = *rate * 0.5;
      for (const Precision precision : precisions()) {
        const Time time = total_time(model, gpu, precision, 16);
        CHECK(time <= total_time(model, gpu, precision, 32));
        CHECK(time <= total_time(model, slow_memory, precision, 16));
        CHECK(time <= total_time(model, slow_cores, precision, 16));
      }
    }
  }
}

TEST_CASE("law: half precision is never slower and never larger") {
  for (const Model& network : networks()) {
    const auto model = std::make_shared<const ExpandedModel>(expand(network).model);
    for (const Architecture architecture : architectures()) {
      const Gpu gpu = gpu_of(architecture);
      CHECK(total_time(*model, gpu, Precision::amp_fp16, 64) <= total_time(*model, gpu, Precision::fp32, 64));
    }
    Workload workload;
    workload.model = model, workload.batch_per_gpu = 64;
    const Bytes full = memory_use(workload, {}).activations;
    workload.precision = Precision::bf16;
    CHECK(memory_use(workload, {}).activations <= full);
  }
}

TEST_CASE("law: memory grows with the batch and the buckets") {
  for (const Model& network : networks()) {
    Workload workload;
    workload.model = std::make_shared<const ExpandedModel>(expand(network).model);
    Bytes last{};
    for (const std::int64_t batch : {1, 2, 8, 64, 1024}) {
      workload.batch_per_gpu = batch;
      const MemoryUse use = memory_use(workload, {});
      CHECK(use.total() >= last);
      CHECK(memory_use(workload, {.strategy = {.buffers = {1 << 20}}}).total() > use.total());
      last = use.total();
    }
  }
}

TEST_CASE(
    "law: every form of an optimizer touches every element, fused the least and foreach as much as the "
    "loop") {
  const std::vector<std::int64_t> tensors{10, 65'536, 65'537, 30'000'000, 1, 999};
  const auto bytes = [&](OptimizerKind kind, OptimizerForm form) {
    std::int64_t sum = 0;
    for (const OptimizerLaunch& launch : optimizer_launches({kind, form, true}, tensors))
      sum += launch.bytes.count;
    return sum;
  };
  for (const auto kind :
       {OptimizerKind::sgd, OptimizerKind::momentum, OptimizerKind::nesterov, OptimizerKind::adam,
        OptimizerKind::adamw, OptimizerKind::adadelta, OptimizerKind::rmsprop}) {
    CHECK(bytes(kind, OptimizerForm::for_loop) == bytes(kind, OptimizerForm::foreach));
    CHECK(bytes(kind, OptimizerForm::fused) <= bytes(kind, OptimizerForm::foreach));
    CHECK(bytes(kind, OptimizerForm::fused) > 0);
  }
}

TEST_CASE("law: host time is proportional to the CPU's slowdown in every way of running") {
  const ExpandedModel model = expand(test::resnet18()).model;
  Host slow;
  slow.slowdown = 3;
  for (const FrameworkKind kind : {FrameworkKind::pytorch, FrameworkKind::tensorflow}) {
    Framework framework = usual_framework(kind);
    for (const Execution execution : executions_of(kind)) {
      framework.execution = execution;
      const auto seconds_on = [&](const Operator& op, const Host& host) {
        return to_seconds(host_time(op, host, {}, Precision::fp32, framework));
      };
      for (const Operator& op : all_operators(model))
        CHECK(seconds_on(op, slow) == Approx(3 * seconds_on(op, {})));
    }
  }
}

}  // namespace workload_laws
