// Networks recorded under autocast, and with weights of 16 bits: their own types decide about bytes, casts,
// storages, and what the optimizer keeps.
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/memory.hpp"
#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/tape/lifetimes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorded_text.hpp"

namespace kept_types_test {

using namespace foretrain;
using test::expanded_text;
using test::recorded_text;

namespace {

const std::string kWeight = "{ name = \"fc.weight\", size = \"f32[8,8]\" },\n";

/// A product under autocast, its casts, a power in fp32, and their backward.
std::string autocast_network(const std::string& type) {
  const std::string autocast = ", autocast = true },\n";
  const std::string narrow = "[\"" + type + "[B,8]\"]", weight = "\"" + type + "[8,8]\"";
  return recorded_text(
      kWeight,
      "{ op = \"aten::_to_copy\", call = 1, in = [\"f32[8,8]\"], out = [" + weight + "]" + autocast +
          "{ op = \"aten::_to_copy\", call = 1, in = [\"f32[B,8]\"], out = " + narrow + autocast +
          "{ op = \"aten::mm\", call = 1, in = [\"" + type + "[B,8]\", " + weight + "], out = " + narrow +
          autocast + "{ op = \"aten::_to_copy\", call = 2, in = " + narrow + ", out = [\"f32[B,8]\"]" +
          autocast + "{ op = \"aten::pow\", call = 2, in = [\"f32[B,8]\"], out = [\"f32[B,8]\"]" + autocast +
          "{ op = \"aten::mm\", pass = \"backward\", call = 9, in = [\"" + type + "[8,B]\", \"" + type +
          "[B,8]\"], out = [" + weight +
          "] },\n"
          "{ op = \"aten::_to_copy\", pass = \"backward\", call = 9, in = [" +
          weight + "], out = [\"f32[8,8]\"], ready = [0] },\n",
      "{ size = " + weight + ", made = 0, freed = 4 },\n{ size = \"" + type +
          "[B,8]\", made = 1, freed = 5, saved = true },\n{ size = \"f32[B,8]\", made = 4, freed = 5, saved "
          "= "
          "true },\n{ size = \"f32[8,8]\", made = 6 },\n");
}

Workload workload_of(ExpandedModel model, Precision precision) {
  Workload work;
  work.model = std::make_shared<const ExpandedModel>(std::move(model));
  work.precision = precision;
  work.batch_per_gpu = 4;
  work.optimizer = {OptimizerKind::adamw, OptimizerForm::fused, false};
  return work;
}

/// Two matrices of 16 bits, of which one is frozen.
ExpandedModel half_network() {
  return expanded_text(recorded_text(
      "{ name = \"a\", size = \"bf16[8,8]\", frozen = true },\n{ name = \"b\", size = \"bf16[8,8]\" },\n",
      "{ op = \"aten::mm\", in = [\"bf16[B,8]\", \"bf16[8,8]\"], out = [\"bf16[B,8]\"] },\n"
      "{ op = \"aten::pow\", in = [\"f32[B,8]\"], out = [\"f32[B,8]\"] },\n"
      "{ op = \"aten::mm\", pass = \"backward\", in = [\"bf16[8,B]\", \"bf16[B,8]\"], out = "
      "[\"bf16[8,8]\"], ready = [1] },\n",
      "{ size = \"bf16[8,8]\", made = 2 },\n"));
}

}  // namespace

TEST_CASE("a recording under autocast knows its precision and runs as recorded under autocast alone") {
  const ExpandedModel half = expanded_text(autocast_network("f16")),
                      brain = expanded_text(autocast_network("bf16"));
  CHECK(half.recording->autocast == Precision::amp_fp16);
  CHECK(brain.recording->autocast == Precision::bf16);
  CHECK(runs_as_recorded(workload_of(half, Precision::amp_fp16)));
  CHECK(runs_as_recorded(workload_of(brain, Precision::bf16)));
  CHECK(runs_as_recorded(workload_of(half, Precision::bf16)));
  CHECK_FALSE(runs_as_recorded(workload_of(half, Precision::fp32)));
  CHECK_FALSE(runs_as_recorded(workload_of(half, Precision::fp8)));
  Workload other = workload_of(half, Precision::amp_fp16);
  other.half_weights = true;
  CHECK_FALSE(runs_as_recorded(other));
  other.half_weights = false, other.framework.execution = Execution::compiled;
  CHECK_FALSE(runs_as_recorded(other));
  CHECK_FALSE(runs_as_recorded(workload_of(expanded_text(test::small_network_recorded()), Precision::bf16)));
}

TEST_CASE("casts are operators where types are kept and are left out elsewhere") {
  const ExpandedModel model = expanded_text(autocast_network("bf16"));
  CHECK(model.forward.size() == 2);
  REQUIRE(model.as_recorded);
  const ExpandedModel& kept = *model.as_recorded;
  REQUIRE(kept.forward.size() == 5);
  CHECK(kept.forward[0].cls == OperatorClass::copy);
  CHECK(kept.forward[1].cls == OperatorClass::copy);
  CHECK(kept.forward[2].width == ElementWidth::half);
  CHECK(kept.forward[4].width == ElementWidth::full);
  REQUIRE(kept.backward.size() == 2);
  CHECK(kept.backward[1].ready == std::vector<std::uint32_t>{0});
}

TEST_CASE("storages take the bytes of their types where these are kept") {
  const ExpandedModel model = expanded_text(autocast_network("bf16"));
  REQUIRE(model.as_recorded);
  const Lifetimes& lives = model.as_recorded->lifetimes;
  const double batch = 16;  // a copy of the weights is not as large
  double narrow = 0, wide = 0;
  for (const Lifetime& life : lives.activations) {
    CHECK(life.at(batch, ActivationWidth::autocast) == life.at(batch, ActivationWidth::full));
    if (life.at(batch, ActivationWidth::autocast) == 2 * 8 * batch) ++narrow;
    if (life.at(batch, ActivationWidth::autocast) == 4 * 8 * batch) ++wide;
  }
  CHECK(narrow == 1);
  CHECK(wide == 1);
  const MemoryUse use = memory_use(workload_of(*model.as_recorded, Precision::bf16), {});
  CHECK(use.parameters == Bytes{4 * 64});  // the 16-bit copy is among the storages
  CHECK(memory_use(workload_of(model, Precision::bf16), {}).parameters == Bytes{(4 + 2) * 64});
}

TEST_CASE("weights of 16 bits have gradients and states of 16 bits and no masters") {
  Workload work = workload_of(half_network(), Precision::bf16);
  CHECK(work.model->recording->is_half);
  CHECK(work.model->keeps_types);
  CHECK(has_half_weights(work));
  CHECK(updated_width(work) == 0.5);
  const MemoryUse use = memory_use(work, {});
  CHECK(use.parameters == Bytes{2 * 2 * 64});
  CHECK(use.gradients == Bytes{2 * 64});
  CHECK(use.optimizer == Bytes{2 * 2 * 64});
  work.half_weights = true;
  CHECK(updated_width(work) == 1);
  CHECK(memory_use(work, {}).optimizer == Bytes{(4 + 8) * 64});
  work.half_weights = false;
  MemorySite engine;
  engine.strategy.keeps_masters = true;
  CHECK(memory_use(work, engine).optimizer == Bytes{(4 + 8) * 64});
}

TEST_CASE("an operator in fp32 among weights of 16 bits stays in fp32") {
  const ExpandedModel model = half_network();
  CHECK(model.forward[0].width == ElementWidth::half);
  CHECK(model.forward[1].width == ElementWidth::full);
}

TEST_CASE("weights of 16 bits are trained without the cost of autocast") {
  const ExpandedModel half = half_network(), cast = *expanded_text(autocast_network("bf16")).as_recorded;
  const auto host = [](const Operator& op) {
    return host_reference(op, HostCalibration{}, Precision::bf16, Framework{});
  };
  CHECK(host(half.forward[0]) < host(cast.forward[2]));
}

TEST_CASE("an optimizer's launches move the bytes of their width") {
  const Optimizer adam{OptimizerKind::adam, OptimizerForm::foreach, false};
  const auto full = optimizer_launches(adam, {1000, 2000}),
             half = optimizer_launches(adam, {1000, 2000}, 0.5);
  REQUIRE(full.size() == half.size());
  for (std::size_t i = 0; i < full.size(); ++i) {
    CHECK(full[i].bytes.count == 2 * half[i].bytes.count);
    CHECK(full[i].host == half[i].host);
  }
}

}  // namespace kept_types_test
