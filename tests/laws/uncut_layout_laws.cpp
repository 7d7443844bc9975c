// A layout that cuts nothing is the strategy of its framework: [parallel] with every degree 1 predicts what
// --strategy predicts, in step, memory and every part.
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/predict.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/transformer/shape.hpp"
#include "tests/support/catch.hpp"

namespace uncut_layout_laws {

using namespace foretrain;

namespace {

constexpr double kMostApart = 0.03;
constexpr int kGpus = 8;

/// One framework's layout and the same training as a strategy.
struct Pair {
  const char* strategy;
  const char* framework;
  const char* shard;
  std::vector<std::string> of_strategy;  ///< settings besides those of all
  /// Pairs of network and cluster that differ by more than kMostApart, of those drawn and of all. They may
  /// only shrink: whoever brings them nearer writes the new number here.
  int apart_of_drawn = 0, apart_of_all = 0;
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all{
      {"ddp", "pytorch", "none", {}},
      {"fsdp", "pytorch", "parameters", {"model.half_weights=true"}},
      {"zero0", "deepspeed", "none", {"model.half_weights=true"}},
      {"zero1", "deepspeed", "optimizer", {"model.half_weights=true"}},
      {"zero2", "deepspeed", "gradients", {"model.half_weights=true"}},
      {"zero3", "deepspeed", "parameters", {"model.half_weights=true"}},
      {"ddp", "torchtitan", "none", {"framework.execution=\"compiled\"", "model.optimizer_form=\"fused\""}},
      {"fsdp2",
       "torchtitan",
       "parameters",
       {"model.half_weights=true", "framework.execution=\"compiled\"", "strategy.reduce_dtype=\"fp32\"",
        "strategy.no_sync=false", "strategy.units=\"ends\"", "model.optimizer_form=\"fused\""}},
      {"fsdp",
       "llm-foundry",
       "parameters",
       {"model.half_weights=true", "strategy.no_sync=false", "model.fused_kernels=\"cross_entropy\""}},
      {"fsdp",
       "llm-foundry",
       "gradients",
       {"model.half_weights=true", "strategy.no_sync=false", "strategy.sharding=\"shard_grad_op\"",
        "model.fused_kernels=\"cross_entropy\""}},
  };
  return all;
}

constexpr const char* kClusters[] = {"dgx-a100-80gb", "hgx-h100-400g", "mahti",
                                     "jean-zay-v100", "hgx-b200",      "hgx-h200"};

/// Language models of the catalog that [parallel] takes, without experts.
std::vector<std::string> language_models() {
  std::vector<std::string> out;
  for (const std::string& name : names_in(CatalogKind::models)) {
    const RecognizedTransformer seen =
        recognize_transformer(read_or_throw(*open_named(CatalogKind::models, name), read_model));
    if (seen.shape && !seen.shape->experts && seen.shape->layers <= 48) out.push_back(name);
  }
  return out;
}

PredictionPoint predicted(const std::string& model, const std::string& cluster, const std::string& strategy,
                          std::vector<std::string> settings) {
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = cluster, overrides.strategy = strategy;
  overrides.gpus = {kGpus};
  overrides.settings = std::move(settings);
  for (const char* setting : {"model.precision=\"bf16\"", "model.optimizer=\"adamw\""})
    overrides.settings.emplace_back(setting);
  return predict(make_scenario(overrides)).points.back();
}

double apart(double a, double b, double whole) { return whole > 0 ? std::abs(a - b) / whole : 0; }

/// The part that is furthest apart, as a share of the whole.
double furthest(const PredictionPoint& a, const PredictionPoint& b) {
  double most = apart(a.step_s, b.step_s, a.step_s);
  for (std::size_t i = 0; i < kAccountCount; ++i)
    most = std::max(most, apart(a.breakdown[i], b.breakdown[i], a.step_s));
  const auto whole = static_cast<double>(a.memory.total().count);
  for (Bytes MemoryUse::*account : {&MemoryUse::parameters, &MemoryUse::gradients, &MemoryUse::optimizer,
                                    &MemoryUse::buckets, &MemoryUse::activations, &MemoryUse::framework})
    most = std::max(most, apart(static_cast<double>((a.memory.*account).count),
                                static_cast<double>((b.memory.*account).count), whole));
  return most;
}

/// Every pair of network and cluster, which takes some minutes; else every 16th.
bool draws_all() { return std::getenv("FORETRAIN_PAIRS") != nullptr; }
bool is_drawn(std::size_t number) { return draws_all() || number % 16 == 0; }

}  // namespace

TEST_CASE("a layout that cuts nothing is the strategy of its framework, part by part") {
  const std::vector<std::string> models = language_models();
  REQUIRE(models.size() >= 40);
  for (const Pair& pair : pairs()) {
    int far = 0;
    std::size_t number = 0;
    for (const std::string& model : models) {
      for (const char* cluster : kClusters) {
        if (!is_drawn(number++)) continue;
        std::vector<std::string> settings = pair.of_strategy;
        settings.emplace_back("model.batch_per_gpu=1");
        const PredictionPoint as_strategy = predicted(model, cluster, pair.strategy, settings);
        const PredictionPoint as_layout =
            predicted(model, cluster, "",
                      {fmt::format("parallel.framework=\"{}\"", pair.framework),
                       fmt::format("parallel.shard=\"{}\"", pair.shard), "parallel.micro_batch=1",
                       fmt::format("parallel.global_batch={}", kGpus)});
        const double most = furthest(as_strategy, as_layout);
        if (most <= kMostApart) continue;
        ++far;
        UNSCOPED_INFO(fmt::format("{} on {}: {} {} against {} is {:.1f} % apart", model, cluster,
                                  pair.framework, pair.shard, pair.strategy, 100 * most));
      }
    }
    INFO(fmt::format("{} {} against {}", pair.framework, pair.shard, pair.strategy));
    CHECK(far == (draws_all() ? pair.apart_of_all : pair.apart_of_drawn));
  }
}

}  // namespace uncut_layout_laws
