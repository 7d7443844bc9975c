// Memory of one GPU: each term by hand, and the cases people ask about.
#include "sim/workload/device/memory.hpp"

#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

using namespace foretrain;

namespace {

Workload workload_of(const Model& model, std::int64_t batch, Precision precision = Precision::fp32) {
  Workload workload;
  workload.model = std::make_shared<const ExpandedModel>(expand(model).model);
  workload.batch_per_gpu = batch, workload.precision = precision;
  workload.optimizer = {OptimizerKind::momentum, OptimizerForm::for_loop, true};
  return workload;
}

}  // namespace

TEST_CASE("ResNet-50 in fp32 holds four bytes a parameter three times with momentum") {
  const MemoryUse use = memory_use(workload_of(test::resnet50(), 32), Bytes{1000});
  const std::int64_t psi = 25'557'032;
  CHECK(use.parameters.count == 4 * psi + 53 * 8 + 8 * 26'560);  // 53 counters, mean and variance of 26,560 channels
  CHECK(use.gradients.count == 4 * psi);
  CHECK(use.optimizer.count == 4 * psi);
  CHECK(use.buckets.count == 1000);
  // 212,484 + 32 * 85,913,512 saved, three live tensors of 64*112*112 floats.
  CHECK(use.activations.count == 212'484 + 32LL * 85'913'512 + 3LL * 4 * 802'816 * 32);
  const double allocated = static_cast<double>((use.total() - use.framework).count);
  CHECK(static_cast<double>(use.framework.count) == Approx(600e6 + 0.05 * allocated));
}

TEST_CASE("sixteen bits about halve the activations and add a cached copy of the weights") {
  const MemoryUse full = memory_use(workload_of(test::resnet50(), 32), {});
  const MemoryUse half = memory_use(workload_of(test::resnet50(), 32, Precision::amp_fp16), {});
  CHECK(static_cast<double>(half.activations.count) == Approx(0.55 * static_cast<double>(full.activations.count)).epsilon(0.02));
  CHECK(half.parameters.count - full.parameters.count == 2 * 25'557'032);
}

TEST_CASE("ResNet-50 at batch 256 fits 32 GB and not 16 GB") {
  // 85.9 MB kept and 9.6 MB live a sample: 24.5 GB at 256, 12.2 GB at 128, plus 0.3 GB of weights and 0.6 GB of context.
  CHECK(memory_use(workload_of(test::resnet50(), 256), {}).total().count < 32'000'000'000);
  CHECK(memory_use(workload_of(test::resnet50(), 256), {}).total().count > 16'000'000'000);
  CHECK(memory_use(workload_of(test::resnet50(), 128), {}).total().count < 16'000'000'000);
}

TEST_CASE("the foreach temporaries of a large model count when its activations are small") {
  Workload workload = workload_of(test::vgg16(), 1);
  const Bytes loop = memory_use(workload, {}).activations;
  workload.optimizer.form = OptimizerForm::foreach;
  CHECK(memory_use(workload, {}).activations.count == 4 * 138'357'544LL);
  CHECK(loop < memory_use(workload, {}).activations);
  workload.optimizer.kind = OptimizerKind::adam;
  CHECK(memory_use(workload, {}).activations.count == 8 * 138'357'544LL);
  CHECK(memory_use(workload, {}).optimizer.count == 8 * 138'357'544LL);
}

TEST_CASE("absurd batches saturate") {
  const MemoryUse use =
      memory_use(workload_of(test::vgg16(), std::numeric_limits<std::int64_t>::max()), Bytes{std::numeric_limits<std::int64_t>::max()});
  CHECK(use.total().count > 0);
  CHECK(memory_use(workload_of(test::vgg16(), -1), {}).activations.count == 4);
}
