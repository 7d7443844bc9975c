// Memory of one GPU: each term by hand, and the cases people ask about.
#include "sim/workload/device/memory.hpp"

#include <algorithm>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace memory_test {

using namespace foretrain;

namespace {

constexpr std::int64_t kResnetParameters = 25'557'032;

Workload workload_of(const Model& model, std::int64_t batch, Precision precision = Precision::fp32) {
  Workload workload;
  workload.model = std::make_shared<const ExpandedModel>(expand(model).model);
  workload.batch_per_gpu = batch, workload.precision = precision;
  workload.optimizer = {OptimizerKind::momentum, OptimizerForm::for_loop, true};
  workload.loop.zero_grad = TrainingLoop::ZeroGrad::zero;
  return workload;
}

}  // namespace

TEST_CASE("ResNet-50 in fp32 holds four bytes a parameter three times with momentum") {
  const MemoryUse use = memory_use(workload_of(test::resnet50(), 32), {.strategy = {.buffers = {1000}}});
  const std::int64_t psi = kResnetParameters;
  CHECK(use.parameters.count ==
        4 * psi + 53 * 8 + 8 * 26'560);  // 53 counters, mean and variance of 26,560 channels
  CHECK(use.gradients.count == 4 * psi);
  CHECK(use.optimizer.count == 4 * psi);
  CHECK(use.buckets.count == 1000);
  // 212,484 + 32 * 85,913,512 saved, the batch itself among them, and the last layer's result and gradient at
  // the turn.
  CHECK(static_cast<double>(use.activations.count) == Approx(212'484 + 32 * 85'913'512.0).epsilon(0.015));
  CHECK(static_cast<double>(use.activations.count) >= 212'484 + 32 * 85'913'512.0);
  const double allocated = static_cast<double>((use.total() - use.framework - use.workspace).count);
  CHECK(static_cast<double>(use.framework.count) == Approx(600e6 + 0.05 * allocated));
}

TEST_CASE(
    "the scratch memory of convolutions is eight times the largest one, up to a limit, and holes between "
    "tensors") {
  // At batch 2 the shortcut into the last stage: 1024 x 14 x 14 in, 2048 x 7 x 7 out, and its weights.
  const double largest = 4.0 * (1024 * 2048 + 2 * (1024 * 14 * 14 + 2048 * 7 * 7));
  const auto without_holes = [](const MemoryUse& use) {
    return static_cast<double>(use.workspace.count) - 0.052 * static_cast<double>(use.activations.count);
  };
  CHECK(without_holes(memory_use(workload_of(test::resnet50(), 2), {})) == Approx(8 * largest));
  CHECK(without_holes(memory_use(workload_of(test::resnet50(), 1024), {})) == Approx(2.6e9));
  CHECK(without_holes(memory_use(workload_of(test::resnet50(), 1024, Precision::amp_fp16), {})) ==
        Approx(2.25e9));
}

TEST_CASE("sixteen bits about halve the activations and add a cached copy of the weights") {
  const MemoryUse full = memory_use(workload_of(test::resnet50(), 32), {});
  const MemoryUse half = memory_use(workload_of(test::resnet50(), 32, Precision::amp_fp16), {});
  CHECK(static_cast<double>(half.activations.count) ==
        Approx(0.52 * static_cast<double>(full.activations.count)).epsilon(0.02));
  CHECK(half.parameters.count - full.parameters.count ==
        2 * (kResnetParameters - 2 * 26'560));  // all but the norms' weights and biases
}

TEST_CASE("with 16-bit weights the fp32 master copy stands beside the optimizer's state") {
  Workload workload = workload_of(test::resnet50(), 32, Precision::amp_fp16);
  workload.half_weights = true;
  const MemoryUse use = memory_use(workload, {});
  CHECK(use.parameters.count == 2 * kResnetParameters + 53 * 8 + 8 * 26'560);
  CHECK(use.gradients.count == 2 * kResnetParameters);
  CHECK(use.optimizer.count == 8 * kResnetParameters);
  workload.precision = Precision::fp32;
  CHECK(memory_use(workload, {}).gradients.count == 4 * kResnetParameters);
}

TEST_CASE("TensorFlow stores all of a 16-bit network in 16 bit, PyTorch's autocast most of it") {
  Workload workload = workload_of(test::resnet50(), 32, Precision::amp_fp16);
  CHECK(activation_width(workload) == ActivationWidth::autocast);
  workload.framework.kind = FrameworkKind::tensorflow;
  CHECK(activation_width(workload) == ActivationWidth::graph);
  workload.precision = Precision::fp32;
  CHECK(activation_width(workload) == ActivationWidth::full);
}

TEST_CASE("gradients that are made anew leave room for activations") {
  Workload workload = workload_of(test::vgg16(), 8);
  const Bytes kept = memory_use(workload, {}).activations;
  workload.loop.zero_grad = TrainingLoop::ZeroGrad::set_to_none;
  const Bytes anew = memory_use(workload, {}).activations;
  // VGG-16's first gradients in backward are those of its large linear layers, when most activations are
  // still there.
  CHECK(anew < kept);
  CHECK(memory_use(workload, {.gpus = 2}).activations == kept);  // buckets are always there
}

TEST_CASE("ResNet-50 at batch 256 fits 32 GB and not 16 GB") {
  // 86.9 MB a sample: 22.3 GB at 256, 11.1 GB at 128; 0.3 GB of weights, gradients and momentum, 3 to 4 GB of
  // scratch, the context.
  CHECK(memory_use(workload_of(test::resnet50(), 256), {}).total().count < 32'000'000'000);
  CHECK(memory_use(workload_of(test::resnet50(), 256), {}).total().count > 16'000'000'000);
  CHECK(memory_use(workload_of(test::resnet50(), 128), {}).total().count < 16'900'000'000);
}

TEST_CASE("the largest batch fits and the next one does not") {
  for (const Precision precision : {Precision::fp32, Precision::amp_fp16}) {
    Workload workload = workload_of(test::resnet50(), 1, precision);
    const Bytes capacity{16'000'000'000};
    const std::int64_t most = largest_batch(workload, {}, capacity);
    workload.batch_per_gpu = most;
    CHECK(memory_use(workload, {}).total() <= capacity);
    workload.batch_per_gpu = most + 1;
    CHECK(memory_use(workload, {}).total() > capacity);
  }
  CHECK(largest_batch(workload_of(test::vgg16(), 1), {}, Bytes{1'000'000'000}) == 0);
}

TEST_CASE("the foreach temporaries of a large model count when its activations are small") {
  Workload workload = workload_of(test::vgg16(), 1);
  const Bytes loop = memory_use(workload, {}).activations;
  workload.optimizer.form = OptimizerForm::foreach;
  CHECK(memory_use(workload, {}).activations.count == 4 * 138'357'544LL);
  CHECK(loop < memory_use(workload, {}).activations);
  workload.optimizer.kind = OptimizerKind::adam;
  CHECK(memory_use(workload, {}).activations.count == 4 * 138'357'544LL);
  workload.framework.version = {2, 0};  // kept quotients beside the denominators
  CHECK(memory_use(workload, {}).activations.count == 8 * 138'357'544LL);
  CHECK(memory_use(workload, {}).optimizer.count == 8 * 138'357'544LL);
}

TEST_CASE("absurd batches saturate") {
  const MemoryUse use = memory_use(workload_of(test::vgg16(), std::numeric_limits<std::int64_t>::max()),
                                   {.strategy = {.buffers = {std::numeric_limits<std::int64_t>::max()}}});
  CHECK(use.total().count > 0);
  CHECK(memory_use(workload_of(test::vgg16(), -1), {}).activations.count < 1000);
}

TEST_CASE("law: the ledger's fullest phase is the memory, whatever is trained and how") {
  for (const Model& model : {test::resnet50(), test::vgg16()}) {
    for (const Precision precision : {Precision::fp32, Precision::amp_fp16}) {
      for (const OptimizerForm form : {OptimizerForm::for_loop, OptimizerForm::foreach}) {
        for (const int gpus : {1, 4}) {
          for (const auto zero : {TrainingLoop::ZeroGrad::zero, TrainingLoop::ZeroGrad::set_to_none}) {
            Workload workload = workload_of(model, 8, precision);
            workload.optimizer.form = form, workload.loop.zero_grad = zero;
            const MemorySite site{.strategy = {.gradients = gpus > 1 ? 0.25 : 1.0, .buffers = {5000}},
                                  .gpus = gpus};
            const MemoryUse use = memory_use(workload, site);
            const MemoryLedger ledger = memory_ledger(workload, site);
            const std::int64_t fullest = std::ranges::max_element(ledger.allocated)->count;
            INFO(model.name << " on " << gpus);
            CHECK(std::abs(fullest - (use.total() - use.framework).count) < 100);
            CHECK(ledger.shown == use.total());
            CHECK(ledger.reserved.count > fullest);
          }
        }
      }
    }
  }
}

TEST_CASE("the ledger tells what is there in each phase") {
  Workload workload = workload_of(test::vgg16(), 64);
  workload.optimizer = {OptimizerKind::adam, OptimizerForm::foreach, true};
  workload.loop.zero_grad = TrainingLoop::ZeroGrad::set_to_none;
  const MemoryLedger ledger = memory_ledger(workload, {});
  const auto row = [&](std::string_view tensors) {
    const auto found = std::ranges::find(ledger.rows, tensors, &MemoryRow::tensors);
    return found == ledger.rows.end() ? std::array<Bytes, 3>{} : found->held;
  };
  const std::int64_t weights = 4 * 138'357'544LL;
  CHECK(row("weights") == std::array<Bytes, 3>{Bytes{weights}, Bytes{weights}, Bytes{weights}});
  CHECK(row("gradients of weights")[0].count == 0);
  CHECK(row("gradients of weights")[2].count == weights);
  CHECK(row("activations")[2].count == 0);
  CHECK(row("temporaries of the optimizer")[0].count == 0);
  CHECK(row("temporaries of the optimizer")[2].count == weights);
  CHECK(row("scores and loss")[0].count >= 4 * 64 * 1000);
}

}  // namespace memory_test
