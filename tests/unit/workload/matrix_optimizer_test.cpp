// Muon, GaLore and Shampoo: which weights are matrices, what their states take, and what a step multiplies.
#include "sim/workload/lowering/matrix_optimizer.hpp"

#include <algorithm>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/device/memory.hpp"
#include "tests/support/catch.hpp"

namespace matrix_optimizer_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

ExpandedModel network(const std::string& name) {
  Model model = read_or_throw(*open_named(CatalogKind::models, name), read_model);
  model.input = {64};
  model.tuning.weights = WeightFormat::bf16;
  return expand(model).model;
}

Optimizer optimizer(OptimizerKind kind, std::int64_t rank = 128) {
  Optimizer out{kind, OptimizerForm::for_loop, false};
  out.rank = rank;
  return out;
}

constexpr double kBlocks = 32, kSquare = 4096.0 * 4096, kWide = 4096.0 * 11'008;
/// Of Llama-2 7B: four square matrices and three of the feed-forward part a block; the rest is no matrix.
constexpr double kMatrices = kBlocks * (4 * kSquare + 3 * kWide);

}  // namespace

TEST_CASE("the weights of products inside of blocks are matrices, tables and norms are not") {
  const ExpandedModel model = network("llama2_7b");
  const auto shapes = matrices_of(model);
  REQUIRE(shapes.size() == model.parameters.size());
  CHECK(std::ranges::count_if(shapes, [](const auto& shape) { return shape.has_value(); }) == 32 * 7);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i]) CHECK(shapes[i]->rows * shapes[i]->columns == model.parameters[i].elements);
  }
}

TEST_CASE("states: a momentum of Muon, projector and moments of GaLore") {
  const ExpandedModel model = network("llama2_7b");
  const auto others = static_cast<double>(model.parameter_elements()) - kMatrices;
  CHECK(matrix_state_bytes(optimizer(OptimizerKind::muon), model) == Approx(2 * kMatrices + 4 * others));
  const double rank = 1024, projected = kBlocks * rank * (4 * 4096 + 3 * 11'008.0),
               projectors = kBlocks * rank * 7 * 4096;
  CHECK(matrix_state_bytes(optimizer(OptimizerKind::galore_adamw, 1024), model) ==
        Approx(2 * projectors + 4 * projected + 4 * others));
  CHECK(matrix_state_bytes(optimizer(OptimizerKind::apollo_adamw, 1024), model) ==
        Approx(2 * projectors + 4 * projected + 4 * others));
  CHECK(matrix_state_bytes(optimizer(OptimizerKind::galore_adamw_8bit, 1024), model) ==
        Approx(2 * projectors + 2 * projected + 2 * others));
  // Blocks of 1024: 16 in a square matrix, 44 in the others (11008 = 10 * 1024 + 768).
  const double whole = 2.0 * 1024 * 1024, cut = 1024.0 * 1024 + 768.0 * 768;
  const double factors = kBlocks * (4 * 16 * whole + 3 * (40 * whole + 4 * cut));
  CHECK(matrix_state_bytes(optimizer(OptimizerKind::shampoo), model) ==
        Approx(8 * factors + 8 * kMatrices + 4 * others));
}

TEST_CASE("a higher rank takes more state, and the full one no more than two projectors and moments") {
  const ExpandedModel model = network("llama3_2_1b");
  double before = 0;
  for (const std::int64_t rank : {8, 64, 512, 2048, 1'000'000}) {
    const double bytes = matrix_state_bytes(optimizer(OptimizerKind::galore_adamw, rank), model);
    CHECK(bytes >= before);
    before = bytes;
  }
  CHECK(before == matrix_state_bytes(optimizer(OptimizerKind::galore_adamw, 2048), model));
}

TEST_CASE("a step of Muon multiplies five times, one of GaLore twice and now and then decomposes") {
  const ExpandedModel model = network("llama2_7b");
  const MatrixStep muon = matrix_step(optimizer(OptimizerKind::muon), model);
  double flops = 0;
  for (const MatrixProducts& products : muon.products) flops += products.count * products.op.flops.at(1);
  // 4 m n^2 + 2 n^3 a matrix and iteration.
  const double cube = 4096.0 * 4096 * 4096;
  CHECK(flops == Approx(5 * kBlocks * (4 * 6 * cube + 3 * (4 * kWide * 4096 + 2 * cube))));
  CHECK(muon.decomposition_flops == 0);
  const MatrixStep galore = matrix_step(optimizer(OptimizerKind::galore_adamw, 128), model);
  CHECK(galore.products.size() == 2 * 32 * 7);
  // 4.7e14 FLOPs for all projectors.
  CHECK(200 * galore.decomposition_flops == Approx(4.7e14).epsilon(0.02));
}

TEST_CASE("optimizers of matrices are keys of a scenario, and strategies that cut matrices refuse them") {
  const auto asked = [](const std::string& strategy, const std::string& kind) {
    return make_scenario({.model = "llama3_2_1b",
                          .cluster = "della-a100",
                          .strategy = strategy,
                          .gpus = {1},
                          .settings = {"model.weights=\"bf16\"", "model.optimizer_rank=64",
                                       "model.optimizer=\"" + kind + "\""}});
  };
  const Scenario galore = asked("single", "galore_adamw");
  CHECK(memory_use(galore.workload, {}).optimizer.count ==
        static_cast<std::int64_t>(matrix_state_bytes(galore.workload.optimizer, *galore.workload.model)));
  CHECK(memory_use(galore.workload, {}).optimizer <
        memory_use(asked("single", "muon").workload, {}).optimizer);
  CHECK_THROWS_WITH(asked("fsdp", "muon"), ContainsSubstring("muon works on whole matrices"));
}

}  // namespace matrix_optimizer_test
