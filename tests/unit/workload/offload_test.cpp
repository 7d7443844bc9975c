// Activations in host memory: which are moved, what is left on the GPU, and what the host takes.
#include "sim/workload/tape/offload.hpp"

#include <algorithm>
#include <memory>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/device/host_memory.hpp"
#include "sim/workload/device/memory.hpp"
#include "sim/workload/tape/recompute.hpp"
#include "tests/support/catch.hpp"

namespace offload_test {

using namespace foretrain;

namespace {

ExpandedModel network(const std::string& name, std::int64_t length = 2048) {
  Model model = read_or_throw(*open_named(CatalogKind::models, name), read_model);
  model.input = {length};
  model.tuning.weights = WeightFormat::bf16;
  model.tuning.fused = {FusedKernel::linear_cross_entropy};
  return expand(model).model;
}

double peak(const ExpandedModel& model) {
  return peak_bytes(model.lifetimes, 1, ActivationWidth::half, GradientTensors::kept);
}

double moved_bytes(const ExpandedModel& model) {
  double sum = 0;
  for (const OffloadedTensor& tensor : model.offloaded.tensors)
    sum += tensor.life.at(1, ActivationWidth::half);
  return sum;
}

}  // namespace

TEST_CASE("the inputs of recomputed blocks are moved: two bytes a feature and token of each block") {
  const ExpandedModel recomputed = with_recomputed_blocks(network("llama3_8b"));
  const ExpandedModel moved = with_offloaded_activations(recomputed, ActivationOffload::checkpoints);
  CHECK(moved.offloaded.tensors.size() == 32);
  CHECK(moved_bytes(moved) == 32.0 * 4096 * 2 * 2048);
  // All but those of the blocks at work have left the GPU.
  const double inputs = 32.0 * 4096 * 2 * 2048;
  CHECK(peak(recomputed) - peak(moved) > 0.85 * inputs);
  CHECK(peak(recomputed) - peak(moved) <= inputs);
}

TEST_CASE("a tensor is copied behind what makes it, and is back before backward reads it") {
  const ExpandedModel recomputed = with_recomputed_blocks(network("llama3_2_1b"));
  for (const ActivationOffload how : {ActivationOffload::checkpoints, ActivationOffload::saved_tensors}) {
    const ExpandedModel moved = with_offloaded_activations(recomputed, how);
    REQUIRE(!moved.offloaded.tensors.empty());
    for (const OffloadedTensor& tensor : moved.offloaded.tensors) {
      CHECK(tensor.made < tensor.gone);
      CHECK(tensor.called <= tensor.needed);
      CHECK(moved.offloaded.forward + tensor.needed <= tensor.life.until);
    }
    CHECK(std::ranges::is_sorted(moved.offloaded.tensors, {}, &OffloadedTensor::made));
  }
}

TEST_CASE("without recomputation saved tensors go, and nothing of the head and the loss does") {
  const ExpandedModel plain = network("llama3_2_1b");
  CHECK(with_offloaded_activations(plain, ActivationOffload::checkpoints).offloaded.tensors.empty());
  const ExpandedModel moved = with_offloaded_activations(plain, ActivationOffload::saved_tensors);
  CHECK(peak(moved) < 0.5 * peak(plain));
  for (const OffloadedTensor& tensor : moved.offloaded.tensors) {
    const std::string& layer = moved.layer_names[moved.forward[tensor.made].layer];
    CHECK(layer != "lm_head");
    CHECK(layer != "loss");
  }
  CHECK(with_offloaded_activations(plain, ActivationOffload::none).offloaded.tensors.empty());
}

TEST_CASE("page-locked memory comes in powers of two") {
  const HostMemoryUse use = with_activations({}, {3 * 1024.0 * 1024, 4 * 1024.0 * 1024});
  CHECK(use.activations.count == 7 * 1024 * 1024);
  CHECK(use.buffers.count == 1024 * 1024);
  CHECK(use.processes.count > 0);
  CHECK(with_activations({}, {}) == HostMemoryUse{});
  CHECK(use.times(2).activations.count == 2 * use.activations.count);
}

}  // namespace offload_test
